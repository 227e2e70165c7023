import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { send, sendJson } from '../../../api/http.js';
import { findKind, pathOf } from '../../../api/kinds.js';
import type { ApiList, ApiObject } from '../../../api/objects.js';
import { Failure } from '../../../parts/failure.js';
import { hrefOf } from '../../../router.js';
import { type ObjectAddress, objectPath } from '../liveObject.js';
import {
  type Dependents,
  findDependents,
  type DeletedObjects,
  pageOf,
  type Relative,
  findCollected,
} from './relatives.js';

const POLICIES = [
  ['Background', 'Delete now, dependents afterwards'],
  ['Foreground', 'Delete dependents first; the object stays until they are gone'],
  ['Orphan', 'Keep dependents, without this owner'],
] as const;
type Policy = (typeof POLICIES)[number][0];

/** Largest number of names of one kind that are shown. */
const SHOWN = 12;

/** The effects of a delete, shown before it is carried out. */
interface Preview {
  readonly going: DeletedObjects;
  readonly dependents: Dependents;
  /** Objects of a defined kind that are deleted with its definition. */
  readonly instances: number | undefined;
}

/** Whether everything in the object, or of its kind, is deleted with it: then the user must type its name first. */
const isContainer = ({ kind: { group, resource } }: ObjectAddress): boolean =>
  (group === '' && resource === 'namespaces') || resource === 'customresourcedefinitions';

/** How many objects there are of the kind that a definition defines. */
async function instancesOf(object: ApiObject, signal: AbortSignal): Promise<number | undefined> {
  const { group, names } = (object['spec'] ?? {}) as { readonly group?: string; readonly names?: { plural?: string } };
  const kind = findKind(group ?? '', names?.plural ?? '');
  if (!kind) return undefined;
  const list = await sendJson<ApiList & { readonly metadata: { readonly remainingItemCount?: number } }>(
    'GET',
    pathOf(kind),
    { query: { limit: 1 }, signal },
  );
  return (list.items?.length ?? 0) + (list.metadata.remainingItemCount ?? 0);
}

async function preview(
  { kind, namespace, name }: ObjectAddress,
  object: ApiObject,
  signal: AbortSignal,
): Promise<Preview> {
  const isNamespace = kind.group === '' && kind.resource === 'namespaces';
  const dependents = await findDependents(isNamespace ? name : namespace, signal);
  const uid = object.metadata.uid ?? '';
  const contents = dependents.all.filter(relative => relative.namespace === name);
  const going = isNamespace ? { gone: contents, kept: [] } : findCollected(uid, dependents);
  const isDefinition = kind.resource === 'customresourcedefinitions';
  return { going, dependents, instances: isDefinition ? await instancesOf(object, signal) : undefined };
}

/** Relatives by kind, with links. */
function ByKind({ relatives }: { readonly relatives: readonly Relative[] }) {
  const byKind = new Map<string, Relative[]>();
  for (const relative of relatives) {
    const of = byKind.get(relative.kind);
    if (of) of.push(relative);
    else byKind.set(relative.kind, [relative]);
  }
  return (
    <ul class="by-kind">
      {[...byKind].map(([kind, of]) => (
        <li key={kind}>
          <strong>{kind}</strong> <span class="soft">{of.length}</span>:{' '}
          {of.slice(0, SHOWN).map((relative, i) => {
            const page = pageOf(relative);
            return (
              <span key={relative.uid}>
                {i > 0 && ', '}
                {page ? <a href={hrefOf(page)}>{relative.name}</a> : relative.name}
              </span>
            );
          })}
          {of.length > SHOWN && ` and ${of.length - SHOWN} more`}
        </li>
      ))}
    </ul>
  );
}

function Consequences(props: {
  readonly address: ObjectAddress;
  readonly object: ApiObject;
  readonly found: Preview;
  readonly policy: Policy;
}) {
  const { address, object, found, policy } = props;
  const { gone, kept } = found.going;
  const isNamespace = address.kind.group === '' && address.kind.resource === 'namespaces';
  const held = [...(object.metadata.finalizers ?? []).map(name => ({ name, by: address.name }))];
  if (policy !== 'Orphan' || isNamespace)
    for (const relative of gone) held.push(...relative.finalizers.map(name => ({ name, by: relative.name })));
  const goes = isNamespace ? 'Everything in the namespace goes with it' : 'These objects go with it';
  return (
    <>
      {found.instances !== undefined && (
        <p class="notice warn">
          The kind ends with its definition: <strong>{found.instances}</strong>{' '}
          {found.instances === 1 ? 'object' : 'objects'} of it will be deleted.
        </p>
      )}
      {gone.length === 0 && found.instances === undefined && <p>Nothing else goes with it.</p>}
      {gone.length > 0 && (
        <div>
          <p>
            <strong>{policy === 'Orphan' && !isNamespace ? 'These objects stay, without this owner' : goes}:</strong>
          </p>
          <ByKind relatives={gone} />
        </div>
      )}
      {kept.length > 0 && (
        <div>
          <p>
            <strong>These stay, because another object owns them too:</strong>
          </p>
          <ByKind relatives={kept} />
        </div>
      )}
      {held.length > 0 && (
        <div class="notice warn">
          <p>Finalizers hold the delete until somebody removes them:</p>
          <ul class="by-kind">
            {held.slice(0, SHOWN).map(({ name, by }) => (
              <li key={`${by} ${name}`}>
                <code>{name}</code> of {by}
              </li>
            ))}
          </ul>
        </div>
      )}
      {(found.dependents.isCut || found.dependents.unreadable.length > 0) && (
        <p class="soft small">
          There may be more:{' '}
          {found.dependents.isCut
            ? 'there are too many objects to read them all.'
            : `you may not list ${found.dependents.unreadable.join(', ')}.`}
        </p>
      )}
    </>
  );
}

/** Asks whether to delete an object, and first shows the objects that are deleted with it. */
export function DeletePanel(props: {
  readonly address: ObjectAddress;
  readonly object: ApiObject;
  readonly close: () => void;
}) {
  const { address, object, close } = props;
  const { kind, name } = address;
  const dialog = useRef<HTMLDialogElement>(null);
  const found = useSignal<Preview | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const policy = useSignal<Policy>('Background');
  const typed = useSignal('');
  const isBusy = useSignal(false);
  const mustType = isContainer(address);
  useEffect(() => {
    dialog.current?.showModal();
    const aborter = new AbortController();
    preview(address, object, aborter.signal).then(
      result => (found.value = result),
      thrown => !aborter.signal.aborted && (error.value = thrown),
    );
    return () => aborter.abort();
  }, []);
  const remove = async (event: Event): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    error.value = undefined;
    try {
      const preconditions = { uid: object.metadata.uid };
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: policy.value, preconditions };
      await send('DELETE', objectPath(address), { body });
      close();
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isBusy.value = false;
    }
  };
  const hasDependents = (found.value?.going.gone.length ?? 0) > 0 && !mustType;
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="delete-title" onClose={close}>
      <form class="stack" onSubmit={event => void remove(event)}>
        <h2 id="delete-title">
          Delete {kind.kind} {name}?
        </h2>
        {error.value !== undefined && <Failure error={error.value} doing="deleting the object" />}
        <div class="stack" role="status" aria-busy={!found.value}>
          {found.value ? (
            <Consequences address={address} object={object} found={found.value} policy={policy.value} />
          ) : (
            <p class="soft">Looking for what goes with it …</p>
          )}
        </div>
        {hasDependents && (
          <fieldset class="choices">
            <legend class="small soft">Dependents</legend>
            {POLICIES.map(([value, text]) => (
              <label key={value}>
                <input
                  type="radio"
                  name="policy"
                  checked={policy.value === value}
                  onChange={() => (policy.value = value)}
                />{' '}
                {value} <span class="soft small">{text}</span>
              </label>
            ))}
          </fieldset>
        )}
        {mustType && (
          <label class="label">
            <span>
              Type <strong>{name}</strong> to confirm
            </span>
            <input
              class="field mono"
              name="confirm"
              autocomplete="off"
              spellcheck={false}
              value={typed.value}
              onInput={event => (typed.value = event.currentTarget.value)}
            />
          </label>
        )}
        <div class="row actions">
          <button
            type="submit"
            class="button danger"
            disabled={isBusy.value || !found.value || (mustType && typed.value !== name)}
          >
            Delete
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
