import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from './random.js';

/** A connection through the proxy. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/**
 * A TCP proxy between clients and a server that injects faults: it cuts connections in the middle of requests and
 * responses, refuses new ones, and delays bytes. Its address stays the same when the server restarts.
 */
export class FaultyProxy {
  readonly #pairs = new Set<Pair>();
  readonly #server: Server;
  #isRefusing = false;
  #isStalled = false;
  /** Number of chunks in each direction that will be cut in the middle. */
  readonly #cuts = { request: 0, response: 0 };
  /** Port of the server; 0: connections are refused. */
  target = 0;

  private constructor(readonly random: Random) {
    this.#server = createServer(client => this.#accept(client));
  }

  static async start(random: Random): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(random);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts the next `count` chunks of a direction in the middle, and ends their connections. */
  cut(direction: 'request' | 'response', count: number): void {
    this.#cuts[direction] = count;
  }

  /** Resets every connection. */
  cutAll(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  /** Resets new connections at once, or stops doing so. */
  refuse(refusing: boolean): void {
    this.#isRefusing = refusing;
  }

  /** Delays all bytes, or stops doing so. The connections stay open. */
  stall(stalled: boolean): void {
    this.#isStalled = stalled;
    for (const { client, server } of this.#pairs)
      for (const socket of [client, server]) stalled ? socket.pause() : socket.resume();
  }

  async close(): Promise<void> {
    this.cutAll();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #accept(client: Socket): void {
    client.on('error', () => {});
    if (this.#isRefusing || this.target === 0) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.target, '127.0.0.1');
    const pair = { client, server };
    this.#pairs.add(pair);
    this.#pipe(pair, client, server, 'request');
    this.#pipe(pair, server, client, 'response');
    if (this.#isStalled) client.pause();
  }

  #pipe(pair: Pair, from: Socket, to: Socket, direction: 'request' | 'response'): void {
    from.setNoDelay(true);
    from.on('error', () => {});
    from.on('close', () => {
      this.#pairs.delete(pair);
      to.destroy();
    });
    from.on('end', () => to.end());
    from.on('data', chunk => {
      if (this.#cuts[direction] > 0 && this.random.chance(0.3)) {
        this.#cuts[direction]--;
        to.write(chunk.subarray(0, this.random.between(0, chunk.length - 1)), () => {
          to.destroy();
          from.destroy();
        });
        return;
      }
      if (to.write(chunk)) return;
      from.pause();
      to.once('drain', () => !this.#isStalled && from.resume());
    });
  }
}
