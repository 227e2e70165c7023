import type { Registry } from '../resource.js';

/** The names of a type, `<plural>.<group>` and `<kind>.<group>`, which no other type of its group has. */
export const namesOf = ({ group, plural, kind }: { group: string; plural: string; kind: string }): string[] =>
  [plural, kind].map(name => `${name}.${group}`);

/** The names of all types of a registry. */
export const namesIn = ({ groups }: Registry): ReadonlySet<string> =>
  new Set(
    [...groups.values()].flatMap(({ versions }) =>
      versions.flatMap(({ resources }) => Array.from(resources.values(), namesOf).flat()),
    ),
  );

/** The part of a CustomResourceDefinition that names its type. */
interface Named {
  readonly group: string;
  readonly names: { readonly plural: string; readonly kind: string };
}

/** Whether a definition has a name of a type that does not come from definitions. Such a definition is not served. */
export const isTaken = ({ group, names: { plural, kind } }: Named, takenNames: ReadonlySet<string>): boolean =>
  namesOf({ group, plural, kind }).some(name => takenNames.has(name));
