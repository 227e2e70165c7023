import { ConfigError } from '../../api/point.js';
import { stringAt, type UnknownRecord } from '../../model/record.js';
import { parseArguments, requireValue } from '../arguments.js';
import { flagsOf } from '../commands.js';
import { reconciled, type Reconciled } from './reconcile.js';
import { objectsOfFile } from '../client/files.js';
import { ApiClient, serverOf } from '../client/request.js';
import type { Io } from '../serve.js';

const USAGE = 'expects reconcile -f FILE';

/** Kinds of the RBAC group by their plural names. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['ClusterRole', 'clusterroles'],
  ['ClusterRoleBinding', 'clusterrolebindings'],
  ['Role', 'roles'],
  ['RoleBinding', 'rolebindings'],
]);
const GROUP = /^rbac\.authorization\.[a-z0-9.]+$/;

/** `capstan auth reconcile`. Returns the exit code. Throws ConfigError for bad arguments. */
export async function authCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('auth'));
  const { values, positionals } = parsed;
  if (positionals.join(' ') !== 'reconcile') throw new ConfigError('capstan auth', USAGE);
  const file = requireValue(parsed, 'filename', 'FILE');
  const objects = objectsOfFile(file);
  const client = new ApiClient(serverOf(values, file === '-'));
  const remove = {
    permissions: values['remove-extra-permissions'] === true,
    subjects: values['remove-extra-subjects'] === true,
  };
  const isDryRun = values['dry-run'] === true;
  for (const object of objects) {
    const collection = collectionOf(object);
    if (collection === undefined) {
      io.err(
        `skipping ${stringAt(object, 'kind')} ${stringAt(object, 'metadata', 'name')}: neither a role nor a binding`,
      );
      continue;
    }
    const path = `${collection}/${encodeURIComponent(stringAt(object, 'metadata', 'name'))}`;
    const result = reconciled(await client.get(path), object, remove);
    if (!isDryRun) await write(client, collection, path, result);
    report(object, result, isDryRun, io);
  }
  return 0;
}

/** The path of the collection of a role or binding; undefined for objects of other kinds. */
function collectionOf(object: UnknownRecord): string | undefined {
  const [group = '', version = ''] = stringAt(object, 'apiVersion').split('/');
  const kind = stringAt(object, 'kind');
  const plural = KINDS.get(kind);
  if (plural === undefined || !GROUP.test(group) || version !== 'v1') return undefined;
  if (kind.startsWith('Cluster')) return `/apis/${group}/v1/${plural}`;
  const namespace = stringAt(object, 'metadata', 'namespace') || 'default';
  return `/apis/${group}/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

async function write(client: ApiClient, collection: string, path: string, result: Reconciled): Promise<void> {
  switch (result.operation) {
    case 'none':
      return;
    case 'create': {
      const namespace = /^\/apis\/[^/]+\/v1\/namespaces\/([^/]+)\//.exec(collection)?.[1];
      if (namespace !== undefined) await ensureNamespace(client, decodeURIComponent(namespace));
      await client.send('POST', collection, result.object);
      return;
    }
    case 'update':
      await client.send('PUT', path, result.object);
      return;
    case 'recreate':
      await client.send('DELETE', path);
      await client.send('POST', collection, result.object);
  }
}

async function ensureNamespace(client: ApiClient, name: string): Promise<void> {
  if (await client.get(`/api/v1/namespaces/${encodeURIComponent(name)}`)) return;
  await client.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

function report(object: UnknownRecord, result: Reconciled, isDryRun: boolean, io: Io): void {
  const [group] = stringAt(object, 'apiVersion').split('/');
  const name = `${stringAt(object, 'kind').toLowerCase()}.${group}/${stringAt(object, 'metadata', 'name')}`;
  const verb = result.operation === 'none' ? 'unchanged' : 'reconciled';
  io.out(`${name} ${verb}${isDryRun ? ' (dry run)' : ''}`);
  for (const { title, items } of result.changes) {
    if (items.length === 0) continue;
    io.out(`\t${title}:`);
    for (const item of items) io.out(`\t\t${JSON.stringify(item)}`);
  }
}
