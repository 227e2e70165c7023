import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject, Json, ObjectMeta } from '../../../core/model/object.js';
import { loadEngine } from '../../../core/schema/custom/engine.js';
import { decodeAsKind } from '../../../core/schema/decode/decode.js';
import { contextWith, lines, strategyOf } from '../helpers.js';
import {
  type Base,
  type Differences,
  kindsPage,
  type RecordedRule,
  resourceOf,
  storageNameOf,
  uncoveredFields,
} from './page.js';

const read = <T>(name: string): T => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as T;
const bases = read<Base[]>('bases.json');
/** Further bases, with fields that those do not have: their changes are compared by hand. */
const coverage = read<Base[]>('coverage.json');
const rules = read<RecordedRule[]>('recorded.json');

/** Values that are printed in Go's format differ between servers. */
const GO_VALUE = /value: (?:map\[|\[\]|[a-zA-Z0-9.]+\{|\{|&)[\s\S]*?(?=: [a-z`"]|$)/;

type Place = { [key: string | number]: unknown };

/** Applies a change to a base: it replaces or removes one member. */
function changed({ object }: Base, { at, value }: Pick<RecordedRule, 'at' | 'value'>): unknown {
  const copy = structuredClone(object) as Place;
  const owner = at.slice(0, -1).reduce<Place>((inner, key) => inner[key] as Place, copy);
  const last = at.at(-1)!;
  if (value !== undefined) owner[last] = value;
  else if (Array.isArray(owner)) owner.splice(Number(last), 1);
  else delete owner[last];
  return copy;
}

function decoded(base: Base, value: unknown): ApiObject {
  const object = decodeAsKind(resourceOf(base), value as Json, { strictErrors: [] });
  strategyOf(storageNameOf(base)).applyDefaults(object);
  return object;
}

function violationsOf(base: Base, rule: RecordedRule): string[] {
  const strategy = strategyOf(storageNameOf(base));
  const [object, context] = [decoded(base, changed(base, rule)), contextWith()];
  if (rule.operation === 'create') {
    if (object.kind !== 'APIService') object.metadata.name = 'other';
    strategy.prepareCreate(object, context);
    return lines(strategy.validateCreate(object, context));
  }
  const old = decoded(base, base.object);
  strategy.prepareUpdate(object, old, context);
  return lines(strategy.validateUpdate(object, old, context));
}

/** Some messages end with the difference of two objects, whose format differs between servers. */
const DIFFERENCE = /\n[\s\S]*$/;

/** Upstream repeats some violations of updates; only the set is compared. */
const masked = (texts: readonly string[]): string[] =>
  [...new Set(texts.map(text => text.replace(GO_VALUE, 'value: <value>').replace(DIFFERENCE, '')))].sort();

beforeAll(() => loadEngine());

describe.each(bases.map((base, index) => ({ base, index, kind: `${base.object.apiVersion} ${base.object.kind}` })))(
  '$kind, base $index',
  ({ base, index }) => {
    it('is valid', () => {
      const strategy = strategyOf(storageNameOf(base));
      const object = decoded(base, base.object);
      expect(lines(strategy.validateCreate(object, contextWith()))).toEqual([]);
      expect(lines(strategy.validateUpdate(object, decoded(base, base.object), contextWith()))).toEqual([]);
    });
    it('is refused with upstream’s messages after each recorded change', () => {
      const shown = (rule: RecordedRule, found: readonly string[]): object => ({ ...rule, lines: masked(found) });
      const own = rules.filter(one => one.base === index);
      expect(own.map(rule => shown(rule, violationsOf(base, rule)))).toEqual(own.map(rule => shown(rule, rule.lines)));
    });
  },
);

it.each(coverage.map(base => ({ base, name: `${base.object.kind} ${(base.object.metadata as ObjectMeta).name}` })))(
  '$name, which has fields that no other base has, is valid',
  ({ base }) => {
    const strategy = strategyOf(storageNameOf(base));
    const object = decoded(base, base.object);
    Object.assign(object.metadata, { uid: 'u1', ...(resourceOf(base).namespaced && { namespace: 'default' }) });
    strategy.prepareCreate(object, contextWith());
    expect(lines(strategy.validateCreate(object, contextWith()))).toEqual([]);
  },
);

it('the page of rules is generated from the recorded ones', () => {
  expect(readFileSync('docs/reference/kinds.md', 'utf8')).toBe(
    kindsPage(bases, rules, read<Differences>('differences.json')),
  );
});

it('the fields that no base has are known', () => {
  expect(uncoveredFields([...bases, ...coverage])).toMatchSnapshot();
});
