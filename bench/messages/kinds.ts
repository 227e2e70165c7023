import { Packr, RESET_BUFFER_MODE, REUSE_BUFFER_MODE } from 'msgpackr';
import type { User } from '../../core/model/user.js';
import {
  type PackedJobs,
  type PackedOutcomes,
  packJobs,
  packOutcomes,
  unpackJobs,
  unpackOutcomes,
} from '../../core/threads/messages/jobs.js';
import type { EventsMessage, Job, JobOutcome } from '../../core/threads/messages/messages.js';
import { joinBytes, PieceReader } from '../../core/threads/messages/pack.js';
import {
  decodeFromWriter,
  decodeToWriter,
  encodeFromWriter,
  encodeToWriter,
  type Posted,
} from '../../core/threads/messages/wire.js';

/** A way to post a message and to read it in the other thread. */
export interface Way {
  encode(): Posted;
  decode(data: unknown): unknown;
}

/** A kind of message in two ways: cloned with its bytes in one transferred buffer, and as MessagePack. */
export interface Kind {
  readonly name: string;
  /** The one of the two that the server uses. */
  readonly used: 'cloned' | 'messagePack';
  readonly cloned: Way;
  readonly messagePack: Way;
}

const OBJECT_BYTES = 1500;

const objectBytes = (): Uint8Array => new Uint8Array(OBJECT_BYTES).fill(0x78);
const keyOf = (i: number): string => `core/configmaps/bench/object-${i}`;

/** The same object in all jobs of a client, as from the cache of the front end. */
const USER: User = {
  name: 'system:serviceaccount:default:bench',
  uid: '0a3c8a52-9d6e-4c6b-8d0e-2f60a0c6b6f1',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
  extra: new Map(),
};

/** Jobs always have all of their members, so that they have the same shape. */
const jobOf = (i: number, more: Partial<Job>): Job => ({
  id: 2 ** 30 + i,
  method: 'POST',
  path: '/api/v1/namespaces/bench/configmaps',
  query: '',
  accept: 'application/json',
  contentType: 'application/json',
  userAgent: 'bench/1.0 (linux/amd64)',
  ifMatch: '',
  user: USER,
  credentials: undefined,
  granted: true,
  body: objectBytes(),
  current: undefined,
  render: undefined,
  ...more,
});

/** MessagePack with member names known to both threads, in a separate buffer. */
function packed<T>(value: T): Way {
  const packr = new Packr({ structures: [] });
  packr.pack(value);
  return {
    encode: () => {
      // Copied as in core/threads/messages/wire.ts, since the encoder reuses its buffer.
      const kept = packr.pack(value, REUSE_BUFFER_MODE | RESET_BUFFER_MODE) as Buffer & { start: number; end: number };
      const bytes = new Uint8Array(kept.end - kept.start);
      bytes.set(kept.subarray(kept.start, kept.end));
      return [bytes, [bytes.buffer]];
    },
    decode: data => packr.unpack(data as Uint8Array),
  };
}

/**
 * The message that `make` returns, with the values of `items` in one transferred buffer: `next` gives a view of each in
 * turn.
 */
function packValues(items: readonly { value: Uint8Array }[], make: (next: () => Uint8Array) => unknown): Posted {
  const bytes = joinBytes(items.map(({ value }) => value))!;
  const reader = new PieceReader(bytes);
  let at = 0;
  return [make(() => reader.next(items[at++]!.value.length)), [bytes]];
}

/** Posts a message unchanged, so that nothing is decoded. */
const cloned = (encode: () => Posted): Way => ({ encode, decode: data => data });

function jobs(name: string, count: number, more: (i: number) => Partial<Job>): Kind {
  const all = Array.from({ length: count }, (_, i) => jobOf(i, more(i)));
  const cloned: Way = {
    encode: () => packJobs(all),
    decode: data => unpackJobs(data as PackedJobs),
  };
  return { name, used: 'cloned', cloned, messagePack: packed(all) };
}

function outcomes(name: string, count: number, outcome: (i: number) => JobOutcome): Kind {
  const all = Array.from({ length: count }, (_, i) => outcome(i));
  const cloned: Way = {
    encode: () => packOutcomes(all),
    decode: data => unpackOutcomes(data as PackedOutcomes),
  };
  return { name, used: 'cloned', cloned, messagePack: packed(all) };
}

function proposals(count: number): Kind {
  const all = Array.from({ length: count }, (_, i) => ({
    id: 2 ** 30 + i,
    operations: [{ is: 'put' as const, key: keyOf(i), value: objectBytes(), gap: 100, expect: 0 }],
  }));
  return {
    name: 'proposals',
    used: 'messagePack',
    cloned: cloned(() =>
      packValues(
        all.flatMap(({ operations }) => operations),
        next =>
          all.map(({ id, operations }) => ({ id, operations: operations.map(one => ({ ...one, value: next() })) })),
      ),
    ),
    messagePack: { encode: () => encodeToWriter({ is: 'propose', proposals: all }), decode: decodeToWriter },
  };
}

function events(count: number): Kind {
  const all = Array.from({ length: count }, (_, i) => ({
    key: keyOf(i),
    revision: 123_456 + i,
    created: 123_456 + i,
    value: objectBytes(),
  }));
  const verdicts = all.map(({ revision }, i) => ({ id: 2 ** 30 + i, is: 'committed' as const, revision }));
  const message: EventsMessage = { is: 'events', revision: 123_456 + count, events: all, verdicts };
  return {
    name: 'events and verdicts',
    used: 'messagePack',
    cloned: cloned(() =>
      packValues(all, next => ({ ...message, events: all.map(event => ({ ...event, value: next() })) })),
    ),
    messagePack: { encode: () => encodeFromWriter(message), decode: decodeFromWriter },
  };
}

/** Every kind of message that travels with each write, with `count` items. */
export const kindsOf = (count: number): Kind[] => [
  jobs('jobs, creates', count, () => ({})),
  jobs('jobs, updates', count, i => ({ method: 'PUT', current: { bytes: objectBytes(), revision: 123_456 + i } })),
  outcomes('outcomes, proposed', count, i => ({
    is: 'proposed',
    id: 2 ** 30 + i,
    status: 201,
    headers: [['content-type', 'application/json']],
    key: keyOf(i),
  })),
  outcomes('outcomes, with a body', count, i => ({
    is: 'respond',
    id: 2 ** 30 + i,
    status: 200,
    headers: [['content-type', 'application/json']],
    body: objectBytes(),
  })),
  proposals(count),
  events(count),
];
