import type { Address } from './connection.js';

/** Sends the same request repeatedly. */
export interface RepeatTask {
  readonly is: 'repeat';
  readonly address: Address;
  readonly path: string;
  /** The Accept header; JSON without it. */
  readonly accept?: string;
  readonly connections: number;
  readonly ms: number;
}

/** Reads every path with every token: first all of them once, then in random order. */
export interface ManyTask {
  readonly is: 'many';
  readonly address: Address;
  readonly tokens: readonly string[];
  readonly paths: readonly string[];
  readonly connections: number;
  readonly ms: number;
}

/** Options of all tasks that write. */
interface WriteTask {
  readonly address: Address;
  readonly namespace: string;
  readonly prefix: string;
  readonly bytes: number;
  readonly clients: number;
  readonly ms: number;
}

/** Creates different ConfigMaps until the time is up or, with `count`, until that many are created. */
export interface CreateTask extends WriteTask {
  readonly is: 'create';
  readonly count?: number;
}

/** Updates one ConfigMap per client, which it creates first. */
export interface UpdateTask extends WriteTask {
  readonly is: 'update';
}

/** Has writers update one object each, and watchers watch the collection. */
export interface FanoutTask {
  readonly is: 'fanout';
  readonly address: Address;
  readonly watchPath: string;
  /** Path of writer i is `<writePath>/w<i>`. */
  readonly writePath: string;
  readonly namespace: string;
  readonly bytes: number;
  readonly writers: number;
  readonly watchers: number;
  readonly ms: number;
  /** The number of watchers that read protobuf; without it, all read JSON. */
  readonly protobuf?: 'half' | 'all';
  /** Tokens that the watchers use in turn if one user may not have so many watches. */
  readonly tokens?: readonly string[];
}

/** The same with etcd itself: writer i has the key `/<namespace>/w<i>`, watchers watch all of the namespace. */
export interface EtcdFanoutTask {
  readonly is: 'etcdFanout';
  readonly url: string;
  readonly namespace: string;
  readonly bytes: number;
  readonly writers: number;
  readonly watchers: number;
  readonly ms: number;
}

/** Opens watches that get no events, until the parent sends `end`. */
export interface IdleTask {
  readonly is: 'idle';
  readonly address: Address;
  readonly watchPath: string;
  readonly watchers: number;
}

/** Opens watches at once from a revision, and waits until each has received a number of events. */
export interface ResumeTask {
  readonly is: 'resume';
  readonly address: Address;
  readonly watchPath: string;
  readonly watchers: number;
  readonly events: number;
}

/** A task of the load generator. */
export type Task =
  | ResumeTask
  | RepeatTask
  | ManyTask
  | CreateTask
  | UpdateTask
  | FanoutTask
  | EtcdFanoutTask
  | IdleTask;

/** Measurements between the messages `begin` and `end`. */
export interface Measured {
  readonly seconds: number;
  readonly operations: number;
  readonly bytes: number;
  /** The number of answers outside of 2xx. */
  readonly errors: number;
  /** The lags of deliveries, or the durations of requests, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** The number of watches that the server has closed. */
  readonly dropped: number;
}

/** Messages from the generator to its parent: the measured time begins, it ends, or the task has failed. */
export type Report =
  | { readonly is: 'begin' }
  | { readonly is: 'end'; readonly measured: Measured }
  | { readonly is: 'failed'; readonly message: string };

/** A ConfigMap of about `bytes` bytes of JSON. */
export function configMap(name: string, namespace: string, bytes: number, sentAt?: string): string {
  const fill = 'x'.repeat(Math.max(0, bytes - 350));
  const data = { ...(sentAt === undefined ? {} : { sentAt }), fill };
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data });
}
