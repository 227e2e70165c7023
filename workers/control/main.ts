import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { controller } from '../../core/api/control.js';
import type { InternalRequest, ResourceEvent } from '../../core/api/host.js';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal, type StatusBody } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import { hostOf } from '../../core/plugin/host.js';
import { Releases } from '../../core/plugin/releases.js';
import { logOf } from '../../core/plugin/log.js';
import { Informers } from '../../core/plugin/informers.js';
import { loadPlugins } from '../../core/plugin/load.js';
import { decodeStored } from '../../core/plugin/stored.js';
import type { ThreadData } from '../../core/threads/data.js';
import { collectGarbageSoon } from '../../core/threads/collect.js';
import { Entry, storageNameIn } from '../../core/threads/entry.js';
import { StoreFeed } from '../../core/threads/feed.js';
import { BufferCompactor } from '../../core/threads/bufferCompactor.js';
import type { ControllerResponse, FromControl, FromWriter, ToControl } from '../../core/threads/messages.js';
import { readSnapshot } from '../../core/threads/snapshot.js';
import { InFlight } from '../../core/threads/inFlight.js';
import { Election, LEASES } from './leader.js';

/** What the front end sends first: the port to the writer, and its counter. */
interface Start {
  readonly port: MessagePort;
  readonly counter: number;
  /** Other processes may have controllers on the same store. */
  readonly shared: boolean;
  /** Who this process is in elections. */
  readonly identity: string;
}

const data = workerData as ThreadData & { readonly start: Start };
const front = parentPort!;
const log = logOf('control', data.verbosity);
const { start } = data;
const listeners: EventListener[] = [];
const buffers = new BufferCompactor();
let started = false;
let loaded: () => void;
const snapshot = new Promise<void>(resolve => {
  loaded = resolve;
});
/** Keeps all objects: a deletion shows what was there. */
const informers = new Informers(() => feed.catchUp(), true);

/** `entry` is the object, or what a deletion left of it; the revision is the event's. */
function eventOf(entry: Entry, type: ResourceEvent['type'], revision: number): ResourceEvent {
  let object: ApiObject | undefined;
  let bytes: Buffer | undefined;
  return {
    type,
    storageName: storageNameIn(entry.key),
    namespace: entry.namespace,
    name: entry.name,
    revision,
    object: () => (object ??= decodeStored(entry.value)),
    mentions: text => (bytes ??= Buffer.from(entry.buffer, entry.byteOffset, entry.length)).includes(text),
  };
}

const tell = (message: FromControl): void => front.postMessage(message);

/** Revision of the last event. */
let seen = 0;

function apply(key: string, revision: number, entry: Entry | undefined): void {
  seen = Math.max(seen, revision);
  const before = informers.get(key);
  if (before) buffers.remove(before);
  if (entry) {
    buffers.add(entry);
    informers.set(entry);
  } else informers.delete(key, revision);
  if (election && key.startsWith(`${LEASES}/`)) leaseChanged(key);
  if (!started) return;
  if (entry) emit(eventOf(entry, before ? 'MODIFIED' : 'ADDED', revision));
  else if (before) emit(eventOf(before, 'DELETED', revision));
}

function tidy(): void {
  void buffers.compact(
    () => informers.entries(),
    // Whoever was replaced meanwhile is not accounted for any more.
    entry => (informers.get(entry.key) === entry ? entry : undefined),
    (entry, bytes) => entry.move(bytes),
  );
}

type EventListener = (event: ResourceEvent) => void;

/** Tells one controller. Its fault must neither keep an event from the others nor end the thread. */
function notify(listener: EventListener, event: ResourceEvent): void {
  try {
    listener(event);
  } catch (error) {
    log.error(
      { stack: (error as Error)?.stack ?? String(error), event: event.type, of: event.storageName },
      'a controller failed at an event',
    );
  }
}

function emit(event: ResourceEvent): void {
  for (const listener of listeners) notify(listener, event);
}

const feed: StoreFeed = new StoreFeed(
  start.port,
  new Int32Array(data.counters),
  start.counter,
  (message: FromWriter) => {
    if (message.is === 'snapshot') {
      readSnapshot(message.page, entry => apply(entry.key, entry.revision, entry));
      if (message.last) loaded();
    } else if (message.is === 'events') {
      for (const event of message.events) apply(event.key, event.revision, event.value && Entry.of(event));
      tidy();
    }
  },
);

const releases = new Releases();
const requests = new InFlight<(answer: ControllerResponse) => void>();
front.on('message', (answer: ToControl) => {
  if ('is' in answer) {
    void releases
      .run(log)
      .then(() => election?.close())
      .finally(() => tell({ is: 'closed' }));
    return;
  }
  requests.get(answer.requestId)?.(answer);
  requests.delete(answer.requestId);
});

const OPENING = '{'.charCodeAt(0);

/** One request through the whole pipeline, as the controller. */
function request(name: string, { method, path, contentType, body }: InternalRequest): Promise<ApiObject> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const requestId = requests.add(answer => {
      // Paths of kinds that are gone answer in plain text.
      if (answer.status >= 300 && answer.body[0] !== OPENING)
        return reject(new Refusal('NotFound', 'no such path', {}, answer.status));
      const object = answer.body.length > 0 ? decodeStored(answer.body) : ({} as ApiObject);
      if (answer.status < 300) return resolve(object);
      const status = object as unknown as StatusBody;
      reject(
        new Refusal(
          (status.reason ?? '') as never,
          status.message ?? `status ${answer.status}`,
          status.details,
          answer.status,
        ),
      );
    });
    front.postMessage({
      requestId,
      revision: seen,
      controller: name,
      method,
      path,
      contentType: contentType ?? 'application/json',
      body: bytes,
    });
  });
}

const host = hostOf(data, 'control', {
  onClose: releases.add,
  informer: name => informers.of(name),
  request,
  watch: listener => {
    listeners.push(listener);
    if (started) for (const entry of informers.entries()) notify(listener, eventOf(entry, 'ADDED', entry.revision));
  },
});

/** Where several processes share a store, the one whose controllers run. */
const election = start.shared
  ? new Election({
      identity: start.identity,
      naming: namingOf(data.naming),
      request: asking => request('leader-election', asking),
      lease: (namespace, name) => host('leader-election').informer(LEASES).get(namespace, name),
      now: Date.now,
      log: message => log.info({}, message),
      lost: () => tell({ is: 'demoted' }),
    })
  : undefined;

function leaseChanged(key: string): void {
  const [namespace = '', name = ''] = key.slice(LEASES.length + 1).split('/');
  election?.changed(namespace, name);
}

start.port.postMessage({ is: 'subscribe', prefixes: [''] });
await snapshot;
if (election) {
  // Whoever does not lead has nothing to start: the leader does it.
  void election.decided.then(leading => {
    if (leading) return;
    tell({ is: 'ready' });
    tell({ is: 'started', controller: 'rbac-bootstrap' });
  });
  await election.lead();
}
const plugins = await loadPlugins(data.plugins, 'control', host);
const controllers = plugins.at(controller);
started = true;
tell({ is: 'ready' });
for (const entry of informers.entries()) emit(eventOf(entry, 'ADDED', entry.revision));
await Promise.all(
  controllers.map(async one => {
    try {
      await one.start();
      tell({ is: 'started', controller: one.name });
    } catch (error) {
      log.error({ controller: one.name, stack: (error as Error).stack }, 'a controller did not start');
    }
  }),
);
collectGarbageSoon();
