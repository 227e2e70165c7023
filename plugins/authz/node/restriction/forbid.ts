import {
  type ApiObject,
  type Awaitable,
  type Change,
  type Frozen,
  qualifyResource,
  Refusal,
} from '../../../../core/api/index.js';

/** A change by a node. */
export interface Restricted {
  readonly change: Change;
  /** The draft; undefined for a deletion. */
  readonly object: ApiObject | Frozen<ApiObject> | undefined;
  readonly node: string;
  /** The API group in the naming of the server. */
  readonly group: string;
}

/** Throws 403 unless the node may make the change. */
export type Restriction = (restricted: Restricted) => Awaitable<void>;

/** The name of the object; '' for a new one whose name is to be generated. */
export const nameOf = ({ change, object }: Restricted): string => change.target.name || object?.metadata.name || '';

/** Throws 403 about the object of a change. */
export function forbid(restricted: Restricted, why: string): never {
  const { resource } = restricted.change.target;
  const { group } = restricted;
  const name = nameOf(restricted) || restricted.object?.metadata.generateName || 'Unknown';
  throw new Refusal(
    'Forbidden',
    `${qualifyResource({ group, resource })} ${JSON.stringify(name)} is forbidden: ${why}`,
    {
      name,
      ...(group ? { group } : {}),
      kind: resource,
    },
  );
}
