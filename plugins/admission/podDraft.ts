import type { Host } from '../../core/api/host.js';
import { definePlugin } from '../../core/api/plugin.js';
import { type Mutator, mutator } from '../../core/api/admission.js';
import type { Match } from '../../core/api/checks/match.js';
import { type Plugin, ConfigError } from '../../core/api/point.js';
import type { Container, EphemeralContainer } from '../../kinds/v1.js';
import type { Frozen, ObjectMeta } from '../../core/model/object.js';
import { type GroupResource, Refusal, qualifyResource } from '../../core/model/refusal.js';

/** A container of any of the lists of a pod. */
export type AnyContainer = Frozen<Container> | Frozen<EphemeralContainer>;

/** Creates of pods, without their subresources. */
export const POD_CREATES: Match = { groups: [''], resources: ['pods'], operations: ['CREATE'] };

/** 403 of an admission plugin about one object. */
export const forbiddenError = (of: GroupResource, name: string, why: string): Refusal =>
  new Refusal('Forbidden', `${qualifyResource(of)} ${JSON.stringify(name)} is forbidden: ${why}`, {
    ...(name ? { name } : {}),
    ...(of.group ? { group: of.group } : {}),
    kind: of.resource,
  });

/** 403 of an admission plugin about a new pod, whose name may not be generated yet. */
export const podForbiddenError = (
  { name, generateName }: Pick<Frozen<ObjectMeta>, 'name' | 'generateName'>,
  why: string,
): Refusal => forbiddenError({ group: '', resource: 'pods' }, name || generateName || 'Unknown', why);

/** Parses the configuration of a plugin that takes none. Throws ConfigError if there is one. */
export function parseNothing(config: unknown): undefined {
  if (config === undefined || config === null) return undefined;
  if (typeof config === 'object' && Object.keys(config).length === 0) return undefined;
  throw new ConfigError('config', 'this plugin takes no configuration: remove it');
}

/** A plugin without configuration that contributes one mutator. */
export const mutatorPlugin = (name: string, make: (host: Host<'pool'>) => Mutator): Plugin<undefined> =>
  definePlugin<undefined>({ name, parse: parseNothing, contribute: () => [mutator.of(make)] });
