/** Semantic versions (semver.org 2.0.0). */
import { declare, declareGlobal } from '../declarations.js';
import type { Library } from '../environment.js';
import { canonical, fail, type Int, Opaque, type Value } from '../values.js';

const NAME = 'kubernetes.Semver';

/** A version. */
export class Semver extends Opaque {
  readonly typeName = NAME;
  constructor(
    readonly numbers: readonly [Int, Int, Int],
    readonly pre: readonly string[],
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Semver && order(this, other) === 0;
  }
}

const FORM =
  /^(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][\w-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][\w-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Reads a version; `normalize` drops a `v` prefix and leading zeros and fills missing parts. */
export function parseSemver(text: string, normalize = false): Semver | undefined {
  if (text.length > 500) return undefined;
  const m = FORM.exec(normalize ? normalized(text) : text);
  return m
    ? new Semver([m[1]!, m[2]!, m[3]!].map(n => canonical(BigInt(n))) as [Int, Int, Int], m[4]?.split('.') ?? [])
    : undefined;
}

function normalized(text: string): string {
  const m = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(.*)$/s.exec(text);
  if (!m) return text;
  return [m[1], m[2] ?? '0', m[3] ?? '0'].map(n => n!.replace(/^0+(?=\d)/, '')).join('.') + m[4];
}

function order(a: Semver, b: Semver): number {
  for (let i = 0; i < 3; i++) if (a.numbers[i]! !== b.numbers[i]!) return a.numbers[i]! < b.numbers[i]! ? -1 : 1;
  if (!a.pre.length || !b.pre.length) return Math.sign(b.pre.length - a.pre.length);
  for (let i = 0; i < Math.max(a.pre.length, b.pre.length); i++) {
    const [x, y] = [a.pre[i], b.pre[i]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    if (x === y) continue;
    const [nx, ny] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (nx && ny) return BigInt(x) < BigInt(y) ? -1 : 1;
    return nx !== ny ? (nx ? -1 : 1) : x < y ? -1 : 1;
  }
  return 0;
}

const make = (v: Value, normalize: boolean): Value =>
  parseSemver(v as string, normalize) ?? fail('semver parse error during conversion from string');
const part =
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
      return make(v, false);
    }),
    declareGlobal(`semver(string, bool): ${NAME}`, (v, n, _c, m) => {
      m.traverse((v as string).length);
      return make(v, n as boolean);
    }),
    declare(`${NAME}.major(): int`, part(0)),
    declare(`${NAME}.minor(): int`, part(1)),
    declare(`${NAME}.patch(): int`, part(2)),
    declare(`${NAME}.isLessThan(${NAME}): bool`, (a, b) => order(a as Semver, b as Semver) < 0),
    declare(`${NAME}.isGreaterThan(${NAME}): bool`, (a, b) => order(a as Semver, b as Semver) > 0),
    declare(`${NAME}.compareTo(${NAME}): int`, (a, b) => order(a as Semver, b as Semver)),
  ],
};
