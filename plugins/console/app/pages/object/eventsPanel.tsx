import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { sendJson } from '../../api/http.js';
import { findKind, pathOf } from '../../api/kinds.js';
import type { ApiList, ApiObject } from '../../api/objects.js';
import { watch } from '../../api/watch.js';
import { ageOf } from '../../list/liveList.js';
import { Failure } from '../../parts/failure.js';

interface EventObject extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly firstTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

/** Largest number of events that are shown. */
const SHOWN = 200;

/** When an event happened last. */
const timeOf = ({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: EventObject): number =>
  Date.parse(
    series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? '',
  );

/** The events of one object, which follow the server. */
class Events {
  readonly found = signal<readonly EventObject[] | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  readonly #byUid = new Map<string, EventObject>();

  async follow(uid: string, namespace: string, ends: AbortSignal): Promise<void> {
    const kind = findKind('', 'events')!;
    const path = pathOf(kind, namespace);
    const query = { fieldSelector: `involvedObject.uid=${uid}` };
    try {
      for (let outcome = 'expired'; outcome === 'expired'; ) {
        const list = await sendJson<ApiList<EventObject>>('GET', path, { query, signal: ends });
        this.#byUid.clear();
        for (const item of list.items ?? []) this.#byUid.set(item.metadata.uid ?? '', item);
        this.#show();
        outcome = await watch<EventObject>(path, {
          query,
          resourceVersion: list.metadata.resourceVersion ?? '',
          signal: ends,
          connected: () => undefined,
          versionOf: ({ metadata }) => metadata.resourceVersion,
          take: events => {
            for (const { type, object } of events) {
              if (type === 'DELETED') this.#byUid.delete(object.metadata.uid ?? '');
              else if (type !== 'BOOKMARK') this.#byUid.set(object.metadata.uid ?? '', object);
            }
            this.#show();
          },
        });
      }
    } catch (error) {
      if (!ends.aborted) this.error.value = error;
    }
  }

  #show(): void {
    this.found.value = [...this.#byUid.values()].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, SHOWN);
  }
}

/** The events that controllers have recorded about an object. */
export function EventsPanel({ object }: { readonly object: ApiObject }) {
  const events = useMemo(() => new Events(), []);
  const { uid = '', namespace = '' } = object.metadata;
  useEffect(() => {
    const aborter = new AbortController();
    // Events of objects without a namespace are in a namespace that their controller has chosen.
    void events.follow(uid, namespace, aborter.signal);
    return () => aborter.abort();
  }, [uid]);
  const found = events.found.value;
  if (events.error.value) return <Failure error={events.error.value} doing="listing events" />;
  if (!found) return <p class="soft">Loading …</p>;
  if (found.length === 0)
    return <p class="notice">No events. Controllers write them, and the server keeps them for an hour.</p>;
  const now = Date.now();
  return (
    <ul class="events" aria-label="Events">
      {found.map(event => {
        const count = event.series?.count ?? event.count ?? 1;
        return (
          <li key={event.metadata.uid} class="card">
            <div class="row">
              <span class={`chip ${event.type === 'Warning' ? 'warn' : ''}`}>{event.type}</span>
              <strong>{event.reason}</strong>
              <span class="soft small">
                {ageOf(timeOf(event), now)} ago{count > 1 ? `, ${count} times` : ''}
              </span>
              <span class="grow" />
              <span class="soft small">{event.reportingComponent || event.source?.component}</span>
            </div>
            <p>{event.message}</p>
          </li>
        );
      })}
    </ul>
  );
}
