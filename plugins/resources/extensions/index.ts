import type { Strategy } from '../../../core/api/strategy.js';
import { definition } from '../customResources/strategy.js';
import { at, fill, type Rec } from '../record.js';
import type { KindTable } from '../strategies.js';
import { keepMembers } from '../status-metadata.js';
import { apiServiceStatusViolations } from '../validation/statuses.js';

/** A reference to a service inside a client configuration. */
export function serviceReferenceDefaults(config: Rec | undefined): void {
  const service = at(config, 'service');
  if (service) fill(service, 'port', 443);
}

const apiService = (): Partial<Strategy> => ({
  hasStatus: true,
  prepareStatus: (object, old) => keepMembers(object, old, ['labels', 'annotations', 'finalizers', 'ownerReferences']),
  unconditionalUpdate: false,
  validateStatus: apiServiceStatusViolations,
  checkName: () => [],
  defaults: object => serviceReferenceDefaults(at(object, 'spec')),
  selectableFields: new Map(),
});

/** Kinds that extend the server. */
export const extensionKinds: KindTable = {
  'apiextensions.orchestrator.io/customresourcedefinitions': definition,
  'apiregistration.orchestrator.io/apiservices': apiService,
};
