/**
 * The libraries of each compatibility version. New expressions are checked with the libraries of their release, stored
 * ones with all libraries.
 */
import type { Library } from './library.js';
import type { Validation } from './check/validators.js';
import { AUTHORIZER_LIBRARY, AUTHORIZER_SELECTORS } from './lib/authorizer.js';
import { ENCODERS } from './lib/encoders.js';
import { FORMAT } from './lib/format.js';
import { EXTENDED_LISTS, LISTS, SETS } from './lib/lists.js';
import { MATH } from './lib/math.js';
import { CIDR, IP } from './lib/network.js';
import { optionalsLibrary } from './lib/optional.js';
import { QUANTITY } from './lib/quantity.js';
import { REGEX } from './lib/regex.js';
import { SEMVER } from './lib/semver.js';
import { CROSS_TYPE_COMPARISONS, EXISTS_ONE, STANDARD } from './lib/standard.js';
import { stringsLibrary } from './lib/strings.js';
import { URLS } from './lib/url.js';
import { BIND_MACROS, BLOCK_MACROS, TWO_VARIABLE_MACROS } from './syntax/macros.js';

/** A release, as major and minor: `1.32`. */
export type CompatibilityVersion = `${number}.${number}`;

/** The release whose environment is the default. */
export const DEFAULT_VERSION: CompatibilityVersion = '1.32';

/** Comprehensions with two variables. */
const TWO_VARIABLE_COMPREHENSIONS: Library = {
  name: 'two-variable-comprehensions',
  macros: TWO_VARIABLE_MACROS,
};
/** `cel.bind`. */
export const BINDINGS: Library = { name: 'bindings', macros: BIND_MACROS };
/** Field names in back ticks, which no release of the server enables. */
const QUOTED_FIELDS: Library = { name: 'quoted-fields', quotedFields: true };
/** `cel.block`, which CEL optimizers emit. */
export const BLOCK: Library = { name: 'block', macros: BLOCK_MACROS };

/** The minor version that adds each library, and the one that replaces it. */
const TABLE: readonly (readonly [library: Library, since: number, until?: number])[] = [
  [STANDARD, 0],
  [URLS, 0],
  [REGEX, 0],
  [LISTS, 0],
  [AUTHORIZER_LIBRARY, 27],
  [AUTHORIZER_SELECTORS, 31],
  [stringsLibrary(0), 0, 29],
  [stringsLibrary(2), 29],
  [CROSS_TYPE_COMPARISONS, 29],
  [optionalsLibrary(0), 29],
  [QUANTITY, 29],
  [SETS, 30],
  [IP, 30],
  [CIDR, 30],
  [FORMAT, 32],
  [TWO_VARIABLE_COMPREHENSIONS, 33],
  [SEMVER, 34],
];

/** Feature gates that change the libraries of a release. */
export interface FeatureGates {
  /** Selectors in authorization checks: off by default in 1.31, on from 1.32. */
  readonly authorizeWithSelectors?: boolean;
}
/** The minor release from which selectors are on by default. */
const SELECTORS_ON = 32;

/** The lists by release and gates. Equal lists are shared, so that their declarations are created once. */
const lists = new Map<string, readonly Library[]>();

/** The libraries of a release. */
export function librariesOf(
  version: CompatibilityVersion = DEFAULT_VERSION,
  gates: FeatureGates = {},
): readonly Library[] {
  const minor = Number(version.split('.')[1]);
  const selectors = gates.authorizeWithSelectors ?? minor >= SELECTORS_ON;
  const key = `${minor} ${selectors}`;
  const known = lists.get(key);
  if (known) return known;
  const made = TABLE.filter(
    ([library, since, until]) =>
      minor >= since && (until === undefined || minor < until) && (selectors || library !== AUTHORIZER_SELECTORS),
  ).map(([library]) => library);
  lists.set(key, made);
  return made;
}

/** The libraries with which stored expressions are evaluated: those of all known releases. */
export const widestLibraries = (): readonly Library[] => librariesOf('1.99');

/** All libraries, for use outside an API server. */
export const allLibraries = (): readonly Library[] => [
  STANDARD,
  EXISTS_ONE,
  CROSS_TYPE_COMPARISONS,
  stringsLibrary(4),
  EXTENDED_LISTS,
  SETS,
  MATH,
  REGEX,
  URLS,
  IP,
  CIDR,
  QUANTITY,
  SEMVER,
  FORMAT,
  ENCODERS,
  optionalsLibrary(1),
  BINDINGS,
  TWO_VARIABLE_COMPREHENSIONS,
  QUOTED_FIELDS,
];

/** The checks of finished trees that a release makes. */
export const validationOf = (version: CompatibilityVersion = DEFAULT_VERSION): Validation => ({
  literals: Number(version.split('.')[1]) >= 29,
  homogeneous: true,
});
