import { parseVersionName, stabilityOf } from '../../../schema/registry/versionNames.js';

/** A field of a version. */
export interface ApiField {
  /** Type and format and, for lists and maps, how they merge. None of these may change. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  /** The allowed values as JSON; undefined if all are allowed. */
  readonly values: ReadonlySet<string> | undefined;
  /** Whether it keeps fields that are not defined. */
  readonly isOpen: boolean;
}

/** A version of a kind, as the rules see it. */
export interface ApiVersion {
  readonly name: string;
  /** Its place in the definition, for errors: `spec.versions[0]`. */
  readonly field: string;
  readonly isServed: boolean;
  readonly isStored: boolean;
  readonly isDeprecated: boolean;
  /** The releases (`1.4`), if they are known. */
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
  /** Whether conversion changes nothing but the name of the version. */
  readonly convertsByName: boolean;
}

/** A violation of a rule of the deprecation policy. */
export interface Breach {
  /** The number of the rule in the policy: `4a`. */
  readonly rule: string;
  readonly field: string;
  readonly message: string;
  readonly fix: string;
}

/** The path of the field that contains a field. */
export const parentOf = (path: string): string =>
  path.slice(0, Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('[')));

/** Whether a version may be changed or removed at any time. */
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
