import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ResponseStream } from '../../core/api/listener.js';
import { STALLED_READER_MS, WEBSOCKET_IDLE_SECONDS, WEBSOCKET_MESSAGE_BYTES } from '../../core/limits.js';
import { LOW_WATER } from './common.js';

/** Close code of a stream that has ended as it should (RFC 6455, 7.4.1). */
const NORMAL = 1000;

/**
 * A valid handshake that waits for its answer, on a connection that has left HTTP. The connection is read meanwhile,
 * because else nobody would notice its end.
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

  /** Answers with 101 and the subprotocol that was chosen. */
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

  /** Keeps what a client sends too early, as much as one message. */
  private readonly keep = (bytes: Buffer): void => {
    this.early = Buffer.concat([this.early, bytes]);
    if (this.early.length > WEBSOCKET_MESSAGE_BYTES) this.leave();
  };

  private readonly leave = (): void => void this.socket.destroy();
}

/** A WebSocket on `node:http`; the messages of one turn are corked into one write. */
export class NodeWebSocket implements ResponseStream {
  private corked = false;
  /** Nothing was heard of the client since the last ping. */
  private silent = false;
  private ended = false;

  constructor(
    private readonly webSocket: WebSocket,
    private readonly socket: Socket,
    private readonly binary: boolean,
  ) {
    const heard = (): void => {
      this.silent = false;
    };
    const pings = setInterval(() => this.ping(), (WEBSOCKET_IDLE_SECONDS * 1000) / 2).unref();
    webSocket.on('pong', heard).on('ping', heard).on('message', heard);
    // A close follows, with a code that says what was wrong.
    webSocket.on('error', () => undefined);
    webSocket.on('close', () => clearInterval(pings));
    socket.setTimeout(STALLED_READER_MS, () => this.webSocket.bufferedAmount > 0 && this.abort());
  }

  write(bytes: Uint8Array): number {
    if (this.webSocket.readyState !== this.webSocket.OPEN) return 0;
    if (bytes.length > 0) {
      this.cork();
      this.webSocket.send(bytes, { binary: this.binary });
    }
    return this.webSocket.bufferedAmount;
  }

  onDrain(listener: () => void): void {
    this.socket.on('drain', () => {
      if (this.webSocket.bufferedAmount < LOW_WATER) listener();
    });
  }

  end(): void {
    this.ended = true;
    this.webSocket.close(NORMAL);
  }

  /** Calls back once the connection is gone; `ended`: because the stream was ended. */
  onClose(closed: (ended: boolean) => void): void {
    this.webSocket.on('close', () => closed(this.ended));
  }

  abort(): void {
    this.webSocket.terminate();
  }

  /** Cuts a connection that has not answered the last ping; a reader that still has bytes to take is waited for. */
  private ping(): void {
    if (this.webSocket.bufferedAmount > 0) return;
    if (this.silent) this.abort();
    else this.webSocket.ping();
    this.silent = true;
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
