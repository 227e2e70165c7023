import type { HealthCheck } from '../../api/control.js';
import { HEALTH_CHECK_MS } from '../../limits.js';
import { withinDeadline } from '../../plugin/calls/deadline.js';

/** The health endpoints (spec, "Health endpoints"). */
export type HealthEndpoint = HealthCheck['of'][number];

/** A plain-text answer. */
export interface HealthAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

/** Called with the result of each check. `reason` is the error of a failed check: for the log, not for clients. */
export type OnResult = (endpoint: HealthEndpoint, check: string, passed: boolean, reason?: unknown) => void;

const HEADERS = [
  ['content-type', 'text/plain; charset=utf-8'],
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-cache, private'],
] as const;

const answer = (status: number, text: string): HealthAnswer => ({ status, headers: HEADERS, text });

async function runCheck(endpoint: HealthEndpoint, check: HealthCheck, onResult: OnResult): Promise<boolean> {
  try {
    await withinDeadline(check.check(), HEALTH_CHECK_MS);
  } catch (thrown) {
    onResult(endpoint, check.name, false, thrown);
    return false;
  }
  onResult(endpoint, check.name, true);
  return true;
}

async function answerOne(endpoint: HealthEndpoint, check: HealthCheck, onResult: OnResult): Promise<HealthAnswer> {
  return (await runCheck(endpoint, check, onResult))
    ? answer(200, 'ok')
    : answer(500, 'internal server error: reason withheld\n');
}

function excludeWarning(unknown: ReadonlySet<string>): string {
  if (unknown.size === 0) return '';
  const names = [...unknown].sort().map(name => JSON.stringify(name));
  return `warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`;
}

async function answerAll(
  endpoint: HealthEndpoint,
  query: URLSearchParams,
  checks: readonly HealthCheck[],
  onResult: OnResult,
): Promise<HealthAnswer> {
  const unknown = new Set(query.getAll('exclude'));
  const excluded = checks.map(check => unknown.delete(check.name));
  const passed = await Promise.all(checks.map((check, i) => excluded[i] || runCheck(endpoint, check, onResult)));
  const line = ({ name }: HealthCheck, i: number): string =>
    excluded[i] ? `[+]${name} excluded: ok\n` : passed[i] ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
  const text = checks.map(line).join('') + excludeWarning(unknown);
  if (passed.includes(false)) return answer(500, `${text}${endpoint} check failed\n`);
  return answer(200, query.has('verbose') ? `${text}${endpoint} check passed\n` : 'ok');
}

/**
 * Runs the checks of a health endpoint. `path` is the part after `/livez`: empty for all checks, `/name` for one.
 * `query` is the raw query string: `verbose` prints every check, each `exclude` names a check to skip. The status is
 * 200 if healthy, 500 if not, and 404 if there is no such check.
 */
export async function healthAnswer(
  endpoint: HealthEndpoint,
  path: string,
  query: string,
  checks: readonly HealthCheck[],
  onResult: OnResult = () => {},
): Promise<HealthAnswer> {
  const endpointChecks = checks.filter(check => check.of.includes(endpoint));
  if (path === '') return answerAll(endpoint, new URLSearchParams(query), endpointChecks, onResult);
  const check = endpointChecks.find(({ name }) => path === `/${name}`);
  return check ? answerOne(endpoint, check, onResult) : answer(404, '404 page not found\n');
}
