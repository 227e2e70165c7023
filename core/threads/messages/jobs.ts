/**
 * How jobs and their outcomes are posted between the front end and the pool: each as an array, without the names of its
 * members, and with the bytes of all of them in one buffer, which is transferred. Cloning objects with many members
 * would take twice as long (docs/decisions/0008). Objects to encode that are in shared memory are not copied.
 */
import { Packr } from 'msgpackr/pack';
import type { Trail } from '../../api/observe/decisions.js';
import type { Job, JobOutcome, JobResult, LateOutcome, Rendering } from './messages.js';
import { joinBytes, PieceReader } from './pack.js';

/** The bytes of a message, in one buffer; undefined if there are none. */
type Bytes = ArrayBuffer | undefined;

/** The message for items, and the buffers to transfer with it. */
export type Packed<T> = readonly [packed: T, transfer: ArrayBuffer[]];

/** Objects to render: those in shared memory are identified by their places in it, all others by their lengths. */
interface Objects {
  readonly memories: readonly SharedArrayBuffer[];
  /**
   * Three numbers for each object: its length and, if it is in shared memory, the index of the memory plus one and the
   * offset in it, or else two zeros.
   */
  readonly places: readonly number[];
}

type RenderRow = [
  objects: Objects,
  status: number,
  list: Rendering['list'],
  warnings: Rendering['warnings'],
  events: Rendering['events'],
  part: Rendering['part'],
  records: Rendering['records'],
  packed: Rendering['packed'],
];

/** Each length is that of a piece of the bytes. */
type JobRow = [
  id: number,
  method: string,
  path: string,
  query: string,
  accept: string,
  contentType: string,
  userAgent: string,
  ifMatch: string,
  auditId: string | undefined,
  user: Job['user'],
  credentials: Job['credentials'],
  warnings: Job['warnings'],
  granted: boolean,
  bodyLength: number | undefined,
  currentLength: number | undefined,
  currentRevision: number | undefined,
  currentKey: string | undefined,
  begun: boolean | undefined,
  render: RenderRow | undefined,
  collection: boolean | undefined,
  trace: Job['trace'],
];

/** Jobs as they are posted. */
export interface PackedJobs {
  readonly rows: readonly JobRow[];
  readonly bytes: Bytes;
}

/** Adds pieces to `pieces` and returns their lengths. */
const lengthsOf = (added: readonly Uint8Array[], pieces: Uint8Array[]): number[] =>
  added.map(piece => {
    pieces.push(piece);
    return piece.length;
  });

/** Numbers of an object in `places`. */
const PLACE = 3;

function placesOf(objects: readonly Uint8Array[], pieces: Uint8Array[]): Objects {
  const memories: SharedArrayBuffer[] = [];
  const places: number[] = [];
  for (const object of objects) {
    const { buffer, byteOffset, length } = object;
    if (buffer instanceof SharedArrayBuffer) {
      let index = memories.lastIndexOf(buffer);
      if (index < 0) index = memories.push(buffer) - 1;
      places.push(length, index + 1, byteOffset);
    } else {
      pieces.push(object);
      places.push(length, 0, 0);
    }
  }
  return { memories, places };
}

function objectsAt({ memories, places }: Objects, reader: PieceReader): Uint8Array[] {
  const objects: Uint8Array[] = [];
  for (let i = 0; i < places.length; i += PLACE) {
    const [length, memory, offset] = [places[i]!, places[i + 1]!, places[i + 2]!];
    objects.push(memory > 0 ? new Uint8Array(memories[memory - 1]!, offset, length) : reader.next(length));
  }
  return objects;
}

function toRenderRow(rendering: Rendering, pieces: Uint8Array[]): RenderRow {
  const { objects, status, list, warnings, events, part, records, packed } = rendering;
  return [placesOf(objects, pieces), status, list, warnings, events, part, records, packed];
}

function fromRenderRow(row: RenderRow, reader: PieceReader): Rendering {
  const [objects, status, list, warnings, events, part, records, packed] = row;
  return { objects: objectsAt(objects, reader), status, list, warnings, events, part, records, packed };
}

function toJobRow(job: Job, pieces: Uint8Array[]): JobRow {
  const { body, current, render } = job;
  if (body) pieces.push(body);
  if (current) pieces.push(current.bytes);
  return [
    job.id,
    job.method,
    job.path,
    job.query,
    job.accept,
    job.contentType,
    job.userAgent,
    job.ifMatch,
    job.auditId,
    job.user,
    job.credentials,
    job.warnings,
    job.granted,
    body?.length,
    current?.bytes.length,
    current?.revision,
    job.currentKey,
    job.begun,
    render && toRenderRow(render, pieces),
    job.collection,
    job.trace,
  ];
}

function fromJobRow(row: JobRow, reader: PieceReader): Job {
  const [bodyLength, currentLength, currentRevision] = [row[13], row[14], row[15]];
  const body = bodyLength === undefined ? undefined : reader.next(bodyLength);
  const current =
    currentLength === undefined ? undefined : { bytes: reader.next(currentLength), revision: currentRevision! };
  const render = row[18];
  return {
    id: row[0],
    method: row[1],
    path: row[2],
    query: row[3],
    accept: row[4],
    contentType: row[5],
    userAgent: row[6],
    ifMatch: row[7],
    auditId: row[8],
    user: row[9],
    credentials: row[10],
    warnings: row[11],
    granted: row[12],
    body,
    current,
    currentKey: row[16],
    begun: row[17],
    render: render && fromRenderRow(render, reader),
    collection: row[19],
    trace: row[20],
  };
}

function withBytes<Row>(rows: Row[], pieces: readonly Uint8Array[]): Packed<{ rows: Row[]; bytes: Bytes }> {
  const bytes = joinBytes(pieces);
  return [{ rows, bytes }, bytes ? [bytes] : []];
}

/** Jobs in the form in which they are posted. */
export function packJobs(jobs: readonly Job[]): Packed<PackedJobs> {
  const pieces: Uint8Array[] = [];
  const rows = jobs.map(job => toJobRow(job, pieces));
  return withBytes(rows, pieces);
}

/** The jobs that were posted. Their bytes are views of the message's buffer. */
export function unpackJobs({ rows, bytes }: PackedJobs): Job[] {
  const reader = new PieceReader(bytes);
  return rows.map(row => fromJobRow(row, reader));
}

type Respond = Extract<JobOutcome, { is: 'respond' }>;
type Proposed = Extract<JobOutcome, { is: 'proposed' }>;
type Rendered = Extract<JobOutcome, { is: 'rendered' }>;

/** A trail without the names of its members, which take longer to post than most of its values. */
type TrailRow = [
  steps: Trail['steps'],
  dryRun: Trail['dryRun'],
  unseenChanges: Trail['unseenChanges'],
  refusal: Trail['refusal'],
  opinions: Trail['opinions'],
  asked: Trail['asked'],
];
type RespondRow = [
  is: Respond['is'],
  id: number,
  grant: Respond['grant'],
  status: number,
  headers: Respond['headers'],
  key: string | undefined,
  bodyLength: number,
  rest: Respond['rest'],
  annotations: JobResult['annotations'],
  auditId: string | undefined,
  trail: TrailRow | undefined,
];
type ProposedRow = [
  is: Proposed['is'],
  id: number,
  grant: Proposed['grant'],
  status: number,
  headers: Proposed['headers'],
  key: string,
  bodyLength: number | undefined,
  gaps: Proposed['gaps'],
  more: boolean | undefined,
  annotations: JobResult['annotations'],
  auditId: string | undefined,
  trail: TrailRow | undefined,
];
type RenderedRow = [is: Rendered['is'], id: number, grant: Rendered['grant'], lengths: number[]];
/** Outcomes of other kinds are rare, and posted as they are. */
type OutcomeRow = RespondRow | ProposedRow | RenderedRow | Exclude<JobOutcome, Respond | Proposed | Rendered>;

/** Outcomes of the jobs of a batch as they are posted. The receiver may drop the rows after reading them. */
export interface PackedOutcomes {
  rows: (OutcomeRow | null)[];
  bytes: Bytes;
}

/** Late outcomes as they are posted. */
export interface PackedLate {
  readonly rows: readonly (readonly [batch: number, at: number, outcome: OutcomeRow])[];
  readonly bytes: Bytes;
}

function toTrailRow(trail: Trail | undefined): TrailRow | undefined {
  if (!trail) return undefined;
  const { steps, dryRun, unseenChanges, refusal, opinions, asked } = trail;
  return [steps, dryRun, unseenChanges, refusal, opinions, asked];
}

function fromTrailRow(auditId: string | undefined, row: TrailRow | undefined): Trail | undefined {
  if (auditId === undefined || !row) return undefined;
  const [steps, dryRun, unseenChanges, refusal, opinions, asked] = row;
  return { auditId, steps, dryRun, unseenChanges, refusal, opinions, asked };
}

function toOutcomeRow(outcome: JobOutcome, pieces: Uint8Array[]): OutcomeRow {
  switch (outcome.is) {
    case 'respond': {
      const { is, id, grant, status, headers, key, body, rest, annotations, auditId, trail } = outcome;
      pieces.push(body);
      return [is, id, grant, status, headers, key, body.length, rest, annotations, auditId, toTrailRow(trail)];
    }
    case 'proposed': {
      const { is, id, grant, status, headers, key, body, gaps, more, annotations, auditId, trail } = outcome;
      if (body) pieces.push(body);
      return [is, id, grant, status, headers, key, body?.length, gaps, more, annotations, auditId, toTrailRow(trail)];
    }
    case 'rendered':
      return [outcome.is, outcome.id, outcome.grant, lengthsOf(outcome.pieces, pieces)];
    default:
      return outcome;
  }
}

function fromProposedRow(row: ProposedRow, body: Uint8Array | undefined): Proposed {
  const [is, id, grant, status, headers, key, , gaps, more, annotations, auditId, trailRow] = row;
  const trail = fromTrailRow(auditId, trailRow);
  return { id, grant, annotations, trail, auditId, is, status, headers, body, gaps, more, key };
}

function fromOutcomeRow(row: OutcomeRow, reader: PieceReader): JobOutcome {
  if (!Array.isArray(row)) return row;
  switch (row[0]) {
    case 'respond': {
      const [is, id, grant, status, headers, key, bodyLength, rest, annotations, auditId, trailRow] = row;
      const trail = fromTrailRow(auditId, trailRow);
      const body = reader.next(bodyLength);
      return { id, grant, annotations, trail, auditId, is, status, headers, body, key, rest };
    }
    case 'proposed': {
      const bodyLength = row[6];
      return fromProposedRow(row, bodyLength === undefined ? undefined : reader.next(bodyLength));
    }
    case 'rendered': {
      const [is, id, grant, lengths] = row;
      return { id, grant, is, pieces: lengths.map(length => reader.next(length)) };
    }
  }
}

/** Joins pieces into one buffer; undefined if there are none. */
function bufferOf(pieces: readonly Uint8Array[]): ArrayBuffer | undefined {
  const buffer = pieces[0]?.buffer;
  if (!(buffer instanceof ArrayBuffer)) return undefined;
  let end = 0;
  for (const piece of pieces) {
    if (piece.buffer !== buffer || piece.byteOffset !== end) return undefined;
    end += piece.length;
  }
  return end === buffer.byteLength ? buffer : undefined;
}

/**
 * Outcomes of a batch in the form in which they are posted; null for those that follow as late ones. Rendered content
 * is transferred if that saves a copy.
 */
export function packOutcomes(outcomes: readonly (JobOutcome | null)[]): Packed<PackedOutcomes> {
  const pieces: Uint8Array[] = [];
  const rows = outcomes.map(outcome => outcome && toOutcomeRow(outcome, pieces));
  const [only] = outcomes;
  const bytes = outcomes.length === 1 && only?.is === 'rendered' ? bufferOf(only.pieces) : undefined;
  return bytes ? [{ rows, bytes }, [bytes]] : withBytes(rows, pieces);
}

/** The outcomes that were posted. Their bytes are views of the message's buffer. */
export function unpackOutcomes({ rows, bytes }: PackedOutcomes): (JobOutcome | null)[] {
  const reader = new PieceReader(bytes);
  return rows.map(row => row && fromOutcomeRow(row, reader));
}

/** Late outcomes in the form in which they are posted. */
export function packLate(late: readonly LateOutcome[]): Packed<PackedLate> {
  const pieces: Uint8Array[] = [];
  const rows = late.map(({ batch, at, outcome }) => [batch, at, toOutcomeRow(outcome, pieces)] as const);
  return withBytes(rows, pieces);
}

/** The late outcomes that were posted. Their bytes are views of the message's buffer. */
export function unpackLate({ rows, bytes }: PackedLate): LateOutcome[] {
  const reader = new PieceReader(bytes);
  return rows.map(([batch, at, row]) => ({ batch, at, outcome: fromOutcomeRow(row, reader) }));
}

/** A task of the pool: jobs that were gathered in one turn of the front end's event loop. */
export interface Batch {
  readonly id: number;
  readonly jobs: PackedJobs;
  /** The runs of the jobs (`packRuns`). */
  readonly runs: readonly number[];
  /**
   * Whether its only job has an open proposal and no other job is in the pool, so that the outcome may be written to
   * shared memory (`encodeWritten`).
   */
  readonly isQuiet?: boolean;
}

/** The outcome of a batch: an outcome for each job, in order; null for those that follow as LateOutcome. */
export interface BatchOutcome {
  readonly outcomes: PackedOutcomes;
  /** Milliseconds for which the batch occupied the thread, without later work of its jobs. */
  readonly ms: number;
}

const packr = new Packr({ useRecords: false });

/** The outcome of a batch that a thread writes to shared memory instead of posting it. */
export interface WrittenOutcome {
  readonly batch: number;
  readonly outcome: Proposed;
  /** As in `BatchOutcome`. */
  readonly ms: number;
}

type WrittenRow = [batch: number, ms: number, row: ProposedRow, body: Uint8Array | null];

/**
 * The outcome of a quiet batch as bytes. Undefined if it cannot be written: if it is not a proposal, or contains values
 * of plugins about its sender, which may be any that can be cloned.
 */
export function encodeWritten(batch: number, outcome: JobOutcome, ms: number): Uint8Array | undefined {
  if (outcome.is !== 'proposed' || outcome.grant) return undefined;
  const pieces: Uint8Array[] = [];
  const row: WrittenRow = [batch, ms, toOutcomeRow(outcome, pieces) as ProposedRow, pieces[0] ?? null];
  return packr.pack(row);
}

/** Decodes the result of `encodeWritten`. The body is a view of it. */
export function decodeWritten(bytes: Uint8Array): WrittenOutcome {
  const [batch, ms, row, body] = packr.unpack(bytes) as WrittenRow;
  const outcome = fromProposedRow(row, body ?? undefined);
  return { batch, ms, outcome };
}
