import { TRACESTATE_BYTES, TRACESTATE_MEMBERS } from '../limits.js';

/**
 * The trace that a request belongs to (W3C Trace Context, 3), as headers for the calls that are made for it. This
 * server begins no traces and records no spans: it passes the context of the client to webhooks, and writes the id to
 * its log.
 */
export interface TraceContext {
  /** In version 00: the ids of the trace and of the client's span, and whether the trace is recorded. */
  readonly traceparent: string;
  /** The entries that tracing systems have added. */
  readonly tracestate?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0*$/;

/** The flag of a trace that is recorded; the others have no meaning in version 00. */
const SAMPLED = 1;
/** Upstream ignores a header of version 00 with flags above this. */
const MAX_FLAGS = 2;

/** A member of tracestate, without white space around it: a key, which may have a tenant, and a printable value. */
const MEMBER = /^[a-z0-9][a-z0-9_*@/-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;

/**
 * The trace of a request, by its headers. Undefined without the header `traceparent`, and for one that the
 * recommendation says to ignore: malformed, of version ff, or with an id of zeros. A `tracestate` that is too long or
 * malformed is omitted.
 */
export function readTrace(header: (name: string) => string | undefined): TraceContext | undefined {
  const given = header('traceparent');
  const traceparent = given === undefined ? undefined : parseTraceparent(given);
  if (traceparent === undefined) return undefined;
  const tracestate = header('tracestate');
  return tracestate !== undefined && isTracestate(tracestate) ? { traceparent, tracestate } : { traceparent };
}

function parseTraceparent(header: string): string | undefined {
  const [, version, traceId, parentId, flags, rest] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === 'ff' || ZEROS.test(traceId!) || ZEROS.test(parentId!)) return undefined;
  const bits = Number.parseInt(flags!, 16);
  // Later versions may add flags and members after them.
  if (version === '00' && (rest !== undefined || bits > MAX_FLAGS)) return undefined;
  return `00-${traceId}-${parentId}-0${bits & SAMPLED}`;
}

function isTracestate(text: string): boolean {
  if (text.length > TRACESTATE_BYTES) return false;
  const members = text.split(',').map(member => member.trim());
  return members.length <= TRACESTATE_MEMBERS && members.every(member => MEMBER.test(member));
}

/** The id of a trace: 32 hexadecimal digits. */
export const traceIdOf = ({ traceparent }: TraceContext): string => traceparent.slice(3, 35);
