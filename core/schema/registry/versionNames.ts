import type { GroupVersion } from '../resource.js';

/** The stability of a version. */
type Stability = GroupVersion['stability'];

/** From the least stable to the most stable. */
const STABILITIES: readonly Stability[] = ['alpha', 'beta', 'ga'];

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** The parts of the name of a version: 2, beta and 1 of `v2beta1`. */
export interface VersionName {
  readonly number: number;
  readonly stability: Stability;
  /** The number of an alpha or beta version; 0 for stable versions. */
  readonly revision: number;
}

/** Parses the name of a version. Undefined for names of another form, which have no stability. */
export function parseVersionName(name: string): VersionName | undefined {
  const [, number, stability, revision = '0'] = VERSION.exec(name) ?? [];
  if (number === undefined) return undefined;
  return { number: Number(number), stability: (stability ?? 'ga') as Stability, revision: Number(revision) };
}

/** The stability in the name of a version; other names count as stable. */
export const stabilityOf = (name: string): Stability => parseVersionName(name)?.stability ?? 'ga';

/** 0 for alpha, 1 for beta and 2 for stable versions. */
export const stabilityRank = (name: string): number => STABILITIES.indexOf(stabilityOf(name));

/** Compares versions in upstream's order: GA before beta before alpha, higher numbers first, other names last. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [parseVersionName(a), parseVersionName(b)];
  if (!x || !y) return x ? -1 : y ? 1 : a < b ? -1 : a > b ? 1 : 0;
  return stabilityRank(b) - stabilityRank(a) || y.number - x.number || y.revision - x.revision;
}
