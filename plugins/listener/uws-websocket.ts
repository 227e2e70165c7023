import type { WebSocket } from '@uwsjs/core';
import type { ResponseStream } from '../../core/api/listener.js';
import { LOW_WATER } from './common.js';
import { CORKED_BYTES, flushAtTurnEnd } from './uws-write.js';

/** Close code of a stream that has ended as it should (RFC 6455, 7.4.1). */
const NORMAL = 1000;

/** What uWS keeps for a connection; it copies the members. */
export interface Kept {
  readonly stream: UwsWebSocket;
}

/**
 * A WebSocket on uWS. Messages wait here, not in uWS, once the socket stops taking them.
 */
export class UwsWebSocket implements ResponseStream {
  private socket: WebSocket<Kept> | undefined;
  private messages: Uint8Array[] = [];
  /** Bytes of `messages`. */
  private waiting = 0;
  private blocked = false;
  private queued = false;
  private ending = false;
  private high = false;
  private readonly drains: (() => void)[] = [];

  constructor(
    private readonly binary: boolean,
    /** Called once when the connection is gone; `ended`: because the stream was ended. */
    private readonly closed: (ended: boolean) => void,
  ) {}

  /** The handshake was answered. */
  open(socket: WebSocket<Kept>): void {
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

  end(): void {
    if (this.ending) return;
    this.ending = true;
    this.schedule();
  }

  abort(): void {
    this.socket?.close();
  }

  /** The socket has taken bytes again. */
  drain(): void {
    this.blocked = this.socket!.getBufferedAmount() > 0;
    this.flush();
  }

  /** The connection is gone. */
  lose(): void {
    const ended = this.ending && this.messages.length === 0;
    this.socket = undefined;
    this.ending = true;
    this.messages = [];
    this.waiting = 0;
    this.closed(ended);
  }

  /** Sends what the socket takes. */
  flush(): void {
    this.queued = false;
    const { socket } = this;
    if (!socket) return;
    let sent = 0;
    while (!this.blocked && sent < this.messages.length) {
      socket.cork(() => {
        for (let bytes = 0; sent < this.messages.length && bytes < CORKED_BYTES; sent++) {
          const message = this.messages[sent]!;
          socket.send(message, this.binary);
          bytes += message.length;
          this.waiting -= message.length;
        }
      });
      this.blocked = socket.getBufferedAmount() > 0;
    }
    this.messages = this.messages.slice(sent);
    if (this.high && this.unsent < LOW_WATER) {
      this.high = false;
      for (const listener of this.drains) listener();
    }
    if (this.ending && this.messages.length === 0 && !this.blocked) socket.end(NORMAL);
  }

  private get unsent(): number {
    return this.waiting + (this.socket?.getBufferedAmount() ?? 0);
  }

  private schedule(): void {
    if (this.queued || this.blocked || !this.socket) return;
    this.queued = true;
    flushAtTurnEnd(this);
  }
}
