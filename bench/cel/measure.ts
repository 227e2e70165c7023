/** Speed and size of the expression engine, compared with three others on the same expressions and data. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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
/** The same data with integers as bigint, as the other engines take them. */
const wide = { ...data, replicas: 3n, spec: { min: 1n, max: 5n } };
/** The same types for an engine that checks types. */
const marcTypes = {
  schema: {
    replicas: 'int',
    name: 'string',
    tags: 'list<string>',
    labels: 'map<string, string>',
    spec: { min: 'int', max: 'int' },
  },
};

const EXPRESSIONS = [
  'self.replicas >= self.spec.min && self.replicas <= self.spec.max',
  "self.name.startsWith('web-') && size(self.name) < 63",
  "self.tags.all(t, size(t) > 0 && t != 'zz')",
  "'app' in self.labels && self.labels['app'] == 'x'",
  'has(self.spec) ? self.spec.max - self.spec.min > 2 : false',
];

const env = createEnvironment({
  libraries: librariesOf(),
  validation: validationOf(),
  variables: { self: schema.type },
  sizes: { self: schema },
});

type Run = () => unknown;

/** The number of calls in a round: few, so that some rounds are undisturbed on a busy machine. */
const CALLS = 1000;

function nanosecondsOf(run: Run, calls: number): number {
  const start = performance.now();
  for (let i = 0; i < calls; i++) run();
  return ((performance.now() - start) / calls) * 1e6;
}

/**
 * Nanoseconds per call of each function: the best of alternating rounds; undefined for an engine that cannot run it.
 */
function fastestOf(runs: readonly (Run | undefined)[], rounds: number, calls = CALLS): (number | undefined)[] {
  const best = runs.map(run => (run ? Number.POSITIVE_INFINITY : undefined));
  for (let i = 0; i < rounds; i++) {
    runs.forEach((run, k) => {
      if (run) best[k] = Math.min(best[k]!, nanosecondsOf(run, calls));
    });
  }
  return best.map(ns => (ns === undefined ? undefined : Math.round(ns)));
}

/** Makes a run of an engine; undefined if the engine cannot run the expression. */
function tryMake(make: () => Run): Run | undefined {
  try {
    const run = make();
    run();
    return run;
  } catch {
    return undefined;
  }
}

/** Nanoseconds per evaluation of an expression by each engine, and microseconds per compilation by ours. */
export interface Speed {
  readonly expression: string;
  readonly ours: number;
  readonly bufbuild?: number;
  readonly marcbachmann?: number;
  readonly marcbachmannTyped?: number;
  readonly celJs?: number;
  readonly compileUs: number;
}

/** Measures every expression. */
export function speeds(rounds: number): Speed[] {
  const bufEnv = celEnv();
  const marc = new Marc().registerVariable('self', 'map');
  const typed = tryMake(() => {
    const made = new Marc().registerVariable('self', marcTypes as never);
    return () => made;
  });
  return EXPRESSIONS.map(text => {
    const { program } = env.compile(text);
    const [ours, bufbuild, marcbachmann, marcbachmannTyped, celJs] = fastestOf(
      [
        () => program!.evaluate({ self: schema.view(data) }, { budget: 1_000_000 }),
        tryMake(() => {
          const other = bufPlan(bufEnv, bufParse(text));
          return () => other({ self: wide as never });
        }),
        tryMake(() => {
          const other = marc.parse(text);
          return () => other({ self: wide });
        }),
        tryMake(() => {
          const other = (typed!() as Marc).parse(text);
          return () => other({ self: wide });
        }),
        tryMake(() => {
          const parsed = celJsParse(text);
          if (!parsed.isSuccess) throw new Error('does not parse');
          return () => celJsEvaluate(parsed.cst, data);
        }),
      ],
      rounds,
    );
    const [compile] = fastestOf([() => env.compile(text)], rounds, 50);
    return {
      expression: text,
      ours: ours!,
      bufbuild,
      marcbachmann,
      marcbachmannTyped,
      celJs,
      compileUs: compile! / 1000,
    };
  });
}

/** V8's garbage collector, whatever flags the process was started with. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Bytes of heap that a compiled rule of 60 characters takes. */
export function bytesPerRule(): number {
  const collect = garbageCollector();
  const text = 'self.replicas >= self.spec.min && self.replicas < 1000000000';
  const kept: unknown[] = new Array(5000).fill(null);
  env.compile(text);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < kept.length; i++)
    kept[i] = env.compile(text.replace('1000000000', String(1_000_000_000 + i))).program;
  collect();
  const after = process.memoryUsage().heapUsed;
  return kept.length ? Math.round((after - before) / kept.length) : 0;
}
