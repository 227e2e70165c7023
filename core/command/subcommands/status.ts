import { systemTime } from '../../runtime/clock.js';
import { numberAt, recordsAt, stringAt } from '../../model/record.js';
import { formatBytes, parseArguments, refuseOperands } from '../arguments.js';
import { formatAge } from '../client/format.js';
import { pathIn, ServedKinds, type ServedKind } from '../client/kinds.js';
import { metricsOf } from '../client/metrics.js';
import { AnswerError, ApiClient, refusedPathError, serverOf } from '../client/request.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { withProgress } from '../terminal/progress.js';
import { styleOf } from '../terminal/style.js';

/** The number of counts that are requested at once. */
const AT_ONCE = 8;

/** The number of objects of a kind; undefined if the user may not list them. */
async function countOf(client: ApiClient, kind: ServedKind): Promise<number | undefined> {
  try {
    const { body } = await client.ask({ method: 'GET', path: `${pathIn(kind, '')}?limit=1` });
    return recordsAt(body, 'items').length + (numberAt(body, 'metadata', 'remainingItemCount') ?? 0);
  } catch (error) {
    if (error instanceof AnswerError) return undefined;
    throw error;
  }
}

/** Objects of the server: `214 of 17 kinds; 83 kinds are served`. */
async function objectsLine(client: ApiClient): Promise<string> {
  const kinds = (await ServedKinds.of(client)).preferred.filter(({ verbs }) => verbs.includes('list'));
  const counts: number[] = [];
  let refused = 0;
  for (let i = 0; i < kinds.length; i += AT_ONCE) {
    const found = await Promise.all(kinds.slice(i, i + AT_ONCE).map(kind => countOf(client, kind)));
    refused += found.filter(count => count === undefined).length;
    counts.push(...found.filter(count => count !== undefined && count > 0).map(Number));
  }
  const sum = counts.reduce((total, count) => total + count, 0);
  const hidden = refused > 0 ? `; ${refused} may not be listed by this user` : '';
  return `${sum} of ${counts.length} kinds; ${kinds.length} kinds are served${hidden}`;
}

/** The failed checks in an answer to `/readyz?verbose`. */
const failedChecks = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter(line => line.startsWith('[-]'))
    .map(line => line.slice(3).split(' ')[0]!);

/** `capstan status`. Returns 0 if the server is ready, else 1. Rejects if it cannot be reached. */
export async function statusCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('status'));
  refuseOperands('status', parsed);
  const { values } = parsed;
  const style = styleOf();
  const access = serverOf(values);
  try {
    const client = new ApiClient(access);
    const { status, text } = await client.text('/readyz?verbose');
    if (status === 401 || status === 403) throw refusedPathError('/readyz', status);
    const isReady = status === 200;
    const line = (name: string, value: string): void => io.out(`${style.faint(name.padEnd(10))}${value}`);
    line('server', `${style.strong(access.server)}, release ${await releaseOf(client)}`);
    const failed = failedChecks(text).join(', ');
    line('ready', isReady ? style.good('yes') : style.bad(`no: ${failed || `the answer is ${status}`}`));
    if (!isReady) {
      io.err('the reasons are in the log of the server, on its standard error');
      return 1;
    }
    const metrics = await metricsOf(client);
    line('up', formatAge(systemTime() / 1000 - metrics.started));
    if (metrics.residentBytes > 0) line('memory', formatBytes(metrics.residentBytes));
    line('watches', String(metrics.watches));
    line('objects', await withProgress('counting objects', objectsLine(client)));
    return 0;
  } finally {
    access.close();
  }
}

async function releaseOf(client: ApiClient): Promise<string> {
  const { body } = await client.ask({ method: 'GET', path: '/version' });
  return stringAt(body, 'gitVersion') || 'unknown';
}
