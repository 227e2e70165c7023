import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { damaged } from './fuzz/bodies.js';
import { learn, probe, probeDamaged } from './fuzz/probe.js';
import { type Known, requestOf } from './fuzz/requests.js';
import { Api } from './support.js';
import { LISTENER_NAMES } from '../listener/names.js';

/** `CAPSTAN_FUZZ_RUNS` sets the number of runs, `CAPSTAN_FUZZ_SEED` repeats a run. */
const RUNS = Number(process.env['CAPSTAN_FUZZ_RUNS'] ?? 400);
const SEED = Number(process.env['CAPSTAN_FUZZ_SEED'] ?? Date.now() % 2 ** 31);

describe.each(LISTENER_NAMES)('hostile requests, listener %s', listener => {
  let api: Api;
  let known: Known;
  beforeAll(async () => {
    api = await Api.start({ httpPort: 0, listener });
    await api.namespace('fuzz');
    known = await learn(api);
  });
  afterAll(() => api.close());
  const port = (): number => Number(new URL(api.server.httpUrl!).port);

  async function stillServes(name: string): Promise<void> {
    const path = '/api/v1/namespaces/default/configmaps';
    expect((await api.post(path, { metadata: { name } })).status).toBe(201);
    expect((await api.get(`${path}/${name}`)).status).toBe(200);
    expect((await api.get('/livez')).text).toBe('ok');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }

  test(
    'no request makes the server fail, hang or answer an error that is not a Status [R357x]',
    async () => {
      console.log(`fuzzing with CAPSTAN_FUZZ_SEED=${SEED} CAPSTAN_FUZZ_RUNS=${RUNS}`);
      const property = fc.asyncProperty(fc.gen(), async choose => {
        const made = requestOf(bound => choose(fc.nat, { max: bound - 1 }), known);
        const complaint = await probe(port(), made);
        if (complaint) throw new Error(`${complaint}\n${made.title}`);
      });
      await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
      await stillServes('after-requests');
    },
    120_000 + RUNS * 100,
  );

  test(
    'bytes that are not a request neither keep a connection open nor harm the server',
    async () => {
      const property = fc.asyncProperty(fc.gen(), async choose => {
        const below = (bound: number): number => choose(fc.nat, { max: bound - 1 });
        const { bytes, title } = requestOf(below, known);
        const complaint = await probeDamaged(port(), damaged(below, damaged(below, bytes)));
        if (complaint) throw new Error(`${complaint}\n${title}`);
      });
      await fc.assert(property, { numRuns: Math.ceil(RUNS / 4), seed: SEED, endOnFailure: true });
      await stillServes('after-damage');
    },
    120_000 + RUNS * 100,
  );
});
