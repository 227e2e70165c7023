/**
 * The header with which a page of the server's own origin marks its requests. Pages of other origins cannot set it
 * unless the server allows it (Fetch, "CORS-preflight request"), and no page can give it to a WebSocket handshake. A
 * cookie is accepted only together with it.
 */
export const OWN_PAGE_HEADER = 'x-console';
