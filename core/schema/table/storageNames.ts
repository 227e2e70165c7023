import { type GroupRow, groupRows } from './resources.js';

/** The place in the store of the objects of a built-in resource. */
export interface StoragePlace {
  /** Group (`core` for the empty one) and plural, in neutral names: the first two segments of every key. */
  readonly storageName: string;
  /** The version in which objects are stored, in neutral names. */
  readonly apiVersion: string;
}

/** The place in the store of a resource of a group; by default with the most preferred version that has it. */
export function storagePlace(group: GroupRow, plural: string): StoragePlace {
  const preferred = group.versions.find(version => version.resources.some(row => row.plural === plural))!;
  const { storedAs } = preferred.resources.find(row => row.plural === plural)!;
  const apiVersion = storedAs ?? (group.name ? `${group.name}/${preferred.version}` : preferred.version);
  const [groupName] = apiVersion.includes('/') ? apiVersion.split('/') : ['core'];
  return { storageName: `${groupName}/${plural}`, apiVersion };
}

/** The storage names of all built-in resources, which are the same in both namings. */
export const builtInStorageNames = (): ReadonlySet<string> =>
  new Set(
    groupRows().flatMap(group =>
      group.versions.flatMap(({ resources }) => resources.map(row => storagePlace(group, row.plural).storageName)),
    ),
  );
