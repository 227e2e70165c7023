import { WebSocket } from 'ws';
import { AGGREGATED_MESSAGE_BYTES, LIST_SLICE_BYTES } from '../../../core/limits.js';
import { BEARER_SUBPROTOCOL } from '../../../core/naming.js';
import { subprotocolsOf } from '../../../core/model/webSocket.js';
import { withResolvers } from '../../../core/runtime/withResolvers.js';
import { tlsOptionsOf } from '../../../core/services/webhooks/connections.js';
import { drainOf } from '../answers/drain.js';
import { answerWith, type ForwardedRequest, unreachable } from './forward.js';

/** Close codes that only describe how a connection ended: no close frame may carry them (RFC 6455, 7.4.1). */
const UNSENT_CODES: ReadonlySet<number> = new Set([1005, 1006, 1015]);

/** Whether the messages of a subprotocol are text: they are without a subprotocol, as in watches, and in base64. */
const isText = (subprotocol: string): boolean => subprotocol === '' || subprotocol.includes('base64');

/**
 * Passes a WebSocket on to another server: each message of one side is sent to the other as one message, and so is the
 * close code. Resolves when both are closed. If the other server refuses the handshake, the client gets its answer.
 */
export async function forwardSocket(request: ForwardedRequest): Promise<void> {
  const { exchange, endpoint, path, headers } = request;
  const { promise, resolve } = withResolvers<void>();
  const subprotocols = subprotocolsOf(exchange.headers()).filter(name => !BEARER_SUBPROTOCOL.test(name));
  const socket = new WebSocket(`wss://${new URL(endpoint.url).host}${path}`, subprotocols, {
    headers: grouped(headers.filter(([name]) => !name.startsWith('sec-websocket-') && name !== 'host')),
    maxPayload: AGGREGATED_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...tlsOptionsOf(endpoint),
  });
  exchange.onAbort(() => socket.terminate());
  socket.on('unexpected-response', (_sent, answer) => void answerWith(request, answer).then(resolve));
  socket.on('error', error => {
    unreachable(request, error);
    resolve();
  });
  socket.on('open', () => {
    const client = exchange.upgrade?.({
      messages: isText(socket.protocol) ? 'text' : 'binary',
      subprotocol: socket.protocol || undefined,
      receive: (message, isBinary) =>
        new Promise((taken, failed) =>
          socket.send(message, { binary: isBinary }, error => (error ? failed(error) : taken())),
        ),
    });
    if (!client) return socket.terminate();
    const drained = drainOf(exchange, client);
    socket.on('message', message => {
      if (client.write(message as Buffer) < LIST_SLICE_BYTES) return;
      socket.pause();
      void drained().then(() => socket.resume());
    });
    socket.on('close', (code, reason) => {
      if (UNSENT_CODES.has(code)) client.end();
      else client.end(code, reason.toString());
      resolve();
    });
  });
  await promise;
}

/** Groups the values of headers by name. */
function grouped(headers: readonly (readonly [string, string])[]): Record<string, string[]> {
  const all: Record<string, string[]> = Object.create(null);
  for (const [name, value] of headers) (all[name] ??= []).push(value);
  return all;
}
