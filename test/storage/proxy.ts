import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy whose connections a test can interrupt. With `mute`, answers of the server are dropped: requests
 * arrive, but replies do not.
 */
export class CuttingProxy {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  mute = false;
  /** New connections are refused. */
  closed = false;

  constructor(readonly target: number) {
    this.#server = createServer(client => {
      if (this.closed) {
        client.destroy();
        return;
      }
      const server = connect(this.target, '127.0.0.1');
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
      client.pipe(server);
      server.on('data', chunk => {
        if (!this.mute) client.write(chunk);
      });
    });
  }

  /** The port that it listens on. */
  listen(): Promise<number> {
    return new Promise(resolve => {
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as { port: number }).port));
    });
  }

  /** Interrupts every connection, like a network failure. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Interrupts all connections and refuses new ones until `heal`. */
  part(): void {
    this.closed = true;
    this.cut();
  }

  heal(): void {
    this.closed = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}
