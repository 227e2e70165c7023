import { setTimeout as sleep } from 'node:timers/promises';
import { check } from './check.js';
import { Client, type Collection, COLLECTIONS } from './client.js';
import type { Deployment } from './deployment.js';
import { injectFaults } from './faults.js';
import type { History, Violation, WatchSession } from './history.js';
import { endOf, type Ledger } from './ledger.js';
import type { Random } from './random.js';
import { COLORS, Controller, NAMES, type Round } from './traffic.js';
import { recordStream, resumeAfter, Watch, type WatchPlan } from './watcher.js';
import { checkSession } from './watches.js';

/** Longest duration of a stream, in seconds. The end of a round waits for it. */
const STREAM_SECONDS = 6;
/** The time in milliseconds that watches may take to catch up after all faults have ended. */
const CATCH_UP_MS = 60_000;

/** The first of a collection's watches: they cover the round from its start to its end. */
const FOLLOWING = 3;

/** The settings of a round. */
export interface RoundPlan {
  readonly deployment: Deployment;
  readonly namespace: string;
  readonly seconds: number;
  readonly clients: number;
  /** Calls per second of all clients. */
  readonly rate: number;
  readonly faults: readonly string[];
  readonly random: Random;
  /** Earlier rounds, in one of which a watch resumes. */
  readonly past: readonly PastRound[];
}

/** A completed round, in which a watch may resume. */
export interface PastRound {
  readonly namespace: string;
  readonly ledger: Ledger;
}

/** The result of a round. */
export interface RoundResult {
  readonly history: History;
  readonly ledger: Ledger;
  readonly violations: readonly Violation[];
  readonly faults: ReadonlyMap<string, number>;
  readonly unknown: number;
  /** Streams that resumed in earlier rounds, and how many of them had expired. */
  readonly late: { readonly streams: number; readonly expired: number };
}

/** Attempts of a call that must succeed. */
const ATTEMPTS = 20;

/** Repeats a call that a round needs until it succeeds. Throws after too many attempts. */
async function callUntilDone(
  client: Client,
  method: string,
  path: string,
  body?: object,
): Promise<{ metadata: { resourceVersion: string } }> {
  for (let attempt = 1; ; attempt++) {
    const answer = await client.call(method, path, body);
    if (answer.status === 200 || answer.status === 201 || (method === 'POST' && answer.status === 409))
      return answer.body as unknown as { metadata: { resourceVersion: string } };
    if (attempt === ATTEMPTS) throw new Error(`${method} ${path} failed ${ATTEMPTS} times: ${JSON.stringify(answer)}`);
    await sleep(250);
  }
}

/** The newest revision of lists from all servers, which is not below any acknowledged revision. */
async function currentRevision(clients: readonly Client[], namespace: string): Promise<number> {
  const lists = await Promise.all(clients.map(client => callUntilDone(client, 'GET', COLLECTIONS[0]!.path(namespace))));
  return Math.max(...lists.map(list => Number(list.metadata.resourceVersion)));
}

/**
 * The watches of a collection: some resume, with and without selectors, some start again, one returns to an older
 * revision.
 */
function watchPlans(round: Round, collection: Collection, random: Random): WatchPlan[] {
  const { base } = round.history;
  const resume = (before: WatchSession | undefined) => resumeAfter(before, base);
  return [
    { from: resume, seconds: STREAM_SECONDS },
    { from: resume, seconds: STREAM_SECONDS, form: 'partial' },
    { from: resume, seconds: STREAM_SECONDS, selector: { is: 'color', color: COLORS[0]! } },
    {
      from: before => resumeAfter(before, undefined),
      seconds: STREAM_SECONDS,
      selector: { is: 'color', color: COLORS[1]! },
    },
    {
      from: resume,
      seconds: STREAM_SECONDS,
      selector: { is: 'name', name: NAMES[collection.name.length % NAMES.length]! },
    },
    { from: () => undefined, seconds: 3, form: 'table' },
    { from: before => (before?.expired ? undefined : random.between(base, Math.max(base, round.newest))), seconds: 2 },
  ];
}

/** Waits until the watches have delivered everything up to `revision`. Returns those that do not, as violations. */
async function waitUntilCaughtUp(watches: readonly Watch[], revision: number): Promise<Violation[]> {
  const until = performance.now() + CATCH_UP_MS;
  const behind = (): Watch[] => watches.filter(watch => watch.reached < revision);
  while (behind().length > 0 && performance.now() < until) await sleep(50);
  return behind().map(({ collection, reached }) => ({
    guarantee: 'alive',
    message: `a watch of ${collection.name} is at revision ${reached} instead of ${revision} although all faults are over`,
  }));
}

/** Resumes a watch in the middle of an earlier round, and checks that it gets all of the rest, or 410. */
async function resumeInPast(client: Client, { namespace, ledger }: PastRound, random: Random) {
  const collection = random.pick(COLLECTIONS);
  const { base } = ledger.history;
  const from = random.between(base, ledger.newest);
  const session: WatchSession = {
    id: 0,
    collection: collection.name,
    from,
    start: performance.now(),
    events: [],
    bookmarks: [],
    expired: false,
  };
  await recordStream(client, collection, namespace, session, { seconds: 1 }, AbortSignal.timeout(20_000));
  return { violations: endOf(session) === from ? [] : checkSession(ledger, session), expired: session.expired };
}

/**
 * Runs traffic against a deployment while faults are injected, ends the faults, and checks the observations of clients.
 */
export async function runRound(plan: RoundPlan): Promise<RoundResult> {
  const { deployment, namespace, random } = plan;
  const admins = deployment.nodes.map((_, i) => new Client(deployment.endpoint(i)));
  await callUntilDone(admins[0]!, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const base = await currentRevision(admins, namespace);
  const history: History = { base, operations: [], listings: [], sessions: [] };
  const round: Round = { history, namespace, newest: base, operations: 0, writes: 0, unknown: 0, unexpected: [] };
  const clients = Array.from({ length: plan.clients }, (_, i) => new Client(deployment.endpoint(i)));
  const watchers = COLLECTIONS.map((_, i) => new Client(deployment.endpoint(i)));
  const watches = COLLECTIONS.map((collection, c) =>
    watchPlans(round, collection, random).map(
      (plan, i) =>
        new Watch(
          deployment.nodes.length > 1 ? watchers[i % watchers.length]! : watchers[c]!,
          collection,
          namespace,
          history,
          plan,
          random.fork(),
        ),
    ),
  );

  const stop = new AbortController();
  const faults = new Map<string, number>();
  const pause = (1000 * plan.clients) / plan.rate;
  const traffic = clients.map(client => new Controller(client, round, random.fork(), pause).run(stop.signal));
  const faulting = injectFaults(deployment, plan.faults, random.fork(), faults, stop.signal);
  const violations: Violation[] = [];
  const lateStreams = plan.past.length > 0 ? [await resumeInPast(admins[0]!, random.pick(plan.past), random)] : [];
  try {
    // If a server does not start again, the round ends immediately.
    await Promise.race([sleep(plan.seconds * 1000), faulting]);
    stop.abort();
    await faulting;
    await deployment.heal();
    await Promise.all(traffic);
    // Every server must accept writes again, and deliver them.
    for (const [i, admin] of admins.entries())
      await callUntilDone(admin, 'POST', COLLECTIONS[0]!.path(namespace), { metadata: { name: `end-${i}` } });
    const end = await currentRevision(admins, namespace);
    violations.push(
      ...(await waitUntilCaughtUp(
        watches.flatMap(group => group.slice(0, FOLLOWING)),
        end,
      )),
    );
  } catch (error) {
    violations.push({ guarantee: 'alive', message: (error as Error).message });
  } finally {
    stop.abort();
    await Promise.all(traffic);
    await Promise.all(watches.flat().map(watch => watch.stop()));
    await Promise.all([...admins, ...clients, ...watchers].map(client => client.close()));
  }
  violations.push(...deployment.violations.splice(0));

  const { ledger, violations: found } = check(history);
  violations.push(...found, ...lateStreams.flatMap(stream => stream.violations));
  violations.push(...round.unexpected.map(message => ({ guarantee: 'answer' as const, message })));
  return {
    history,
    ledger,
    violations,
    faults,
    unknown: round.unknown,
    late: { streams: lateStreams.length, expired: lateStreams.filter(stream => stream.expired).length },
  };
}
