import { Aggregation } from '../../workers/front/aggregation/aggregation.js';
import type { BodySink, Exchange } from '../../core/api/listener.js';
import type { Log } from '../../core/api/host.js';
import { RequestMetrics } from '../../core/services/metrics/index.js';
import { namingOf } from '../../core/naming.js';
import { storageNameIn } from '../../core/threads/entries/entry.js';
import type { Grant, Job, JobResult } from '../../core/threads/messages/messages.js';
import { AccessCache } from '../../workers/front/access/access.js';
import { Collection } from '../../workers/front/state/collection.js';
import type { ReadContext } from '../../workers/front/reads/readContext.js';
import { Front } from '../../workers/front/front.js';
import { History } from '../../workers/front/state/history.js';
import { Loading } from '../../workers/front/state/loading.js';
import { JobCosts } from '../../workers/front/pool/jobCosts.js';
import { PoolClient } from '../../workers/front/pool/poolClient.js';
import { Proposals } from '../../workers/front/write/proposals.js';
import type { State } from '../../workers/front/state/state.js';
import { registryOf } from '../kinds/builtIn.js';
import { partly } from '../support/values.js';

/** A later turn of the event loop. */
export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** The user of each token in the pool; the anonymous user has no permissions. */
export const grantFor = (name: string): Grant => ({
  user: { name, uid: '', groups: [], extra: new Map() },
  identityFor: 'forever',
  objects: [],
  allowedFor: 'forever',
  resources: [],
  allowed: true,
});

/** A cache of objects without a writer: `put` stores an object at the next revision. */
export function fakeState(): State & { put(key: string, value?: string): void; revision: number; time: number } {
  const collections = new Map<string, Collection>();
  const history = new History(0, Number.POSITIVE_INFINITY);
  const loading = new Loading();
  loading.complete();
  const state = {
    time: 0,
    now: () => state.time,
    revision: 1,
    collections,
    history,
    loading,
    find: (key: string) => collections.get(storageNameIn(key))?.entries.get(key),
    put(key: string, value = 'object') {
      const name = storageNameIn(key);
      let collection = collections.get(name);
      if (!collection) collections.set(name, (collection = new Collection(name, new Map())));
      const event = { key, revision: ++state.revision, created: 1, value: Buffer.from(value) };
      history.add(collection.apply(event)!, 0);
    },
  };
  return state as unknown as ReturnType<typeof fakeState>;
}

/** A front end with the pool `run` and a writer that does not answer: the test sets the verdicts of `proposals`. */
export function fakeFront(run: (job: Job) => JobResult | Promise<JobResult>) {
  const registry = registryOf('neutral');
  const state = fakeState();
  const reads = partly<ReadContext>({
    naming: namingOf('neutral'),
    catchUp: () => undefined,
    mostRecent: () => undefined,
  });
  const access = new AccessCache({
    revision: () => state.revision,
    revisionOf: () => undefined,
    resource: () => undefined,
  });
  const proposals = new Proposals();
  const log = partly<Log>({ error: () => undefined });
  const front = new Front({
    registry: () => registry,
    state,
    pool: new PoolClient(
      { run: async job => run(job), runInTurn: async (_sender, take: () => Job) => run(take()), costs: new JobCosts() },
      access,
      () => 0,
    ),
    proposals,
    reads,
    paths: () => false,
    sites: () => new Map(),
    aggregation: new Aggregation(() => state, { services: {}, routesToEndpoints: false, refusesRedirects: true }, log),
    log,
    metrics: new RequestMetrics(),
    compression: true,
    decided: () => undefined,
  });
  return { front, proposals, access, state };
}

/** A request whose body arrives when the test says so. */
export interface Sent {
  readonly exchange: Exchange;
  readonly status: () => number | undefined;
  /** Delivers a part of the body, which takes no memory. Returns the result of the front end for it. */
  arrive(bytes: number): void | Promise<void>;
  /** Ends the body. */
  complete(): void;
  /** Disconnects the client. */
  leave(): void;
}

/** A POST of a namespace with a token. */
export function postOf(token: string, method = 'POST', path = '/api/v1/namespaces'): Sent {
  let sink: BodySink | undefined;
  const fail = (error: unknown): void => sink?.abort(error);
  let status: number | undefined;
  const headers = token === '' ? [] : [['authorization', `Bearer ${token}`] as const];
  const exchange = {
    method,
    path,
    query: '',
    aborted: false,
    header: () => undefined,
    headers: () => headers,
    body: (given: BodySink) => {
      sink = given;
    },
    respond: (given: number) => {
      status = given;
    },
  };
  return {
    exchange: exchange as unknown as Exchange,
    status: () => status,
    arrive(bytes) {
      try {
        return sink!.write(Object.defineProperty(new Uint8Array(0), 'length', { value: bytes }));
      } catch (error) {
        return fail(error);
      }
    },
    complete: () => sink!.close(),
    leave() {
      exchange.aborted = true;
      fail(new Error('the client closed the connection'));
    },
  };
}
