import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { UpgradeOptions, WebSocketStream } from '../../core/api/listener.js';
import { STALLED_READER_MS, WEBSOCKET_IDLE_SECONDS, WEBSOCKET_MESSAGE_BYTES } from '../../core/limits.js';
import { clearInterval, setImmediate, setInterval } from '../../core/runtime/timers.js';
import { LOW_WATER } from './common.js';
import { IncomingMessages, NORMAL } from './inflow/messages.js';

/**
 * A valid handshake that has not been answered yet. Node no longer parses its connection. The connection is read until
 * the answer, because its end would not be noticed otherwise.
 */
export class Handshake {
  private early: Buffer;

  constructor(
    private readonly request: IncomingMessage,
    readonly socket: Socket,
    head: Buffer,
  ) {
    this.early = head;
    socket.on('data', this.keep).on('end', this.leave);
  }

  /** Whether the connection was lost, which Node tells by `close` in a later turn. */
  get isLost(): boolean {
    return !this.socket.readable || !this.socket.writable;
  }

  /** Answers with 101 and the chosen subprotocol. */
  accept(protocol: string | undefined): WebSocket {
    const { request, socket } = this;
    socket.off('data', this.keep).off('end', this.leave);
    let accepted: WebSocket | undefined;
    new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: WEBSOCKET_MESSAGE_BYTES,
      handleProtocols: () => protocol ?? false,
    }).handleUpgrade(request, socket, this.early, webSocket => {
      accepted = webSocket;
    });
    if (!accepted) throw new Error('a valid WebSocket handshake was refused');
    return accepted;
  }

  /** Keeps bytes that a client sends before the answer, up to the size of one message. */
  private readonly keep = (bytes: Buffer): void => {
    this.early = Buffer.concat([this.early, bytes]);
    if (this.early.length > WEBSOCKET_MESSAGE_BYTES) this.leave();
  };

  private readonly leave = (): void => void this.socket.destroy();
}

/** A WebSocket on `node:http`. Messages of one turn of the event loop are sent together. */
export class NodeWebSocket implements WebSocketStream {
  private corked = false;
  /** Whether nothing was received from the client since the last ping. */
  private isSilent = false;
  private ended = false;
  private readonly incoming: IncomingMessages;

  constructor(
    private readonly webSocket: WebSocket,
    private readonly socket: Socket,
    private readonly options: UpgradeOptions,
  ) {
    this.incoming = new IncomingMessages(options.receive, code => this.end(code), webSocket);
    const onReceive = (): void => {
      this.isSilent = false;
    };
    const pings = setInterval(() => this.ping(), (WEBSOCKET_IDLE_SECONDS * 1000) / 2).unref();
    webSocket.on('pong', onReceive).on('ping', onReceive);
    webSocket.on('message', (bytes, isBinary) => {
      onReceive();
      // A Buffer, as `binaryType` is by default.
      this.incoming.take(bytes as Buffer, isBinary);
    });
    // `close` follows, with a code for the error.
    webSocket.on('error', () => undefined);
    webSocket.on('close', () => {
      clearInterval(pings);
      this.incoming.stop();
    });
    socket.setTimeout(STALLED_READER_MS, () => this.webSocket.bufferedAmount > 0 && this.abort());
  }

  write(bytes: Uint8Array): number {
    if (this.webSocket.readyState !== this.webSocket.OPEN) return 0;
    if (bytes.length > 0) {
      this.cork();
      this.webSocket.send(bytes, { binary: this.options.messages === 'binary' });
    }
    return this.webSocket.bufferedAmount;
  }

  onDrain(listener: () => void): void {
    this.socket.on('drain', () => {
      if (this.webSocket.bufferedAmount < LOW_WATER) listener();
    });
  }

  end(code = NORMAL, reason = ''): void {
    this.ended = true;
    this.incoming.stop();
    // The socket must be read until the client has answered.
    this.webSocket.resume();
    this.webSocket.close(code, reason);
  }

  /** Calls back once when the connection is closed. `ended`: whether by `end`. */
  onClose(closed: (ended: boolean) => void): void {
    this.webSocket.on('close', () => closed(this.ended));
  }

  abort(): void {
    this.webSocket.terminate();
  }

  /** Closes a connection that did not answer the last ping. A client that still has bytes to read is not pinged. */
  private ping(): void {
    if (this.webSocket.bufferedAmount > 0) return;
    if (this.isSilent) this.abort();
    else this.webSocket.ping();
    this.isSilent = true;
  }

  private cork(): void {
    if (this.corked) return;
    this.corked = true;
    this.socket.cork();
    setImmediate(() => {
      this.corked = false;
      this.socket.uncork();
    });
  }
}
