import type { Host } from '../../api/host.js';
import { type BuiltInKind, type ResourceType, type ResourceTypes, resourceType } from '../../api/resource.js';
import type { Naming } from '../../naming.js';
import kinds from '../../../plugins/kinds/index.js';

/**
 * The strategies of the built-in kinds by neutral storage name, for programs that convert and check objects without a
 * server. Gates that change strategies are off, as they are by default.
 */
export function builtInStrategies(naming: Naming): ResourceTypes['builtIn'] {
  // Before a request, strategies read nothing else of their host.
  const host = { naming, isEnabled: (_gate: string) => false } as Host;
  const values = kinds
    .contribute(kinds.parse(undefined))
    .filter(({ point }) => point === resourceType.name)
    .map(({ make }) => ({
      plugin: kinds.name,
      value: make(host) as ResourceType | BuiltInKind,
      failurePolicy: 'Fail' as const,
      call: <T>(operation: () => T) => operation(),
    }));
  return resourceType.combine(values).builtIn;
}
