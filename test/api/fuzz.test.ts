import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { learn, probe } from './fuzz/probe.js';
import { type Known, requestOf } from './fuzz/requests.js';
import { Api } from './support.js';

/** `CAPSTAN_FUZZ_RUNS` asks for more, `CAPSTAN_FUZZ_SEED` repeats a run. */
const RUNS = Number(process.env['CAPSTAN_FUZZ_RUNS'] ?? 600);
const SEED = Number(process.env['CAPSTAN_FUZZ_SEED'] ?? Date.now() % 2 ** 31);

describe('hostile requests', () => {
  let api: Api;
  let known: Known;
  beforeAll(async () => {
    api = await Api.start({ httpPort: 0 });
    await api.namespace('fuzz');
    known = await learn(api);
  });
  afterAll(() => api.close());

  test(
    'no request makes the server fail, hang or answer an error that is no Status [R357x]',
    async () => {
      console.log(`fuzzing with CAPSTAN_FUZZ_SEED=${SEED} CAPSTAN_FUZZ_RUNS=${RUNS}`);
      const port = Number(new URL(api.server.httpUrl!).port);
      const property = fc.asyncProperty(fc.gen(), async choose => {
        const made = requestOf(bound => choose(fc.nat, { max: bound - 1 }), known);
        const complaint = await probe(port, made);
        if (complaint) throw new Error(`${complaint}\n${made.title}`);
      });
      await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
      const after = await api.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'still-serving' } });
      expect(after.status).toBe(201);
      expect((await api.get('/livez')).text).toBe('ok');
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
    60_000 + RUNS * 100,
  );
});
