import { withoutBlanks } from './text/trailing.js';

/** Header names in lower case, with their values. */
type Headers = readonly (readonly [string, string])[];

/** A key: sixteen bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[A-Za-z0-9+/]{22}==$/;
/** A token (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** The version of the WebSocket protocol (RFC 6455, 4.1). */
export const WEBSOCKET_VERSION = '13';

/** The values of a header that may be repeated, as one list. */
function valuesOf(headers: Headers, name: string): string[] {
  const lists = headers.filter(([given]) => given === name).map(([, value]) => value);
  return lists.length === 0 ? [] : lists.join(',').split(',').map(withoutBlanks);
}

/** Whether a request asks to upgrade the connection to a WebSocket. */
export function asksForWebSocket(method: string, headers: Headers): boolean {
  return (
    method === 'GET' &&
    valuesOf(headers, 'upgrade').join().toLowerCase() === 'websocket' &&
    valuesOf(headers, 'connection').some(option => option.toLowerCase() === 'upgrade')
  );
}

/** The subprotocols that a handshake offers, in its order. */
export const subprotocolsOf = (headers: Headers): string[] => valuesOf(headers, 'sec-websocket-protocol');

/**
 * The message to the client of why a request for a WebSocket is not a valid handshake (RFC 6455, 4.2.1); undefined if
 * it is valid.
 */
export function handshakeFault(headers: Headers): string | undefined {
  if (valuesOf(headers, 'sec-websocket-version').join() !== WEBSOCKET_VERSION)
    return `Sec-WebSocket-Version: must be ${WEBSOCKET_VERSION}`;
  if (!KEY.test(valuesOf(headers, 'sec-websocket-key').join())) return 'Sec-WebSocket-Key: must be 16 bytes in base64';
  const offered = subprotocolsOf(headers);
  if (!offered.every(name => TOKEN.test(name)) || new Set(offered).size < offered.length)
    return 'Sec-WebSocket-Protocol: must be a list of different tokens';
  const hasBody = headers.some(
    ([name, value]) => name === 'transfer-encoding' || (name === 'content-length' && value !== '0'),
  );
  return hasBody ? 'a WebSocket handshake must not have a body' : undefined;
}
