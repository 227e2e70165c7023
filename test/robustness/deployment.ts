import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Etcd, startEtcd } from '../storage/etcd.js';
import type { Endpoint } from './client.js';
import type { Violation } from './history.js';
import { FaultyProxy } from './proxy.js';
import type { Random } from './random.js';
import { ServerProcess } from './server.js';

export const BACKENDS = ['rocksdb', 'memory', 'etcd'] as const;
export type Backend = (typeof BACKENDS)[number];

/** A server with its proxy for clients. */
export interface Node {
  readonly server: ServerProcess;
  readonly proxy: FaultyProxy;
}

/** The system under test: one server, or two over one etcd. */
export class Deployment {
  readonly nodes: Node[] = [];
  etcd: Etcd | undefined;
  /** Servers that ended unexpectedly. */
  readonly violations: Violation[] = [];

  private constructor(readonly backend: Backend) {}

  /** `given`: further flags of the servers. */
  static async start(
    backend: Backend,
    directory: string,
    random: Random,
    given: readonly string[],
  ): Promise<Deployment> {
    const deployment = new Deployment(backend);
    try {
      const flags = [`--storage-backend=${backend}`, ...given];
      if (backend === 'etcd') {
        deployment.etcd = await startEtcd({ directory: join(directory, 'etcd') });
        flags.push(`--etcd-servers=${deployment.etcd.url}`);
      }
      for (let i = 0; i < (backend === 'etcd' ? 2 : 1); i++) {
        const dataDir = join(directory, `server-${i}`);
        mkdirSync(dataDir, { recursive: true });
        const server = new ServerProcess(dataDir, flags, message =>
          deployment.violations.push({ guarantee: 'alive', message: `server ${i} ${message}` }),
        );
        const node = { server, proxy: await FaultyProxy.start(random.fork()) };
        deployment.nodes.push(node);
        await deployment.startNode(node);
      }
      return deployment;
    } catch (error) {
      await deployment.close();
      throw error;
    }
  }

  /** Starts the server of a node if it is not running, and connects the node's proxy to it. */
  async startNode({ server, proxy }: Node): Promise<void> {
    if (!server.isRunning) await server.start();
    proxy.target = server.port;
  }

  /** The endpoint of client `i`: clients are distributed over the servers. */
  endpoint(i: number): Endpoint {
    const { server, proxy } = this.nodes[i % this.nodes.length]!;
    return { port: () => proxy.port, token: () => server.token };
  }

  /** Ends every fault, so that all processes run and all bytes are forwarded. */
  async heal(): Promise<void> {
    this.etcd?.resume();
    for (const node of this.nodes) {
      node.server.resume();
      node.server.steer({ delay: 0 });
      node.proxy.refuse(false);
      node.proxy.stall(false);
      node.proxy.cut('request', 0);
      node.proxy.cut('response', 0);
      await this.startNode(node);
    }
  }

  async close(): Promise<void> {
    for (const { server, proxy } of this.nodes) {
      await server.end('SIGKILL');
      await proxy.close();
    }
    await this.etcd?.kill();
  }
}
