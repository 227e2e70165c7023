import type { Exchange } from '../../core/api/listener.js';
import { withoutTrailing } from '../../core/model/trailing.js';
import type { Entry } from '../../core/threads/entry.js';
import type { JobResult, Rendering } from '../../core/threads/messages.js';
import { type ListPage, metadataOf } from './listPage.js';
import type { Route } from '../../core/request/route.js';

/** Deletions of one collection under way at once: enough to fill the writer's groups. */
const AT_ONCE = 256;

/**
 * Deletes each chosen object as a delete of its own without a transaction (spec, "Operations") and answers with the
 * list of them. Objects that are gone meanwhile are no failure; the first other refusal, sent or thrown, ends it and
 * becomes the answer once no deletion is under way.
 */
export async function deleteCollection(
  selected: ListPage,
  exchange: Exchange,
  route: Route,
  remove: (path: string, entry: Entry) => Promise<JobResult & { is: 'respond' }>,
  answer: (objects: readonly Uint8Array[], metadata: NonNullable<Rendering['list']>) => Promise<void>,
): Promise<void> {
  const deleted: (Uint8Array | undefined)[] = new Array(selected.entries.length).fill(undefined);
  let refusal: (JobResult & { is: 'respond' }) | undefined;
  let thrown: { readonly error: unknown } | undefined;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < selected.entries.length && !refusal && !thrown) {
      const i = next++;
      const entry = selected.entries[i]!;
      try {
        const result = await remove(pathOf(exchange.path, route, entry), entry);
        if (result.status < 300) deleted[i] = entry.value;
        else if (result.status !== 404) refusal ??= result;
      } catch (error) {
        thrown ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, selected.entries.length) }, worker));
  if (thrown) throw thrown.error;
  if (refusal) return exchange.respond(refusal.status, refusal.headers, refusal.body);
  const objects = deleted.filter(object => object !== undefined);
  await answer(objects, metadataOf(selected));
}

/** The single-resource path of an entry of the collection. */
function pathOf(path: string, route: Route, entry: Entry): string {
  const base = withoutTrailing(path, '/');
  if (!route.resource!.namespaced || (route.target.is === 'resource' && route.target.namespace))
    return `${base}/${encodeURIComponent(entry.name)}`;
  const at = base.lastIndexOf('/');
  return `${base.slice(0, at)}/namespaces/${entry.namespace}${base.slice(at)}/${encodeURIComponent(entry.name)}`;
}
