import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, listOf } from '../api/support.js';
import { type Definition, lookalikes } from './lookalikes/index.js';

/* Definitions that are deleted and created again while clients write their objects. */

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CLIENTS = 8;
const ROUNDS = 3;

interface Grant {
  readonly metadata: { readonly name: string; readonly labels: { readonly round: string } };
}

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api?.close());

const isEstablished = async (path: string): Promise<boolean> => {
  const { status } = (await api.get(path)).body as unknown as {
    status: { conditions: readonly { type: string; status: string }[] | null };
  };
  return (status.conditions ?? []).some(({ type, status: is }) => type === 'Established' && is === 'True');
};

test('a definition that is deleted under load loses all objects, and has none when it is created again', async () => {
  const definition: Definition = lookalikes().find(({ spec }) => spec.names.kind === 'ReferenceGrant')!;
  const { group, names } = definition.spec;
  const grants = `/apis/${group}/v1beta1/namespaces/default/${names.plural}`;
  const crd = `${CRDS}/${definition.metadata.name}`;
  const spec = { from: [{ group: 'a', kind: 'A', namespace: 'b' }], to: [{ group: '', kind: 'S' }] };
  let round = 0;
  let done = false;
  const unexpected: unknown[] = [];
  /** Names of the objects whose creates have not been answered. */
  const creating = new Set<string>();
  const client = async (id: number): Promise<void> => {
    for (let i = 0; !done; i++) {
      const name = `c${id}-${i}`;
      const metadata = { name, labels: { round: String(round) } };
      const body = { apiVersion: `${group}/v1beta1`, kind: 'ReferenceGrant', metadata, spec };
      creating.add(name);
      const { status, text } = await api.post(grants, body);
      creating.delete(name);
      // 404: not served. 405: being deleted.
      if (![201, 404, 405, 409].includes(status)) unexpected.push({ status, text });
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, id) => client(id)));
  for (; round < ROUNDS; round++) {
    // A create that was sent before may be processed afterwards.
    const sentBefore = new Set(creating);
    await api.made(CRDS, definition);
    await api.until(() => isEstablished(crd));
    // The kind is served from the next request, on any connection.
    const lists = await Promise.all(Array.from({ length: CLIENTS }, () => api.get(grants)));
    expect(lists.map(({ status }) => status)).toEqual(lists.map(() => 200));
    const all = lists
      .flatMap(({ body }) => body['items'] as unknown as Grant[])
      .filter(({ metadata }) => !sentBefore.has(metadata.name));
    expect(all.filter(({ metadata }) => metadata.labels.round !== String(round))).toEqual([]);
    await api.until(async () => listOf((await api.get(grants)).body['items']).length > CLIENTS);
    expect((await api.delete(crd)).status).toBe(200);
    await api.until(async () => (await api.get(crd)).status === 404);
    expect((await api.get(grants)).status).toBe(404);
  }
  done = true;
  await clients;
  expect(unexpected).toEqual([]);
});
