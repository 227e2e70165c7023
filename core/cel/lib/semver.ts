/** Semantic versions (semver.org 2.0.0). */
import { declare, declareGlobal } from '../check/declarations.js';
import type { Library } from '../library.js';
import { canonical, fail, type Int, Opaque, type Value } from '../evaluate/values.js';

const NAME = 'kubernetes.Semver';

/** A version. */
class Semver extends Opaque {
  readonly typeName = NAME;
  constructor(
    readonly numbers: readonly [Int, Int, Int],
    readonly prerelease: readonly string[],
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Semver && compareVersions(this, other) === 0;
  }
}

const NUMBER = /(0|[1-9]\d*)/.source;
/** Digits of the largest number. */
const NUMBER_DIGITS = 19;
const PRERELEASE_PART = /(?:0|[1-9]\d*|\d*[a-zA-Z-][\w-]*)/.source;
const BUILD = /(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?/.source;
const VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${PRERELEASE_PART}(?:\\.${PRERELEASE_PART})*))?${BUILD}$`,
);

/** Parses a version. `normalize` removes a `v` prefix and leading zeros, and adds missing parts. */
function parseSemver(text: string, normalize = false): Semver | undefined {
  if (text.length > 500) return undefined;
  const m = VERSION.exec(normalize ? normalizeText(text) : text);
  const numbers = m?.slice(1, 4) ?? [];
  if (!m || numbers.some(n => n.length > NUMBER_DIGITS)) return undefined;
  return new Semver(numbers.map(n => canonical(BigInt(n))) as [Int, Int, Int], m[4]?.split('.') ?? []);
}

function normalizeText(text: string): string {
  const m = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(.*)$/s.exec(text);
  if (!m) return text;
  return [m[1], m[2] ?? '0', m[3] ?? '0'].map(n => n!.replace(/^0+(\d)/, '$1')).join('.') + m[4];
}

function compareVersions(a: Semver, b: Semver): number {
  for (let i = 0; i < 3; i++) if (a.numbers[i]! !== b.numbers[i]!) return a.numbers[i]! < b.numbers[i]! ? -1 : 1;
  if (!a.prerelease.length || !b.prerelease.length) return Math.sign(b.prerelease.length - a.prerelease.length);
  for (let i = 0; i < Math.max(a.prerelease.length, b.prerelease.length); i++) {
    const [x, y] = [a.prerelease[i], b.prerelease[i]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    if (x === y) continue;
    const [nx, ny] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (nx && ny) return BigInt(x) < BigInt(y) ? -1 : 1;
    return nx !== ny ? (nx ? -1 : 1) : x < y ? -1 : 1;
  }
  return 0;
}

const semverFromText = (v: Value, normalize: boolean): Value =>
  parseSemver(v as string, normalize) ?? fail('semver parse error during conversion from string');
const numberAt =
  (i: 0 | 1 | 2) =>
  (v: Value): Value =>
    (v as Semver).numbers[i];

/** The semver library. */
export const SEMVER: Library = {
  name: 'semver',
  types: [NAME],
  functions: [
    declareGlobal('isSemver(string): bool', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return parseSemver(v as string) !== undefined;
    }),
    declareGlobal('isSemver(string, bool): bool', (v, n, _c, m) => {
      m.traverse((v as string).length);
      return parseSemver(v as string, n as boolean) !== undefined;
    }),
    declareGlobal(`semver(string): ${NAME}`, (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return semverFromText(v, false);
    }),
    declareGlobal(`semver(string, bool): ${NAME}`, (v, n, _c, m) => {
      m.traverse((v as string).length);
      return semverFromText(v, n as boolean);
    }),
    declare(`${NAME}.major(): int`, numberAt(0)),
    declare(`${NAME}.minor(): int`, numberAt(1)),
    declare(`${NAME}.patch(): int`, numberAt(2)),
    declare(`${NAME}.isLessThan(${NAME}): bool`, (a, b) => compareVersions(a as Semver, b as Semver) < 0),
    declare(`${NAME}.isGreaterThan(${NAME}): bool`, (a, b) => compareVersions(a as Semver, b as Semver) > 0),
    declare(`${NAME}.compareTo(${NAME}): int`, (a, b) => compareVersions(a as Semver, b as Semver)),
  ],
};
