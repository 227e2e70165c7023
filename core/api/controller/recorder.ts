import { EVENT_BURST, EVENT_REFILL_MS, EVENTS_WAITING, RECORDED_EVENTS } from '../../limits.js';
import type { ApiObject, Frozen } from '../../model/object.js';
import { Refusal } from '../../model/refusal.js';
import { withoutTrailing } from '../../model/text/trailing.js';
import type { Client } from '../client/client.js';
import type { Log } from '../host.js';
import { timestamp } from './conditions.js';
import type { RecordedEvent } from './types.js';

/** The dependencies of a recorder. */
export interface RecorderParts {
  /** The name of the controller. */
  readonly component: string;
  readonly client: Client;
  readonly log: Log;
  readonly now: () => number;
}

/** An Event object that was written, in which repetitions of the event are counted. */
interface Written {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
}

/** The number of events that an object may still have, as of a time in milliseconds. */
interface Allowance {
  readonly left: number;
  readonly at: number;
}

/** Sets a member of a map that keeps the most recent ones. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > RECORDED_EVENTS) map.delete(map.keys().next().value!);
}

/**
 * The digest of a text in 8 hexadecimal digits (FNV-1a): sufficient to tell apart the names of events at the same time.
 */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Characters of the name of an object in the names of its events, which must not be longer than 253. */
const LONGEST_START = 220;

/**
 * The name of an Event object: it begins with the name of the object that the event is about, and its end is unique.
 */
const nameOf = (object: string, time: number, key: string): string =>
  `${withoutTrailing(object.slice(0, LONGEST_START), '-.')}.${time.toString(16)}${digestOf(key)}`;

/**
 * Records events as Event objects, in the background of the controller's work: one after another, without retries.
 * Repetitions of an event are counted in the same Event object. Events of an object that has had very many are dropped.
 */
export class EventRecorder {
  readonly #written = new Map<string, Written>();
  readonly #allowances = new Map<string, Allowance>();
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(readonly parts: RecorderParts) {}

  /** Records an event of an object, which must have been stored. Returns at once. */
  record(about: Frozen<ApiObject>, { type = 'Normal', reason, message }: RecordedEvent): void {
    const key = JSON.stringify([this.parts.component, about.metadata.uid, type, reason, message]);
    if (this.#waiting >= EVENTS_WAITING || !this.#isAllowed(about.metadata.uid ?? '')) return;
    this.#waiting++;
    this.#last = this.#last.then(async () => {
      try {
        await this.#write(key, about, { type, reason, message });
      } catch (thrown) {
        const { namespace, name } = about.metadata;
        this.parts.log.debug({ namespace, name, reason, error: String(thrown) }, 'recording an event failed');
      }
      this.#waiting--;
    });
  }

  /** Takes one from the allowance of an object, which grows with time. */
  #isAllowed(uid: string): boolean {
    const now = this.parts.now();
    const { left, at } = this.#allowances.get(uid) ?? { left: EVENT_BURST, at: now };
    const grown = Math.min(EVENT_BURST, left + Math.max(0, now - at) / EVENT_REFILL_MS);
    remember(this.#allowances, uid, { left: grown < 1 ? grown : grown - 1, at: now });
    return grown >= 1;
  }

  async #write(key: string, about: Frozen<ApiObject>, event: Required<RecordedEvent>): Promise<void> {
    const events = this.parts.client.resource('core/events');
    const time = timestamp(this.parts.now());
    const known = this.#written.get(key);
    if (known) {
      const count = known.count + 1;
      try {
        await events.patch(known, { count, lastTimestamp: time });
        return remember(this.#written, key, { ...known, count });
      } catch (thrown) {
        // Events expire.
        if (!(thrown instanceof Refusal && thrown.reason === 'NotFound')) throw thrown;
      }
    }
    const { apiVersion, kind, metadata } = about;
    const { namespace = '', name = '', uid, resourceVersion } = metadata;
    const written: Written = {
      // Events of objects without a namespace are in `default`, where clients look for them.
      namespace: namespace || 'default',
      name: nameOf(name, this.parts.now(), key),
      count: 1,
    };
    await events.create({
      metadata: { namespace: written.namespace, name: written.name },
      involvedObject: { apiVersion, kind, namespace, name, uid, resourceVersion },
      ...event,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: this.parts.component },
      reportingComponent: this.parts.component,
      reportingInstance: '',
    });
    remember(this.#written, key, written);
  }
}
