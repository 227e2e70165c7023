/** Speed of the engine beside three others on the same expressions and data, one table. Run after a build: `node dist/bench/cel/index.js`. */

import { celEnv, parse as bufParse, plan as bufPlan } from '@bufbuild/cel';
import { Environment as Marc } from '@marcbachmann/cel-js';
import { evaluate as celJsEvaluate, parse as celJsParse } from 'cel-js';
import { createEnvironment, librariesOf, schemaType, validationOf } from '../../core/cel/index.js';

const schema = schemaType({
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    name: { type: 'string', maxLength: 60 },
    tags: { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 20 } },
    labels: { type: 'object', maxProperties: 20, additionalProperties: { type: 'string', maxLength: 20 } },
    spec: { type: 'object', properties: { min: { type: 'integer' }, max: { type: 'integer' } } },
  },
})!;
const data = {
  replicas: 3,
  name: 'web-frontend',
  tags: ['a', 'bb', 'ccc', 'dddd'],
  labels: { app: 'x', tier: 'y' },
  spec: { min: 1, max: 5 },
};
/** The other engines take an int as a bigint. */
const wide = { ...data, replicas: 3n, spec: { min: 1n, max: 5n } };

const EXPRESSIONS = [
  'self.replicas >= self.spec.min && self.replicas <= self.spec.max',
  "self.name.startsWith('web-') && size(self.name) < 63",
  "self.tags.all(t, size(t) > 0 && t != 'zz')",
  "'app' in self.labels && self.labels['app'] == 'x'",
  'has(self.spec) ? self.spec.max - self.spec.min > 2 : false',
];

/** Nanoseconds per call, the best of five rounds. */
function time(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const n = 20_000;
    const start = performance.now();
    for (let i = 0; i < n; i++) run();
    best = Math.min(best, ((performance.now() - start) / n) * 1e6);
  }
  return Math.round(best);
}

const env = createEnvironment({
  libraries: librariesOf(),
  validation: validationOf(),
  variables: { self: schema.type },
  sizes: { self: schema },
});
const marc = new Marc().registerVariable('self', 'map');
const bufEnv = celEnv();

/** A competitor that cannot run an expression shows as NaN. */
function attempt(make: () => () => unknown): number {
  try {
    const run = make();
    run();
    return time(run);
  } catch {
    return Number.NaN;
  }
}

const rows = EXPRESSIONS.map(text => {
  const { program } = env.compile(text);
  return {
    expression: text,
    'core/cel': time(() => program!.evaluate({ self: schema.view(data) }, { budget: 1_000_000 })),
    '@bufbuild/cel': attempt(() => {
      const program = bufPlan(bufEnv, bufParse(text));
      return () => program({ self: wide as never });
    }),
    '@marcbachmann/cel-js': attempt(() => {
      const program = marc.parse(text);
      return () => program({ self: wide });
    }),
    'cel-js': attempt(() => {
      const parsed = celJsParse(text);
      if (!parsed.isSuccess) throw new Error('parse');
      return () => celJsEvaluate(parsed.cst, data);
    }),
    'compile µs': Math.round(time(() => env.compile(text)) / 100) / 10,
  };
});
console.table(rows);

/** Bytes of heap a compiled rule of 60 characters keeps; needs `--expose-gc`. */
function bytesPerRule(): number {
  const collect = (globalThis as { gc?: () => void }).gc;
  if (!collect) return Number.NaN;
  const text = 'self.replicas >= self.spec.min && self.replicas < 1000000000';
  const kept: unknown[] = new Array(5000).fill(null);
  env.compile(text);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < kept.length; i++) kept[i] = env.compile(text.replace('1000000000', String(1_000_000_000 + i))).program;
  collect();
  const after = process.memoryUsage().heapUsed;
  return kept.length ? Math.round((after - before) / kept.length) : 0;
}
console.log(`bytes per compiled rule: ${bytesPerRule()}`);
