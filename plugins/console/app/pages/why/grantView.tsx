import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { parseAllDocuments } from 'yaml';
import { may } from '../../api/access.js';
import { ApiError, send } from '../../api/http.js';
import { type Kind, pathOf } from '../../api/kinds.js';
import type { ApiObject } from '../../api/objects.js';
import { Failure } from '../../parts/failure.js';
import { ScrollRegion } from '../../parts/scrollRegion.js';
import { kindOfReference } from '../object/related/relatives.js';

/** An object to create, and where. */
interface Wanted {
  readonly object: ApiObject;
  readonly kind: Kind;
}

/** The objects of a text with several documents. Those of kinds that the server does not serve are left out. */
function wantedIn(text: string): Wanted[] {
  return parseAllDocuments(text).flatMap(doc => {
    const object = doc.toJS() as ApiObject | null;
    const { apiVersion = '', kind: name = '' } = object ?? {};
    const kind = kindOfReference({ apiVersion, kind: name });
    return object && kind ? [{ object, kind }] : [];
  });
}

const mayCreate = ({ object, kind: { group, resource } }: Wanted): Promise<boolean> =>
  may({ verb: 'create', group, resource, namespace: object.metadata.namespace ?? '' });

/** The smallest objects that would allow a request, which users with the permission can create. */
export function GrantView({ text }: { readonly text: string }) {
  const isAllowed = useSignal(false);
  const state = useSignal<'idle' | 'busy' | 'done'>('idle');
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    const wanted = wantedIn(text);
    void Promise.all(wanted.map(mayCreate)).then(all => (isAllowed.value = all.length > 0 && all.every(is => is)));
  }, [text]);
  const create = async (): Promise<void> => {
    state.value = 'busy';
    error.value = undefined;
    try {
      for (const { object, kind } of wantedIn(text)) {
        try {
          await send('POST', pathOf(kind, object.metadata.namespace ?? ''), { body: object });
        } catch (thrown) {
          // Some of them may exist already, from an attempt that failed later.
          if (!(thrown instanceof ApiError) || thrown.reason !== 'AlreadyExists') throw thrown;
        }
      }
      state.value = 'done';
    } catch (thrown) {
      error.value = thrown;
      state.value = 'idle';
    }
  };
  return (
    <section class="stack" aria-label="What would allow it">
      <p>
        <strong>This would allow it, and no more:</strong>
      </p>
      <ScrollRegion as="pre" class="patch" label="Objects that would allow it">
        {text}
      </ScrollRegion>
      {error.value !== undefined && <Failure error={error.value} doing="creating the objects" />}
      {state.value === 'done' ? (
        <p class="notice good" role="status">
          Created: the request is allowed now.
        </p>
      ) : (
        isAllowed.value && (
          <div>
            <button
              type="button"
              class="button primary"
              disabled={state.value === 'busy'}
              onClick={() => void create()}
            >
              Create
            </button>
          </div>
        )
      )}
    </section>
  );
}
