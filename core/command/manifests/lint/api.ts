import { parseVersionName, stabilityOf } from '../../../schema/registry/versionNames.js';

/** A field of a version. */
export interface ApiField {
  /** Type and format, and for lists and maps how they merge: none of these may change. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  /** The allowed values as JSON; undefined if all are. */
  readonly values: ReadonlySet<string> | undefined;
  /** Whether it keeps fields that are not defined. */
  readonly isOpen: boolean;
}

/** A version of a kind, as the rules see it. */
export interface ApiVersion {
  readonly name: string;
  /** Where it is defined, in errors: `spec.versions[0]`. */
  readonly field: string;
  readonly isServed: boolean;
  readonly isStored: boolean;
  readonly isDeprecated: boolean;
  /** Releases, as far as they are known: `1.4`. */
  readonly introducedIn: string | undefined;
  readonly deprecatedIn: string | undefined;
  readonly removedIn: string | undefined;
  /** By path in the object: `spec.cups`, `spec.guests[*].name`; the object itself has the path ''. */
  readonly fields: ReadonlyMap<string, ApiField>;
  /** The path of a field of the object in the definition. */
  readonly fieldPath: (path: string) => string;
}

/** A kind, as the rules see it. */
export interface ApiKind {
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly scope: string;
  readonly versions: readonly ApiVersion[];
  /** Whether versions differ in nothing but their name when they are converted. */
  readonly convertsByName: boolean;
}

/** A break of a rule of the deprecation policy. */
export interface Breach {
  /** The rule, as the policy counts them: `4a`. */
  readonly rule: string;
  readonly field: string;
  readonly message: string;
  readonly fix: string;
}

/** The path of the field around a field. */
export const parentOf = (path: string): string =>
  path.slice(0, Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('[')));

/** Whether a version may change and end at any time. */
export const isAlpha = ({ name }: ApiVersion): boolean => stabilityOf(name) === 'alpha';
/** Whether a version stays for its whole major version. */
export const isStable = ({ name }: ApiVersion): boolean => stabilityOf(name) === 'ga';

/** Whether a version comes before a stable one of the same number, or of a greater one: v2beta1 before v2. */
export function isBefore(version: ApiVersion, stable: ApiVersion): boolean {
  const [own, other] = [version, stable].map(({ name }) => parseVersionName(name));
  return (
    own !== undefined && other !== undefined && !isStable(version) && isStable(stable) && own.number <= other.number
  );
}
