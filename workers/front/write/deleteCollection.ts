import type { Exchange } from '../../../core/api/listener.js';
import { givenAuditId } from '../../../core/request/auditId.js';
import { warningTexts } from '../../../core/request/warnings.js';
import { randomUUID } from '../../../core/runtime/random.js';
import { DELETIONS_AT_ONCE } from '../../../core/limits.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import type { Route } from '../../../core/request/route.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { ReadContext } from '../reads/readContext.js';
import { FairLimiter } from '../fairness/fairLimiter.js';
import { metadataOf, pageOfRequest } from '../reads/listPage.js';
import type { PoolClient } from '../pool/poolClient.js';
import { answeringWithId } from '../answers/changedExchange.js';
import { findUnconvertible } from '../forms/renderedList.js';
import { respond } from '../answers/reply.js';
import type { FrontRequest } from '../access/sender.js';
import { runWrite, type WriteContext } from './write.js';
import type { PoolResponse } from './writeState.js';

/** The parts of the front end that deletecollection needs. */
export interface DeletionContext extends WriteContext {
  readonly reads: ReadContext;
  readonly pool: PoolClient;
}

/** The result of the deletion of a collection: the deleted objects and the warnings, or the first refusal. */
export type DeletionOutcome =
  | { readonly is: 'deleted'; readonly entries: readonly Entry[]; readonly warnings: readonly string[] }
  | { readonly is: 'refused'; readonly refusal: PoolResponse };

/** Answers deletecollection requests; all of them together are bound by the limit on concurrent deletions. */
export class CollectionDeleter {
  readonly #limiter = new FairLimiter(DELETIONS_AT_ONCE);

  constructor(readonly context: DeletionContext) {}

  /**
   * Deletes each chosen object separately, without a transaction (spec, "Operations"), and answers with the list of
   * them. Nothing is deleted if one of them cannot be converted for that list. Throws Refusal.
   */
  async answer(request: FrontRequest, body: Uint8Array): Promise<void> {
    const { pool, reads } = this.context;
    const { exchange, route, sender } = request;
    const checked = await pool.run(request, () => ({ body }), body.length);
    if (checked.is !== 'granted') return respond(exchange, checked);
    const auditId = givenAuditId(exchange.header('audit-id')) ?? randomUUID();
    sender.trail = { auditId, dryRun: checked.trail?.dryRun };
    const page = await pageOfRequest(reads, request, route.resource!);
    const refused = route.resource!.builtIn ? undefined : await findUnconvertible(pool, request, page.entries);
    if (refused) return respond(exchange, refused);
    const outcome = await deleteEntries(
      page.entries,
      entry => this.#limiter.run(sender.usage, () => this.#delete(request, entry, body)),
      () => exchange.aborted,
    );
    if (outcome.is === 'refused') {
      if (outcome.refusal.trail) sender.trail = outcome.refusal.trail;
      return respond(exchange, outcome.refusal);
    }
    const warnings = [...(checked.warnings ?? []), ...outcome.warnings];
    const answered = { ...request, exchange: answeringWithId(exchange, sender.trail.auditId) };
    await reads.respondList(answered, route.resource!, outcome.entries, metadataOf(page), warnings);
  }

  #delete({ exchange, route, sender }: FrontRequest, { name, namespace }: Entry, body: Uint8Array) {
    const target = { ...(route.target as ResourceTarget), verb: 'delete' as const, name, namespace };
    return runWrite(
      this.context,
      { exchange, route: { ...route, target }, sender },
      { body, path: objectPath(exchange, route, name, namespace), granted: true, collection: true },
    );
  }
}

/**
 * Deletes entries, a bounded number at once. Objects that no longer exist are left out of the outcome. The first other
 * refusal, sent or thrown, is the outcome, once no deletion is in flight. No deletion is begun after it, or after the
 * client has gone away.
 */
export async function deleteEntries(
  entries: readonly Entry[],
  remove: (entry: Entry) => Promise<PoolResponse>,
  isClientGone: () => boolean,
): Promise<DeletionOutcome> {
  const deleted: (Entry | undefined)[] = new Array(entries.length).fill(undefined);
  const warnings: (readonly string[])[] = [];
  let refusal: PoolResponse | undefined;
  let thrown: { readonly error: unknown } | undefined;
  let next = 0;
  const removeNext = async (): Promise<void> => {
    while (next < entries.length && !refusal && !thrown && !isClientGone()) {
      const i = next++;
      const entry = entries[i]!;
      try {
        const response = await remove(entry);
        if (response.status < 300) {
          deleted[i] = entry;
          warnings[i] = warningTexts(response.headers);
        } else if (response.status !== 404) refusal ??= response;
      } catch (error) {
        thrown ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(DELETIONS_AT_ONCE, entries.length) }, removeNext));
  if (thrown) throw thrown.error;
  if (refusal) return { is: 'refused', refusal };
  return { is: 'deleted', entries: deleted.filter(entry => entry !== undefined), warnings: warnings.flat() };
}

/** The path of an object in the collection that an exchange names. */
function objectPath({ path }: Exchange, { resource, target }: Route, name: string, namespace: string): string {
  const base = withoutTrailing(path, '/');
  if (!resource!.namespaced || (target as ResourceTarget).namespace !== '')
    return `${base}/${encodeURIComponent(name)}`;
  const at = base.lastIndexOf('/');
  return `${base.slice(0, at)}/namespaces/${namespace}${base.slice(at)}/${encodeURIComponent(name)}`;
}
