import { setTimeout as sleep } from 'node:timers/promises';
import { check } from './check.js';
import { Client, type Collection, COLLECTIONS } from './client.js';
import type { Deployment } from './deployment.js';
import { breakThings } from './faults.js';
import type { History, Violation, WatchSession } from './history.js';
import { endOf, type Ledger } from './ledger.js';
import type { Random } from './random.js';
import { COLORS, Controller, NAMES, type Round } from './traffic.js';
import { following, type Lead, record, Watch } from './watcher.js';
import { checkSession } from './watches.js';

/** Longest stream of a watch, in seconds; a round's end waits for one to end. */
const STREAM_SECONDS = 6;
/** How long watches may take to catch up once everything works, in ms. */
const CATCH_UP_MS = 60_000;

/** The first of a collection's watches go on from the start of the round to its end. */
const FOLLOWING = 3;

/** What a round needs to know. */
export interface RoundPlan {
  readonly deployment: Deployment;
  readonly namespace: string;
  readonly seconds: number;
  readonly clients: number;
  /** Calls per second of all clients. */
  readonly rate: number;
  readonly faults: readonly string[];
  readonly random: Random;
  /** Rounds of before: a watch resumes in one of them. */
  readonly past: readonly Past[];
}

/** A round that is over, for watches that resume in it. */
export interface Past {
  readonly namespace: string;
  readonly ledger: Ledger;
}

/** What came of a round. */
export interface RoundResult {
  readonly history: History;
  readonly ledger: Ledger;
  readonly violations: readonly Violation[];
  readonly faults: ReadonlyMap<string, number>;
  readonly unknown: number;
  /** Streams that resumed in rounds of before, and how many of them had expired. */
  readonly late: { readonly streams: number; readonly expired: number };
}

/** Calls of something that must work, before a round gives up. */
const TRIES = 20;

/** Calls until it is answered with one of these statuses; for what a round needs to begin or end. */
async function insist(
  client: Client,
  method: string,
  path: string,
  body?: object,
): Promise<{ metadata: { resourceVersion: string } }> {
  for (let tries = 0; ; tries++) {
    const answer = await client.call(method, path, body);
    if (answer.status === 200 || answer.status === 201 || (method === 'POST' && answer.status === 409))
      return answer.body as unknown as { metadata: { resourceVersion: string } };
    if (tries === TRIES) throw new Error(`${method} ${path} was not answered: ${JSON.stringify(answer)}`);
    await sleep(250);
  }
}

/** The revision of a list by every server: above all that was acknowledged before. */
async function currentRevision(clients: readonly Client[], namespace: string): Promise<number> {
  const lists = await Promise.all(clients.map(client => insist(client, 'GET', COLLECTIONS[0]!.path(namespace))));
  return Math.max(...lists.map(list => Number(list.metadata.resourceVersion)));
}

/** The watches of a collection: full ones that go on, selected ones, ones that begin anew, ones that go back. */
function leads(round: Round, collection: Collection, random: Random): Lead[] {
  const { base } = round.history;
  const follow = (before: WatchSession | undefined) => following(before, base);
  return [
    { from: follow, seconds: STREAM_SECONDS },
    { from: follow, seconds: STREAM_SECONDS, form: 'partial' },
    { from: follow, seconds: STREAM_SECONDS, selector: { is: 'color', color: COLORS[0]! } },
    {
      from: before => following(before, undefined),
      seconds: STREAM_SECONDS,
      selector: { is: 'color', color: COLORS[1]! },
    },
    {
      from: follow,
      seconds: STREAM_SECONDS,
      selector: { is: 'name', name: NAMES[collection.name.length % NAMES.length]! },
    },
    { from: () => undefined, seconds: 3, form: 'table' },
    { from: before => (before?.expired ? undefined : random.between(base, Math.max(base, round.newest))), seconds: 2 },
  ];
}

/** Waits until the watches that go on have delivered everything up to `revision`. */
async function caughtUp(watches: readonly Watch[], revision: number): Promise<Violation[]> {
  const until = performance.now() + CATCH_UP_MS;
  const behind = (): Watch[] => watches.filter(watch => watch.reached < revision);
  while (behind().length > 0 && performance.now() < until) await sleep(50);
  return behind().map(({ collection, reached }) => ({
    guarantee: 'alive',
    message: `a watch of ${collection.name} stands at ${reached} although everything works and ${revision} was reached`,
  }));
}

/** Resumes a watch in the middle of a past round: it gets all of the rest, or is told that it expired. */
async function late(client: Client, { namespace, ledger }: Past, random: Random) {
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
  await record(client, collection, namespace, session, { seconds: 1 }, AbortSignal.timeout(20_000));
  return { violations: endOf(session) === from ? [] : checkSession(ledger, session), expired: session.expired };
}

/** Runs traffic against a deployment while it is being broken, lets it heal, and checks what clients saw. */
export async function runRound(plan: RoundPlan): Promise<RoundResult> {
  const { deployment, namespace, random } = plan;
  const admins = deployment.nodes.map((_, i) => new Client(deployment.endpoint(i)));
  await insist(admins[0]!, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const base = await currentRevision(admins, namespace);
  const history: History = { base, operations: [], listings: [], sessions: [] };
  const round: Round = { history, namespace, newest: base, operations: 0, writes: 0, unknown: 0, strange: [] };
  const clients = Array.from({ length: plan.clients }, (_, i) => new Client(deployment.endpoint(i)));
  const watchers = COLLECTIONS.map((_, i) => new Client(deployment.endpoint(i)));
  const watches = COLLECTIONS.map((collection, c) =>
    leads(round, collection, random).map(
      (lead, i) =>
        new Watch(
          deployment.nodes.length > 1 ? watchers[i % watchers.length]! : watchers[c]!,
          collection,
          namespace,
          history,
          lead,
          random.fork(),
        ),
    ),
  );

  const stop = new AbortController();
  const faults = new Map<string, number>();
  const pause = (1000 * plan.clients) / plan.rate;
  const working = clients.map(client => new Controller(client, round, random.fork(), pause).run(stop.signal));
  const breaking = breakThings(deployment, plan.faults, random.fork(), faults, stop.signal);
  const violations: Violation[] = [];
  const lateStreams = plan.past.length > 0 ? [await late(admins[0]!, random.pick(plan.past), random)] : [];
  try {
    // A server that does not start again ends the round at once.
    await Promise.race([sleep(plan.seconds * 1000), breaking]);
    stop.abort();
    await breaking;
    await deployment.heal();
    await Promise.all(working);
    // Every server must take writes again, and show them.
    for (const [i, admin] of admins.entries())
      await insist(admin, 'POST', COLLECTIONS[0]!.path(namespace), { metadata: { name: `end-${i}` } });
    const end = await currentRevision(admins, namespace);
    violations.push(
      ...(await caughtUp(
        watches.flatMap(group => group.slice(0, FOLLOWING)),
        end,
      )),
    );
  } catch (error) {
    violations.push({ guarantee: 'alive', message: (error as Error).message });
  } finally {
    stop.abort();
    await Promise.all(working);
    await Promise.all(watches.flat().map(watch => watch.stop()));
    await Promise.all([...admins, ...clients, ...watchers].map(client => client.close()));
  }
  violations.push(...deployment.violations.splice(0));

  const { ledger, violations: found } = check(history);
  violations.push(...found, ...lateStreams.flatMap(stream => stream.violations));
  violations.push(...round.strange.map(message => ({ guarantee: 'answer' as const, message })));
  return {
    history,
    ledger,
    violations,
    faults,
    unknown: round.unknown,
    late: { streams: lateStreams.length, expired: lateStreams.filter(stream => stream.expired).length },
  };
}
