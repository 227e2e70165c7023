import { join } from 'node:path';
import { startCapstan } from '../lib/capstan.js';
import { type Case, costOf, rateOf, type Row } from '../lib/case.js';
import { load } from '../lib/load.js';

const NAMESPACE = 'default';
const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const BYTES = 2700;
/** The number of lists that are read at once. */
const READERS = 4;

/** A form of a list: its name, media type and query. */
const FORMS: readonly (readonly [name: string, accept: string, query: string])[] = [
  ['JSON', 'application/json', ''],
  ['indented JSON', 'application/json', '?pretty=true'],
  ['protobuf', 'application/vnd.kubernetes.protobuf', ''],
  ['YAML', 'application/yaml', ''],
  ['Table', 'application/json;as=Table;v=v1;g=meta.k8s.io', ''],
  ['metadata', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', ''],
];

/**
 * Large lists in every form, and the duration of a get and a create during four of them. The baseline of these two is
 * the same without lists.
 */
const slices: Case = {
  name: 'slices',
  async run({ dir, tls, short, ms: caseMs }): Promise<Row[]> {
    const count = short ? 2000 : 20_000;
    // In short runs each form gets half of the time, since there are many.
    const ms = short ? caseMs / 2 : caseMs;
    const server = await startCapstan({ dataDir: join(dir, 'slices'), tls });
    const address = { ...server, token: server.adminToken };
    const creates = { is: 'create', address, namespace: NAMESPACE, bytes: BYTES } as const;
    await load({ ...creates, prefix: 'object-', clients: 32, ms: 300_000, count }, server.pid);
    let prefixes = 0;
    const get = () => load({ is: 'repeat', address, path: `${PATH}/object-0`, connections: 1, ms }, server.pid);
    const create = () => load({ ...creates, prefix: `beside-${prefixes++}-`, clients: 1, ms }, server.pid);
    const alone = { get: await get(), create: await create() };
    const rows: Row[] = [];
    for (const [name, accept, query] of FORMS) {
      const list = (time: number) =>
        load({ is: 'repeat', address, path: PATH + query, accept, connections: READERS, ms: time }, server.pid);
      const lists = await list(ms);
      const label = `list of ${count} as ${name}`;
      rows.push({ case: label, unit: 'lists/s', value: rateOf(lists), ...costOf(lists) });
      // The lists continue as long as the others are measured.
      const [, beside, written] = await Promise.all([list(2 * ms), get(), create()]);
      const common = { unit: 'ms', atMost: true } as const;
      rows.push({ case: `${label}: get beside it, p99`, ...common, value: beside.p99, baseline: alone.get.p99 });
      rows.push({ case: `${label}: create beside it, p99`, ...common, value: written.p99, baseline: alone.create.p99 });
    }
    await server.close();
    return rows;
  },
};

/** Large lists in every form, and the latency of other requests meanwhile. */
export const slicedLists: readonly Case[] = [slices];
