import type { ApiObject, CurrentObjects, Host } from '../../../core/api/index.js';
import { Refusal } from '../../../core/api/index.js';
import { API_SERVICES, isAvailable, serviceOf } from '../../../core/services/aggregation/registration.js';
import { versionPath } from '../requests.js';
import type { RemainingContent } from './namespaceConditions.js';

/** A resource in the document of a version. */
interface Listed {
  readonly name?: string;
  readonly namespaced?: boolean;
  readonly verbs?: readonly string[];
}

type Send = (request: Parameters<Host<'control'>['request']>[1]) => Promise<ApiObject>;

/** A resource of another server. */
interface OtherResource {
  readonly apiVersion: string;
  readonly plural: string;
  readonly verbs: readonly string[];
  /** The path of its objects in the namespace. */
  readonly path: string;
}

/**
 * Deletes the content of a namespace in other servers, whose versions APIServices name. The content of a server that
 * does not answer is not known: its versions are undiscovered.
 */
export async function deleteOtherContents(
  namespace: string,
  list: CurrentObjects['list'],
  send: Send,
): Promise<RemainingContent> {
  const content = { failures: [] as string[], remaining: [] as OtherRemaining[], undiscovered: [] as string[] };
  for (const object of list(API_SERVICES)) {
    const { spec } = object;
    const path = serviceOf(object) && versionPath(spec.group ?? '', spec.version ?? '');
    if (!path) continue;
    const apiVersion = `${spec.group}/${spec.version}`;
    const found = isAvailable(object) ? await unlessRefusal(send({ method: 'GET', path })) : undefined;
    if (!found) content.undiscovered.push(apiVersion);
    for (const resource of resourcesIn(found, apiVersion, `${path}/namespaces/${encodeURIComponent(namespace)}`)) {
      try {
        const objects = await deleteAll(resource, send);
        if (objects.length > 0) content.remaining.push({ resource, objects });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        content.failures.push(error.message);
      }
    }
  }
  return content;
}

type OtherRemaining = RemainingContent['remaining'][number];

async function unlessRefusal<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The resources of a version whose objects can be deleted, and are in namespaces. */
function resourcesIn(found: ApiObject | undefined, apiVersion: string, root: string): OtherResource[] {
  const resources = ((found as { readonly resources?: readonly Listed[] } | undefined)?.resources ?? []) as Listed[];
  return resources.flatMap(({ name = '', namespaced, verbs = [] }) =>
    namespaced && !name.includes('/') && verbs.includes('delete') && verbs.includes('list')
      ? [{ apiVersion, plural: name, verbs, path: `${root}/${encodeURIComponent(name)}` }]
      : [],
  );
}

/** Deletes all objects of a resource, and resolves with those that remain. */
async function deleteAll({ path, verbs }: OtherResource, send: Send): Promise<readonly ApiObject[]> {
  const list = async (): Promise<readonly ApiObject[]> =>
    ((await send({ method: 'GET', path })) as { readonly items?: readonly ApiObject[] }).items ?? [];
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
  if (verbs.includes('deletecollection')) await send({ method: 'DELETE', path, body });
  else
    for (const { metadata } of await list())
      if (!metadata.deletionTimestamp)
        await send({ method: 'DELETE', path: `${path}/${encodeURIComponent(metadata.name ?? '')}`, body });
  return await list();
}
