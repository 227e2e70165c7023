import { forEachParallel } from '../../../plugins/controllers/parallel.js';
import { queryOf } from '../../api/client/paths.js';
import { recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../model/record.js';
import { parseArguments } from '../arguments.js';
import { pathIn, resourceName, type ServedKind, ServedKinds } from '../client/kinds.js';
import { AnswerError, ApiClient, serverOf } from '../client/request.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';

/** The number of objects that are read at once. */
const PAGE = 500;
/** The number of objects that are written at once. */
const WRITES = 8;
const MERGE = { 'content-type': 'application/merge-patch+json' };
/** Refusals of objects that others have removed, or written and thereby migrated. */
const CONFLICT = 409;
const NO_LONGER: readonly number[] = [404, CONFLICT];

/**
 * Patches an object without changing it, if it is still as it was read: the server stores it in the current version if
 * it was stored in another one.
 */
async function rewrite(client: ApiClient, kind: ServedKind, object: UnknownRecord): Promise<boolean> {
  const at = (member: string): string => stringAt(object, 'metadata', member);
  const path = pathIn(kind, at('namespace'), at('name'));
  const metadata = { uid: at('uid'), resourceVersion: at('resourceVersion') };
  try {
    const { body } = await client.ask({ method: 'PATCH', path, object: { metadata }, headers: MERGE });
    return stringAt(body, 'metadata', 'resourceVersion') !== metadata.resourceVersion;
  } catch (error) {
    if (error instanceof AnswerError && NO_LONGER.includes(error.status)) return false;
    throw error;
  }
}

/** Migrates all objects of a kind. Returns how many there are, and how many were written. */
async function migrateKind(client: ApiClient, kind: ServedKind): Promise<{ objects: number; written: number }> {
  let [objects, written] = [0, 0];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const path = pathIn(kind, '') + queryOf({ limit: String(PAGE), continue: next || undefined });
    const { body } = await client.ask({ method: 'GET', path });
    const items = recordsAt(body, 'items');
    objects += items.length;
    await forEachParallel(WRITES, items, async item => {
      if (await rewrite(client, kind, item)) written++;
    });
    next = stringAt(body, 'metadata', 'continue') || undefined;
  }
  return { objects, written };
}

/**
 * Records in the definition of a kind that no object is stored in its previous versions any more. `definition` was read
 * before the objects were migrated: if it has changed since then, they may be stored in a version that is no longer the
 * current one.
 */
async function forgetVersions(
  client: ApiClient,
  kind: ServedKind,
  path: string,
  definition: UnknownRecord | undefined,
  io: Io,
): Promise<void> {
  const stored = recordsAt(definition, 'spec', 'versions').find(version => version['storage'] === true);
  const before = stringsAt(definition, 'status', 'storedVersions');
  if (!definition || !stored || before.length < 2) return;
  const { name } = stored;
  const metadata = { resourceVersion: stringAt(definition, 'metadata', 'resourceVersion') };
  const object = { metadata, status: { storedVersions: [name] } };
  try {
    await client.ask({ method: 'PATCH', path: `${path}/status`, object, headers: MERGE });
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status !== CONFLICT) throw error;
    throw new Error(`the definition of ${resourceName(kind)} has changed meanwhile: migrate its objects again`);
  }
  io.out(`${resourceName(kind)}: no object is stored in ${before.filter(one => one !== name).join(', ')} any more`);
}

const isStored = ({ verbs }: ServedKind): boolean =>
  ['list', 'get', 'create', 'patch'].every(one => verbs.includes(one));

/**
 * `capstan store migrate [KIND…]`: stores the objects of a running server in the current storage versions of their
 * kinds, and removes the other versions from `status.storedVersions` of definitions. Returns 0. Throws ConfigError, and
 * Error for a request that the server refuses.
 */
export async function migrateCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('store migrate'));
  const access = serverOf(parsed.values);
  try {
    const client = new ApiClient(access);
    const kinds = await ServedKinds.of(client);
    const definitions = kinds.named('customresourcedefinitions.apiextensions');
    const { positionals } = parsed;
    const chosen = positionals.length > 0 ? positionals.map(word => kinds.named(word)) : kinds.preferred;
    let [objects, written] = [0, 0];
    for (const kind of chosen.filter(isStored)) {
      const path = pathIn(definitions, '', resourceName(kind));
      const definition = await client.get(path);
      const result = await migrateKind(client, kind);
      objects += result.objects;
      written += result.written;
      if (result.written > 0) io.out(`${resourceName(kind)}: ${result.written} of ${result.objects} migrated`);
      await forgetVersions(client, kind, path, definition, io);
    }
    io.out(`${written} of ${objects} objects had to be migrated`);
    return 0;
  } finally {
    access.close();
  }
}
