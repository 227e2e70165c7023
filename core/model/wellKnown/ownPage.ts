/**
 * The header by which a page of the server's own origin says that it has sent a request. Pages of other origins cannot
 * set it unless the server allows it (Fetch, "CORS-preflight request"), and no page can give it to a WebSocket
 * handshake. A cookie counts only beside it.
 */
export const OWN_PAGE_HEADER = 'x-console';
