import type { WebSocket } from '@uwsjs/core';
import type { UpgradeOptions, WebSocketStream } from '../../core/api/listener.js';
import { LOW_WATER, StallTimer } from './common.js';
import { IncomingMessages, NORMAL } from './inflow/messages.js';
import { CORKED_BYTES, flushInRound } from './uwsWrite.js';

/** The user data of a connection. uWS copies its members. */
export interface UserData {
  readonly stream: UwsWebSocket;
}

/**
 * A WebSocket on uWS. While the socket is full, messages wait here and not in uWS. uWS cannot stop reading a WebSocket,
 * so messages of the client wait here as well.
 */
export class UwsWebSocket implements WebSocketStream {
  private socket: WebSocket<UserData> | undefined;
  private messages: Uint8Array[] = [];
  /** Total bytes of `messages`. */
  private waiting = 0;
  private blocked = false;
  private queued = false;
  private ending = false;
  private close: { readonly code: number; readonly reason: string } = { code: NORMAL, reason: '' };
  private high = false;
  private readonly drains: (() => void)[] = [];
  private readonly incoming: IncomingMessages;
  /** Also ends connections that are to be closed: a client may continue to send and never read the close code. */
  private readonly stall = new StallTimer(() => this.abort());

  constructor(
    private readonly options: UpgradeOptions,
    /** Called once when the connection is closed. `ended`: whether by `end`, with all messages sent. */
    private readonly closed: (ended: boolean) => void,
  ) {
    this.incoming = new IncomingMessages(options.receive, code => this.end(code));
  }

  /** Call when the handshake was answered. */
  open(socket: WebSocket<UserData>): void {
    this.socket = socket;
    this.schedule();
  }

  write(bytes: Uint8Array): number {
    if (this.ending) return 0;
    if (bytes.length > 0) {
      this.messages.push(bytes);
      this.waiting += bytes.length;
      this.schedule();
    }
    const { unsent } = this;
    if (unsent >= LOW_WATER) this.high = true;
    return unsent;
  }

  onDrain(listener: () => void): void {
    this.drains.push(listener);
  }

  end(code = NORMAL, reason = ''): void {
    if (this.ending) return;
    this.ending = true;
    this.close = { code, reason };
    this.incoming.stop();
    this.schedule();
  }

  abort(): void {
    this.socket?.close();
  }

  /** Call with a message of the client. It is copied, because its memory belongs to uWS. */
  take(message: ArrayBuffer, isBinary: boolean): void {
    if (!this.ending) this.incoming.take(new Uint8Array(message.slice(0)), isBinary);
  }

  /** Call when the socket has accepted bytes again. */
  drain(): void {
    this.stall.stop();
    this.blocked = this.socket!.getBufferedAmount() > 0;
    this.flush();
  }

  /** Call when the connection is closed. */
  lose(): void {
    this.stall.stop();
    const ended = this.ending && this.messages.length === 0;
    this.socket = undefined;
    this.ending = true;
    this.messages = [];
    this.waiting = 0;
    this.incoming.stop();
    this.closed(ended);
  }

  /** Sends as many messages as the socket accepts. */
  flush(): void {
    this.queued = false;
    const { socket } = this;
    if (!socket) return;
    const isBinary = this.options.messages === 'binary';
    let sent = 0;
    while (!this.blocked && sent < this.messages.length) {
      socket.cork(() => {
        for (let bytes = 0; sent < this.messages.length && bytes < CORKED_BYTES; sent++) {
          const message = this.messages[sent]!;
          socket.send(message, isBinary);
          bytes += message.length;
          this.waiting -= message.length;
        }
      });
      this.blocked = socket.getBufferedAmount() > 0;
    }
    this.messages = this.messages.slice(sent);
    if (this.blocked) this.stall.start();
    if (this.high && this.unsent < LOW_WATER) {
      this.high = false;
      for (const listener of this.drains) listener();
    }
    if (this.ending && this.messages.length === 0 && !this.blocked) socket.end(this.close.code, this.close.reason);
  }

  private get unsent(): number {
    return this.waiting + (this.socket?.getBufferedAmount() ?? 0);
  }

  private schedule(): void {
    if (this.queued || this.blocked || !this.socket) return;
    this.queued = true;
    flushInRound(this);
  }
}
