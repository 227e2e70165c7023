import { durationProblem, parseDuration } from '../schema/decode/scalars.js';
import { ANSWER_MS, QUERY_PARAMETERS } from '../limits.js';
import { badRequest } from '../model/refusal.js';

/** The values of query parameters by name, in the order of the query. A Map, because names come from outside. */
export type Query = ReadonlyMap<string, readonly string[]>;

/** Matches pairs that cannot be parsed: with an invalid escape, or with a semicolon, which is not a separator. */
const UNREADABLE = /;|%(?![0-9a-f]{2})/i;

/** Index of the first character after the parameters that are parsed; -1 if all are. */
function endOfParameters(raw: string): number {
  let end = -1;
  for (let i = 0; i < QUERY_PARAMETERS; i++) {
    end = raw.indexOf('&', end + 1);
    if (end < 0) return -1;
  }
  return end;
}

/** Throws 400 for a query with more parameters than are parsed. */
export function checkQuery(raw: string): void {
  if (endOfParameters(raw) >= 0) throw badRequest(`the query has more than ${QUERY_PARAMETERS} parameters`);
}

/**
 * Parses a raw query string. Never throws: pairs that cannot be parsed are ignored, as by Go's `url.URL.Query`, and so
 * are pairs beyond the limit that `checkQuery` checks.
 */
export function parseQuery(raw: string): Query {
  const query = new Map<string, string[]>();
  if (!raw) return query;
  const end = endOfParameters(raw);
  const bounded = end < 0 ? raw : raw.slice(0, end);
  const readable = UNREADABLE.test(bounded)
    ? bounded
        .split('&')
        .filter(pair => !UNREADABLE.test(pair))
        .join('&')
    : bounded;
  for (const [name, value] of new URLSearchParams(readable)) {
    const values = query.get(name);
    if (values) values.push(value);
    else query.set(name, [value]);
  }
  return query;
}

/** The first value of a parameter; '' if it is absent. */
export const firstValue = (query: Query, name: string): string => query.get(name)?.[0] ?? '';

/** Parses a boolean parameter by upstream's rules: false if absent, `0`, or `false` in any case; true otherwise. */
export const parseFlag = (query: Query, name: string): boolean => {
  const value = query.get(name)?.[0];
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
};

/**
 * A decimal integer of 64 bits, limited to the range of safe integers; undefined if the parameter is absent. Throws 400
 * with upstream's message.
 */
export function parseInteger(query: Query, name: string): number | undefined {
  const value = query.get(name)?.[0];
  if (value === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  const whole = value.length > 64 ? undefined : BigInt.asIntN(64, BigInt(value.replace(/^\+/, '')));
  if (whole === undefined || whole !== BigInt(value.replace(/^\+/, '')))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(whole)));
}

/** Throws 400 if `timeout` is not a duration. */
export function checkTimeout(query: Query): void {
  const value = firstValue(query, 'timeout');
  const error = value && durationProblem(value);
  if (error) throw badRequest(`invalid timeout specified in the request URL - ${error}`);
}

/**
 * The milliseconds that a request may take: `timeout` of its query, at most ANSWER_MS. `checkTimeout` must have passed.
 */
export function timeoutOf(query: Query): number {
  const asked = Number(parseDuration(firstValue(query, 'timeout')) ?? 0n) / 1e6;
  return asked > 0 ? Math.min(asked, ANSWER_MS) : ANSWER_MS;
}
