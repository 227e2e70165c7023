import type { HealthCheck } from '../api/control.js';

/** Endpoints of the health protocol (spec 1, "Health endpoints"). */
export type HealthEndpoint = HealthCheck['of'][number];

/** A plain-text answer. */
export interface HealthAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

/** Told how every check went, with the reason of a failure for the log; clients never see it. */
export type OnResult = (endpoint: HealthEndpoint, check: string, passed: boolean, reason?: unknown) => void;

const HEADERS = [
  ['content-type', 'text/plain; charset=utf-8'],
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-cache, private'],
] as const;

const answer = (status: number, text: string): HealthAnswer => ({ status, headers: HEADERS, text });

/** How long one check may take before it counts as failed. */
const CHECK_MILLISECONDS = 10_000;

async function withinTime(check: HealthCheck): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_MILLISECONDS} ms`)), CHECK_MILLISECONDS);
    timer.unref();
  });
  try {
    await Promise.race([check.check(), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function passes(endpoint: HealthEndpoint, check: HealthCheck, onResult: OnResult): Promise<boolean> {
  try {
    await withinTime(check);
  } catch (thrown) {
    onResult(endpoint, check.name, false, thrown);
    return false;
  }
  onResult(endpoint, check.name, true);
  return true;
}

async function single(endpoint: HealthEndpoint, check: HealthCheck, onResult: OnResult): Promise<HealthAnswer> {
  return (await passes(endpoint, check, onResult))
    ? answer(200, 'ok')
    : answer(500, 'internal server error: reason withheld\n');
}

function warning(unknown: ReadonlySet<string>): string {
  if (unknown.size === 0) return '';
  const names = [...unknown].sort().map(name => JSON.stringify(name));
  return `warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`;
}

async function every(
  endpoint: HealthEndpoint,
  query: URLSearchParams,
  checks: readonly HealthCheck[],
  onResult: OnResult,
): Promise<HealthAnswer> {
  const unknown = new Set(query.getAll('exclude'));
  const excluded = checks.map(check => unknown.delete(check.name));
  const passed = await Promise.all(checks.map((check, i) => excluded[i] || passes(endpoint, check, onResult)));
  const line = ({ name }: HealthCheck, i: number): string =>
    excluded[i] ? `[+]${name} excluded: ok\n` : passed[i] ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
  const text = checks.map(line).join('') + warning(unknown);
  if (passed.includes(false)) return answer(500, `${text}${endpoint} check failed\n`);
  return answer(200, query.has('verbose') ? `${text}${endpoint} check passed\n` : 'ok');
}

/**
 * The answer of a health endpoint. `path` is what follows `/livez`: empty for all checks, `/name` for one. `query` is
 * the raw query:
 * `verbose` with any value prints every check, each `exclude` names one check to skip. 200 means healthy, 500 not, 404
 * no such check.
 */
export async function healthAnswer(
  endpoint: HealthEndpoint,
  path: string,
  query: string,
  checks: readonly HealthCheck[],
  onResult: OnResult = () => {},
): Promise<HealthAnswer> {
  const own = checks.filter(check => check.of.includes(endpoint));
  if (path === '') return every(endpoint, new URLSearchParams(query), own, onResult);
  const check = own.find(({ name }) => path === `/${name}`);
  return check ? single(endpoint, check, onResult) : answer(404, '404 page not found\n');
}
