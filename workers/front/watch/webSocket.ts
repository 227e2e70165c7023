import type { Exchange, ResponseStream } from '../../../core/api/listener.js';
import { nextTurn } from '../../../core/runtime/timers.js';
import { unauthorized } from '../../../core/model/wellKnown/senders.js';
import { asksForWebSocket, handshakeFault, subprotocolsOf } from '../../../core/model/webSocket.js';
import { BEARER_SUBPROTOCOL } from '../../../core/naming.js';
import { FRAME_LENGTH } from '../../../core/schema/protobuf/protobufWatch.js';
import type { EventForm } from './watchEvents.js';
import type { Headers } from '../answers/reply.js';

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Close codes (RFC 6455, 7.4.1): the watch has ended, the server is going away. */
const NORMAL = 1000;
const GOING_AWAY = 1001;

/**
 * The headers that identify the sender of a request. A WebSocket handshake without an Authorization header gets one
 * from the subprotocol with a token, because pages in browsers cannot set headers. Throws 401 for a token that cannot
 * be decoded, and if there is no other subprotocol: the server must answer with one, which must not be the token.
 *
 * The Origin header is ignored: cookies count only together with a header that no page can add to a handshake
 * (`OWN_PAGE_HEADER`), so that a page of any origin has the permissions of its token.
 */
export function credentialHeaders(exchange: Exchange): Headers {
  const headers = exchange.headers();
  const has = (name: string): boolean => headers.some(([given]) => given === name);
  if (!has('sec-websocket-protocol') || has('authorization')) return headers;
  const offered = subprotocolsOf(headers);
  const [bearer, ...more] = offered.filter(name => BEARER_SUBPROTOCOL.test(name));
  if (bearer === undefined || !asksForWebSocket(exchange.method, headers)) return headers;
  const token = bearer.replace(BEARER_SUBPROTOCOL, '');
  if (more.length > 0 || offered.length === 1 || !BASE64URL.test(token)) throw unauthorized();
  return [...headers, ['authorization', `Bearer ${Buffer.from(token, 'base64url').toString()}`]];
}

/** Describes for the client why a request for a WebSocket is not a valid handshake; undefined if it is valid. */
export const webSocketFault = (exchange: Exchange): string | undefined =>
  asksForWebSocket(exchange.method, exchange.headers()) ? handshakeFault(exchange.headers()) : undefined;

/**
 * Accepts the WebSocket handshake of a watch; undefined if the request is not a handshake. Each event is one message:
 * text for JSON, binary for protobuf, without the length that precedes a frame of a stream. The subprotocol is the
 * first one offered: none of them concerns watches, but browsers require one in the answer. Messages of the client are
 * discarded, one in each turn of the event loop, so that a client that sends many of them is slowed down.
 * `isShuttingDown`: whether the watch ends because the server does.
 */
export function acceptWebSocket(
  exchange: Exchange,
  form: EventForm,
  isShuttingDown: () => boolean,
): ResponseStream | undefined {
  const subprotocol = subprotocolsOf(exchange.headers()).find(name => !BEARER_SUBPROTOCOL.test(name));
  const isText = form.mediaType.startsWith('application/json');
  const socket = exchange.upgrade?.({ messages: isText ? 'text' : 'binary', subprotocol, receive: () => nextTurn() });
  return (
    socket && {
      write: isText ? bytes => socket.write(bytes) : bytes => socket.write(bytes.subarray(FRAME_LENGTH)),
      onDrain: listener => socket.onDrain(listener),
      end: () => socket.end(isShuttingDown() ? GOING_AWAY : NORMAL),
      abort: () => socket.abort(),
    }
  );
}
