import { Packr, RESET_BUFFER_MODE, REUSE_BUFFER_MODE } from 'msgpackr/pack';
import type { Operation } from '../../api/storage.js';
import type {
  EventsMessage,
  FromWriter,
  PageMessage,
  PastEvent,
  PastMessage,
  Proposal,
  ProposedCharge,
  StartPageMessage,
  ToWriter,
  Verdict,
} from './messages.js';
import type { WireEvent } from './wireEvent.js';

/*
 * How messages are posted on the channels between the writer and other threads. Proposals, events and pages hold many
 * small objects around the bytes of stored objects: they are encoded as MessagePack in one buffer, which is
 * transferred. This takes less time than cloning them (docs/decisions/0008). Each object is an array, without the
 * names of its members. Other messages are cloned.
 */

/** The arguments of `postMessage`: the data, and the buffers that are transferred. */
export type Posted = readonly [data: unknown, transfer: ArrayBuffer[]];

const packr = new Packr({ useRecords: false });
/** Messages up to this size are encoded in a buffer that the encoder keeps, and copied. */
const COPIED_BYTES = 256 * 1024;
/** The encoder takes a new buffer when fewer bytes than this are left. */
const SPARE_BYTES = 4096;

/** Encodes a message of at most `size` bytes. */
function encode(value: readonly unknown[], size: number): Posted {
  if (size > COPIED_BYTES) return encodeLarge(value, size);
  // In these modes the encoder returns its whole buffer and marks where the value begins and ends.
  const kept = packr.pack(value, REUSE_BUFFER_MODE | RESET_BUFFER_MODE) as Buffer & { start: number; end: number };
  const bytes = new Uint8Array(kept.end - kept.start);
  bytes.set(kept.subarray(kept.start, kept.end));
  return [bytes, [bytes.buffer]];
}

/** Encodes a message in a buffer of its own, which is transferred: a copy would double the memory it takes. */
function encodeLarge(value: readonly unknown[], size: number): Posted {
  packr.useBuffer(Buffer.allocUnsafeSlow(size + SPARE_BYTES));
  const bytes = packr.pack(value);
  packr.useBuffer(Buffer.allocUnsafeSlow(COPIED_BYTES));
  return [bytes, [bytes.buffer as ArrayBuffer]];
}

/** The most bytes that the members of a row take, besides its values. */
const ROW_BYTES = 64;
/** The most bytes of UTF-8 that a character of a string takes. */
const CHARACTER_BYTES = 3;

/** The most bytes that a row takes. */
const sizeOfRow = ({ key, value, previous }: { key: string; value?: Uint8Array; previous?: Uint8Array }): number =>
  ROW_BYTES + key.length * CHARACTER_BYTES + (value?.length ?? 0) + (previous?.length ?? 0);

const sum = <T>(items: readonly T[], sizeOf: (item: T) => number): number =>
  items.reduce((total, item) => total + sizeOf(item), 0);

/** A member that is absent is null on the wire. */
type Optional<T> = T | null;

type OperationRow = [key: string, value: Optional<Uint8Array>, gap: Optional<number>, expect: Optional<number>];

/** A row without a value is a deletion. */
const toOperationRow = (operation: Operation): OperationRow =>
  operation.is === 'put'
    ? [operation.key, operation.value, operation.gap ?? null, operation.expect ?? null]
    : [operation.key, null, null, operation.expect ?? null];

const fromOperationRow = ([key, value, gap, expect]: OperationRow): Operation =>
  value
    ? { is: 'put', key, value, gap: gap ?? undefined, expect: expect ?? undefined }
    : { is: 'delete', key, expect: expect ?? undefined };

/** The place of the value in shared memory. Its length is null for a deletion. */
type EventRow = [key: string, revision: number, created: number, offset: number, length: Optional<number>];

const toEventRow = ({ key, revision, created, value }: WireEvent): EventRow => [
  key,
  revision,
  created,
  value?.byteOffset ?? 0,
  value?.length ?? null,
];

const fromEventRow = (
  [key, revision, created, offset, length]: EventRow,
  memory: SharedArrayBuffer | undefined,
): WireEvent => ({
  key,
  revision,
  created,
  value: length === null ? undefined : new Uint8Array(memory!, offset, length),
});

type ValueRow = [key: string, revision: number, created: number, value: Optional<Uint8Array>];

const toValueRow = ({ key, revision, created, value }: WireEvent): ValueRow => [key, revision, created, value ?? null];

const fromValueRow = ([key, revision, created, value]: ValueRow): WireEvent => ({
  key,
  revision,
  created,
  value: value ?? undefined,
});

type ItemRow = [...ValueRow, version: Optional<number>];

const toItemRow = (item: WireEvent): ItemRow => [...toValueRow(item), item.version ?? null];

const fromItemRow = ([key, revision, created, value, version]: ItemRow): WireEvent => ({
  ...fromValueRow([key, revision, created, value]),
  version: version ?? undefined,
});

type PastRow = [...ValueRow, previous: Optional<Uint8Array>];

const toPastRow = (event: PastEvent): PastRow => [...toValueRow(event), event.previous ?? null];

const fromPastRow = ([key, revision, created, value, previous]: PastRow): PastEvent => ({
  ...fromValueRow([key, revision, created, value]),
  previous: previous ?? undefined,
});

/** `detail`: the revision of a commit, the message of a failure. */
type VerdictRow = [id: number, is: Verdict['is'], detail?: number | string];

function toVerdictRow(verdict: Verdict): VerdictRow {
  switch (verdict.is) {
    case 'committed':
      return [verdict.id, verdict.is, verdict.revision];
    case 'stale':
      return [verdict.id, verdict.is];
    default:
      return [verdict.id, verdict.is, verdict.message];
  }
}

function fromVerdictRow([id, is, detail]: VerdictRow): Verdict {
  switch (is) {
    case 'committed':
      return { id, is, revision: detail as number };
    case 'stale':
      return { id, is };
    default:
      return { id, is, message: detail as string };
  }
}

type OperationSize = Parameters<typeof sizeOfRow>[0];
/** The items are JSON: one long text is encoded and decoded in a fraction of the time of many short ones. */
type ChargesRow = [manager: string, time: string, items: string];
type ProposalRow = [id: number, operations: OperationRow[], trace: Proposal['trace'], charges?: ChargesRow];

const toProposalRow = ({ id, operations, trace, charges }: Proposal): ProposalRow => {
  const rows = operations.map(toOperationRow);
  if (!charges) return [id, rows, trace];
  return [id, rows, trace, [charges.manager, charges.time, JSON.stringify(charges.items)]];
};

function fromProposalRow([id, operations, trace, charges]: ProposalRow): Proposal {
  const proposal = { id, operations: operations.map(fromOperationRow), trace };
  if (!charges) return proposal;
  const [manager, time, items] = charges;
  return { ...proposal, charges: { manager, time, items: JSON.parse(items) as readonly ProposedCharge[] } };
}

/** The most bytes that the charges of a proposal take. */
const sizeOfCharges = (charges: ChargesRow | undefined): number =>
  charges ? sum(charges, text => ROW_BYTES + text.length * CHARACTER_BYTES) : 0;

/** Encodes a message to the writer. */
export function encodeToWriter(message: ToWriter): Posted {
  if (message.is !== 'propose') return [message, []];
  const { proposals } = message;
  const rows = proposals.map(toProposalRow);
  const sizeOfOperations = sum(proposals, ({ operations }) => ROW_BYTES + sum<OperationSize>(operations, sizeOfRow));
  return encode(rows, sizeOfOperations + sum(rows, ([, , , charges]) => sizeOfCharges(charges)));
}

/** Decodes the data of a message to the writer. Values are views of it. */
export function decodeToWriter(data: unknown): ToWriter {
  if (!(data instanceof Uint8Array)) return data as ToWriter;
  const rows = packr.unpack(data) as ProposalRow[];
  return { is: 'propose', proposals: rows.map(fromProposalRow) };
}

type EventsRow = [
  is: EventsMessage['is'],
  revision: number,
  floor: Optional<number>,
  events: EventRow[],
  verdicts: VerdictRow[],
];
type PageRow = [
  is: PageMessage['is'],
  requestId: number,
  revision: number,
  items: ItemRow[],
  more: boolean,
  remaining: number,
];
type PastMessageRow = [is: PastMessage['is'], requestId: number, revision: number, events: PastRow[]];

function encodeEvents({ is, revision, floor, events, verdicts }: EventsMessage): Posted {
  const row: EventsRow = [is, revision, floor ?? null, events.map(toEventRow), verdicts.map(toVerdictRow)];
  const size = sum(
    verdicts,
    verdict => ROW_BYTES + ('message' in verdict ? verdict.message.length * CHARACTER_BYTES : 0),
  );
  return encode(row, ROW_BYTES + sum(events, ({ key }) => sizeOfRow({ key })) + size);
}

function encodePage({ is, requestId, revision, items, more, remaining }: PageMessage): Posted {
  const row: PageRow = [is, requestId, revision, items.map(toItemRow), more, remaining];
  return encode(row, ROW_BYTES + sum(items, sizeOfRow));
}

function encodePast({ is, requestId, revision, events }: PastMessage): Posted {
  const row: PastMessageRow = [is, requestId, revision, events.map(toPastRow)];
  return encode(row, ROW_BYTES + sum(events, sizeOfRow));
}

/**
 * Encodes a message from the writer. Start pages are not encoded: each is one piece of memory already. Only the places
 * of the values of events are encoded; their memory was sent to the receiver before.
 */
export function encodeFromWriter(message: Exclude<FromWriter, StartPageMessage>): Posted {
  switch (message.is) {
    case 'events':
      return message.events.length === 0 ? [message, []] : encodeEvents(message);
    case 'page':
      return encodePage(message);
    case 'past':
      return encodePast(message);
    default:
      return [message, []];
  }
}

/** Decodes the data of a message from the writer. Values are views of it; those of events, of `memory`. */
export function decodeFromWriter(data: unknown, memory?: SharedArrayBuffer): FromWriter {
  if (!(data instanceof Uint8Array)) return data as FromWriter;
  const row = packr.unpack(data) as EventsRow | PageRow | PastMessageRow;
  switch (row[0]) {
    case 'events': {
      const [is, revision, floor, events, verdicts] = row;
      return {
        is,
        revision,
        events: events.map(event => fromEventRow(event, memory)),
        verdicts: verdicts.map(fromVerdictRow),
        floor: floor ?? undefined,
      };
    }
    case 'page': {
      const [is, requestId, revision, items, more, remaining] = row;
      return { is, requestId, revision, items: items.map(fromItemRow), more, remaining };
    }
    case 'past':
      return { is: 'past', requestId: row[1], revision: row[2], events: row[3].map(fromPastRow) };
  }
}
