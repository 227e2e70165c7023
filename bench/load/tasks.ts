import type { Address } from './connection.js';

/** The same request over and over. */
export interface RepeatTask {
  readonly is: 'repeat';
  readonly address: Address;
  readonly path: string;
  readonly connections: number;
  readonly ms: number;
}

/** Every client reads every path with every token: first all of them once, then in a random order. */
export interface ManyTask {
  readonly is: 'many';
  readonly address: Address;
  readonly tokens: readonly string[];
  readonly paths: readonly string[];
  readonly connections: number;
  readonly ms: number;
}

/** What clients that write need to know. */
interface WriteTask {
  readonly address: Address;
  readonly namespace: string;
  readonly prefix: string;
  readonly bytes: number;
  readonly clients: number;
  readonly ms: number;
}

/** Creates of different ConfigMaps until the time is up or, with `count`, until so many are made. */
export interface CreateTask extends WriteTask {
  readonly is: 'create';
  readonly count?: number;
}

/** Updates of one ConfigMap per client, which it makes first. */
export interface UpdateTask extends WriteTask {
  readonly is: 'update';
}

/** Writers that update one object each, and watchers of the collection. */
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
}

/** The same at etcd itself: writer i has the key `/<namespace>/w<i>`, watchers all of the namespace. */
export interface EtcdFanoutTask {
  readonly is: 'etcdFanout';
  readonly url: string;
  readonly namespace: string;
  readonly bytes: number;
  readonly writers: number;
  readonly watchers: number;
  readonly ms: number;
}

/** Watches that nothing happens to, held until the parent says so. */
export interface IdleTask {
  readonly is: 'idle';
  readonly address: Address;
  readonly watchPath: string;
  readonly watchers: number;
}

/** Work for the load generator. */
export type Task = RepeatTask | ManyTask | CreateTask | UpdateTask | FanoutTask | EtcdFanoutTask | IdleTask;

/** What a task measured between its begin and its end. */
export interface Measured {
  readonly seconds: number;
  readonly operations: number;
  readonly bytes: number;
  /** Answers outside of 2xx. */
  readonly errors: number;
  /** Lags of deliveries or times of requests in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Watchers that were cut. */
  readonly dropped: number;
}

/** From the generator to the runner: the measured time begins, ends. */
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
