import { resolve } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { Api } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/* examples/sharedConfig.ts: a controller. */

let api: Api;
beforeAll(async () => {
  api = await Api.start({ plugins: [{ use: resolve('dist/examples/sharedConfig.js') }] });
});
afterAll(() => api.close());

const source = '/api/v1/namespaces/default/configmaps';
const copy = (namespace: string) => api.get(`/api/v1/namespaces/${namespace}/configmaps/prices`);
const data = (tea: string) => ({
  metadata: { name: 'prices', labels: { 'example.com/shared': 'yes' } },
  data: { tea },
});
const becomes = (namespace: string, tea: string) =>
  api.until(async () => {
    const { status, body } = await copy(namespace);
    return status === 200 && String(body['data']?.['tea']) === tea;
  });

test('the example controller copies into existing and new namespaces, and again when the source changes', async () => {
  await api.namespace('early');
  await api.made(source, data('3'));
  await becomes('early', '3');
  await api.namespace('late');
  await becomes('late', '3');
  await api.patch(`${source}/prices`, MERGE, { data: { tea: '4' } });
  for (const namespace of ['early', 'late']) await becomes(namespace, '4');
});
