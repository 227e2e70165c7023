import { connect, type TLSSocket } from 'node:tls';

/** A TLS connection on which a test can send arbitrary bytes. */
export class RawConnection {
  /** Everything that the server has sent so far. */
  received = '';
  isClosed = false;
  readonly #socket: TLSSocket;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => (this.received += text));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.isClosed = true));
  }

  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
      socket.once('error', reject);
      socket.once('secureConnect', () => resolve(new RawConnection(socket)));
    });
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Stops reading, like a client that hangs. */
  stall(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** A request head; a header without a value is left out. */
export const headOf = (
  method: string,
  path: string,
  headers: { readonly [name: string]: string | number } = {},
): string =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
