/** The functions with which a thread of the pool runs jobs. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { authenticator, authorizer } from '../../core/api/access.js';
import type { Informer } from '../../core/api/host.js';
import { mutator, validator } from '../../core/api/admission.js';
import { converter } from '../../core/api/resource/conversion.js';
import { namingOf } from '../../core/naming.js';
import { CBOR_GATE, UNSAFE_DELETION_GATE } from '../../core/features/gates.js';
import { DynamicInformers, Informers } from '../../core/plugin/informers/informers.js';
import { liveRegistry } from '../../core/plugin/registry.js';
import { FollowedResources, storageNameOf } from '../../core/plugin/resourceNames.js';
import { checkSelections } from '../../core/plugin/selection.js';
import { monotonicTime, systemTime } from '../../core/runtime/clock.js';
import type { Resource } from '../../core/schema/resource.js';
import { RunningCalls } from '../../core/plugin/calls/runningCalls.js';
import { hasOnlyBuiltIns, type ThreadData } from '../../core/threads/data.js';
import type { FromPoolThread, ToPoolThread } from '../../core/threads/messages/lifecycle.js';
import type { JobOutcome } from '../../core/threads/messages/messages.js';
import {
  type Batch,
  type BatchOutcome,
  encodeWritten,
  packLate,
  packOutcomes,
  unpackJobs,
} from '../../core/threads/messages/jobs.js';
import { createRing, Ring } from '../../core/threads/messages/ring.js';
import { ObjectFeed } from '../../core/threads/objectFeed.js';
import { OwnProgress } from '../../core/threads/progress.js';
import { Run } from '../../core/threads/runs.js';
import { firstKeyIn } from '../../core/threads/entries/startPage.js';
import { runThread, type Started } from '../../core/threads/thread.js';
import { type BatchHandlers, BatchRunner } from './batches.js';
import { RecordingBudget } from './recordingBudget.js';
import type { Context } from './context.js';
import { claimStorageName } from './stages/claims.js';
import { Observations } from '../../core/threads/observations.js';
import { ServiceClients } from './serviceClients.js';

interface PoolStarted extends Started<ToPoolThread, FromPoolThread> {
  readonly runner: BatchRunner;
  /** The memory of runs. */
  readonly words: Int32Array;
}

/** Largest number of answers to Piscina that are held, each with the task of a job below LARGE_JOB_BYTES. */
const MOST_HELD = 16;

/**
 * The answers to Piscina about batches whose outcome was written: nobody waits for them, and each post wakes the front
 * end. So they are held until others are posted, or until there are MOST_HELD.
 */
class HeldAnswers {
  readonly #held: (() => void)[] = [];

  /** Resolves when the answer is to be posted. */
  hold(): Promise<undefined> {
    if (this.#held.length >= MOST_HELD) return Promise.resolve(this.release(undefined));
    return new Promise(resolve => this.#held.push(() => resolve(undefined)));
  }

  /** Releases all answers that are held. Returns its argument. */
  release<T>(answer: T): T {
    for (const resolve of this.#held.splice(0)) resolve();
    return answer;
  }
}

/**
 * Starts the thread, when it is told to begin on the port to the front end. Returns the function that runs a batch,
 * once the thread has started.
 */
export function start(port: MessagePort): (batch: Batch) => Promise<BatchOutcome | undefined> {
  const data = workerData as ThreadData;
  const running = RunningCalls.memory(data.plugins.length);
  const progress = OwnProgress.memory();
  const thread = startThread(port, running, new OwnProgress(progress));
  const memory = createRing();
  const ring = new Ring(memory);
  let next = 0;
  const answers = new HeldAnswers();
  port.postMessage({ is: 'loaded', running, progress, outcomes: memory } satisfies FromPoolThread);
  const runBatch = async ({ id, jobs, runs, isQuiet }: Batch): Promise<BatchOutcome | 'written' | undefined> => {
    const { runner, words } = await thread;
    const began = monotonicTime();
    const ofJobs = Run.unpack(words, runs);
    const running = unpackJobs(jobs).map((job, at) => ({ job, run: ofJobs[at]! }));
    const before = next;
    const write = (outcome: JobOutcome): void => {
      const bytes = encodeWritten(id, outcome, monotonicTime() - began);
      if (bytes && ring.write(next, bytes)) next = (next + 1) | 0;
    };
    const ended = await runner.run(id, running, isQuiet ? write : undefined);
    if (next !== before) return 'written';
    const [outcomes, transfer] = packOutcomes(ended);
    const answer: BatchOutcome = { outcomes, ms: monotonicTime() - began };
    // A plugin may end the thread before Piscina has taken a result: the outcome is posted to the front end directly.
    if (!hasOnlyBuiltIns(data)) {
      port.postMessage({ is: 'ended', batch: id, outcome: answer } satisfies FromPoolThread, transfer);
      return undefined;
    }
    if (transfer.length === 0) return answer;
    return move({ [transferableSymbol]: transfer, [valueSymbol]: answer }) as never;
  };
  return batch => runBatch(batch).then(answer => (answer === 'written' ? answers.hold() : answers.release(answer)));
}

/**
 * The storage names of the resources that the strategy of a resource reads, and of its claims if deletes may need to
 * know them. Throws an Error for a name that no resource can have.
 */
function readNames(resource: Resource, unsafeDeletion: boolean): string[] {
  const { storageName, strategy } = resource;
  const { reads = [], claims } = strategy;
  try {
    return [...reads.map(storageNameOf), ...(claims && unsafeDeletion ? [claimStorageName(resource)] : [])];
  } catch (error) {
    throw new Error(`the strategy of ${storageName}: reads: ${(error as Error).message}`);
  }
}

/**
 * The function by which strategies find the informer of a resource. It throws an Error for a resource that none reads.
 */
const readerOf =
  (informers: Informers) =>
  (call: string, resource: string): Informer => {
    const name = storageNameOf(resource);
    if (informers.has(name)) return informers.of(name);
    throw new Error(`${call}(${JSON.stringify(resource)}): it must be among the \`reads\` of the strategy`);
  };

const startThread = (port: MessagePort, running: SharedArrayBuffer, progress: OwnProgress): Promise<PoolStarted> =>
  runThread<ToPoolThread, FromPoolThread, PoolStarted>({
    kind: 'pool',
    name: 'pipeline',
    port,
    async start({ data, log, loadPlugins }, { writer, runs }, post) {
      const informers = new Informers(name => feed.catchUp(`${name}/`));
      const feed = new ObjectFeed(writer, data.counters, {
        apply(key, revision, entry) {
          if (entry) informers.set(entry);
          else informers.delete(key, revision);
          if (entry?.isReadable !== false) live.apply(entry ?? { key, revision });
        },
        addPage: page => !live.isDefinition(firstKeyIn(page)) && informers.addPage(page),
        find: key => informers.get(key),
      });
      const followed = new FollowedResources();
      const observations = new Observations(observed => post({ is: 'observed', observations: observed }));
      const services = new ServiceClients(post);
      const dynamicInformers = new DynamicInformers(informers, prefixes => feed.subscribe(prefixes));
      const plugins = await loadPlugins({
        running: new RunningCalls(running),
        informer: name => informers.of(name),
        followed,
        dynamicInformer: name => dynamicInformers.of(name),
        registry: () => live.current,
        onChange: (name, listener) => informers.onChange(name, listener),
        observe: (metric, labels, value) => observations.add(metric, labels, value),
        service: services.of,
      });
      const live = liveRegistry(data, plugins, log);
      const unsafeDeletion = data.features.includes(UNSAFE_DELETION_GATE);
      for (const resource of live.current.stored)
        for (const name of readNames(resource, unsafeDeletion)) informers.of(name);
      const read = readerOf(informers);
      const context: Context = {
        naming: namingOf(data.naming),
        cbor: data.features.includes(CBOR_GATE),
        unsafeDeletion,
        claimsOf: resource => informers.of(claimStorageName(resource)).list(),
        get registry() {
          return live.current;
        },
        authentication: plugins.at(authenticator),
        authorization: plugins.at(authorizer),
        mutate: plugins.at(mutator),
        validate: plugins.at(validator),
        conversion: plugins.at(converter),
        anonymous: data.anonymous,
        log,
        recording: new RecordingBudget(),
        tracksRequests: !hasOnlyBuiltIns(data),
        now: systemTime,
        lookup: (resource, namespace, name) => read('lookup', resource).get(namespace, name),
        listOf: resource => read('list', resource).list(),
        catchUp: () => feed.catchUp(),
      };
      const handlers: BatchHandlers = {
        propose: proposals => feed.post({ is: 'propose', proposals }),
        late(outcomes) {
          const [packed, transfer] = packLate(outcomes);
          post({ is: 'late', outcomes: packed }, transfer);
        },
      };
      const runner = new BatchRunner(context, handlers, progress);
      // A listener to changes gets all objects first. A reader waits for them when it reads.
      const needed = [...informers.prefixesWithListeners, ...live.prefixes];
      await feed.subscribe([...new Set([...informers.prefixes, ...live.prefixes])], needed);
      const served = new Set(live.current.stored.map(({ storageName }) => storageName));
      const warnings = [...checkSelections(plugins, live.current), ...followed.warnings(name => served.has(name))];
      return {
        ready: { is: 'ready', warnings },
        runner,
        words: new Int32Array(runs),
        take(message) {
          if (message.is !== 'load') services.take(message);
        },
      };
    },
  });
