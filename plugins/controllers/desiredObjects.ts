import {
  type ApiObject,
  type Controller,
  type Frozen,
  type Host,
  type Input,
  type ObjectKey,
  type ReconcileContext,
  type ReconcilerDefinition,
  Refusal,
  reconciler,
} from '../../core/api/index.js';
import { unlessRefused } from './requests.js';

/** Objects written concurrently. */
const WORKERS = 16;

/** An object that must exist: it is created if missing, and again if deleted. */
export interface DesiredObject {
  readonly storageName: string;
  /**
   * The object in the server's naming, with its namespace if any. Its status is written if the existing one has none.
   */
  readonly object: ApiObject;
  /** Whether the object must exist in every namespace. */
  readonly inEveryNamespace?: true;
  /**
   * Returns the replacement of an existing object, or undefined if it needs no change. Without it, existing objects are
   * never changed.
   */
  readonly repair?: (found: Frozen<ApiObject>) => Input<ApiObject> | undefined;
}

const belongsIn = ({ inEveryNamespace, object }: DesiredObject, namespace: string): boolean =>
  inEveryNamespace ? namespace !== '' : (object.metadata.namespace ?? '') === namespace;

/** The key of a desired object in a namespace, or of the whole cluster for ''. */
const keyIn = ({ storageName, object }: DesiredObject, namespace: string): ObjectKey => ({
  resource: storageName,
  namespace,
  name: object.metadata.name ?? '',
});

/** Whether objects can be written in a namespace, or of the whole cluster for ''. */
function acceptsObjects(namespace: string, { get }: ReconcileContext): boolean {
  if (namespace === '') return true;
  const within = get('core/namespaces', { name: namespace });
  return within !== undefined && !within.metadata.deletionTimestamp;
}

async function ensure(
  { storageName, object, repair }: DesiredObject,
  namespace: string,
  found: Frozen<ApiObject> | undefined,
  { client }: ReconcileContext,
): Promise<void> {
  if (found?.metadata.deletionTimestamp) return;
  const objects = client.resource(storageName);
  const { status } = object;
  const metadata = namespace ? { ...object.metadata, namespace } : object.metadata;
  if (!found) await unlessRefused('AlreadyExists', objects.create({ ...object, metadata }));
  else {
    const repaired = repair?.(found);
    if (repaired) await objects.replace(repaired);
  }
  if (status && !found?.status) await objects.patch(metadata, { status }, { subresource: 'status' });
}

/**
 * A controller that ensures that objects exist, those in namespaces as long as their namespace is not terminating. With
 * `resync`, they are looked at again after each such time in milliseconds: for what depends on more than objects.
 */
export function desiredObjects(
  host: Host<'control'>,
  name: string,
  all: readonly DesiredObject[],
  { startsAfter = [], resync }: Pick<ReconcilerDefinition, 'startsAfter' | 'resync'> = {},
): Controller {
  const desired = new Map(all.map(one => [`${one.storageName}/${one.object.metadata.name}`, one]));
  const inNamespace = (namespace: string): ObjectKey[] =>
    all.filter(one => belongsIn(one, namespace)).map(one => keyIn(one, namespace));
  return reconciler({
    name,
    startsAfter,
    ...(resync === undefined ? {} : { resync }),
    concurrency: WORKERS,
    keys: all.filter(one => !one.inEveryNamespace).map(one => keyIn(one, one.object.metadata.namespace ?? '')),
    watches: [
      {
        resource: 'core/namespaces',
        keys: ({ type, name: namespace }) => (type === 'ADDED' ? inNamespace(namespace) : []),
      },
      ...Array.from(new Set(all.map(({ storageName }) => storageName)), resource => ({
        resource,
        keys({ namespace, name: object }: { readonly namespace: string; readonly name: string }) {
          const found = desired.get(`${resource}/${object}`);
          return found && belongsIn(found, namespace) ? [keyIn(found, namespace)] : [];
        },
      })),
    ],
    async reconcile(key, context) {
      const wanted = desired.get(`${key.resource}/${key.name}`)!;
      if (!acceptsObjects(key.namespace, context)) return;
      try {
        await ensure(wanted, key.namespace, context.object, context);
      } catch (error) {
        // The namespace has begun to terminate meanwhile.
        if (!acceptsObjects(key.namespace, context)) return;
        if (!(error instanceof Refusal) || error.reason !== 'Invalid') throw error;
        // A retry is useless, for example if a Service of another naming has the same address.
        context.log.warn({ ...key, error: error.message }, 'writing a system object failed');
      }
    },
  })(host);
}
