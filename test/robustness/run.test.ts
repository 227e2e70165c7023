import { expect, it } from 'vitest';
import { hasUws } from '../listener/names.js';
import { run } from './run.js';

/** A different seed each time; ROBUSTNESS_SEED repeats one. */
const seed = Number(process.env['ROBUSTNESS_SEED'] ?? Date.now() % 1_000_000);

/** One round. `npm run robustness` runs any number of them. */
const SHORT = { backend: 'rocksdb', minutes: 0.2, roundSeconds: 12, rate: 60, clients: 8 } as const;

it('keeps every guarantee of reads, writes and watches while it is killed, stopped, cut off, and its disk fails [R009 R010 R240 R244 R247 R325 R330 R338x]', {
  timeout: 240_000,
}, async () => {
  console.log(`robustness: seed ${seed}`);
  const summary = await run({ ...SHORT, seed });
  expect(summary.violations, `seed ${seed}`).toEqual([]);
  expect(summary.operations['get']).toBeGreaterThan(0);
  expect(summary.events).toBeGreaterThan(0);
  expect(Object.keys(summary.faults).length).toBeGreaterThan(0);
});

it.skipIf(!hasUws)(
  'keeps them with several threads that serve connections, each with its own view of all objects',
  {
    timeout: 240_000,
  },
  async () => {
    const flags = ['--listening-threads=3'];
    const summary = await run({ ...SHORT, seed, flags });
    expect(summary.violations, `seed ${seed}`).toEqual([]);
    expect(summary.operations['get']).toBeGreaterThan(0);
    expect(summary.events).toBeGreaterThan(0);
  },
);
