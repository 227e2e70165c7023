/**
 * The trace that a request belongs to (W3C Trace Context, 3.2). This server begins no traces and records no spans: it
 * tells webhooks what the client has told it, and writes the id of the trace to its log.
 */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0*$/;

/** The flag of a trace that is recorded; the others have no meaning in version 00. */
const SAMPLED = 1;
/** Upstream ignores a header of version 00 with more than this in its flags. */
const MAX_FLAGS = 2;

/**
 * The header `traceparent` to send for a request that came with this one, in version 00. Undefined without a header,
 * and for one that the recommendation says to ignore: in another form, of version ff, or with zeros as an id.
 */
export function parseTraceparent(header: string | undefined): string | undefined {
  const [, version, traceId, parentId, flags, rest] = TRACEPARENT.exec(header ?? '') ?? [];
  if (version === undefined || version === 'ff' || ZEROS.test(traceId!) || ZEROS.test(parentId!)) return undefined;
  const bits = Number.parseInt(flags!, 16);
  // Later versions may add flags and members after them.
  if (version === '00' && (rest !== undefined || bits > MAX_FLAGS)) return undefined;
  return `00-${traceId}-${parentId}-0${bits & SAMPLED}`;
}

/** The id of the trace, 32 hexadecimal digits, of what `parseTraceparent` has returned. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);
