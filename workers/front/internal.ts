import type { Exchange, ResponseStream } from '../../core/api/listener.js';
import type { ControllerResponse, ControllerRequest } from '../../core/threads/lifecycle.js';
import type { User } from '../../core/model/user.js';
import type { Naming } from '../../core/naming.js';

/**
 * The identity of a controller: a service account of the system namespace that may do everything, as upstream's
 * loopback client.
 */
export function controllerUser(name: string, naming: Naming): User {
  const namespace = naming.component('orchestrator-system');
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: '',
    groups: ['system:masters', 'system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: new Map(),
  };
}

/**
 * A request of the control thread as an exchange; `answer` gets what the front end responds. Controllers own fields
 * under one name, as upstream's.
 */
export function internalExchange(
  request: ControllerRequest,
  answer: (response: ControllerResponse) => void,
  naming: Naming,
): Exchange {
  const [path = '', query = ''] = request.path.split('?', 2);
  const headers = new Map([
    ['accept', 'application/json'],
    ['content-type', request.contentType],
    ['user-agent', `${naming.component('orchestrator-controller-manager')}/${request.controller}`],
  ]);
  return {
    method: request.method,
    path,
    query,
    header: name => headers.get(name),
    headers: () => [...headers],
    remoteAddress: '',
    secure: true,
    body: async () => request.body ?? new Uint8Array(0),
    respond: (status, _headers, body) =>
      answer({ requestId: request.requestId, status, body: body instanceof Uint8Array ? body : Buffer.concat(body) }),
    stream: (status, streamHeaders) => collect(status, streamHeaders, request, answer),
    onAbort: () => undefined,
    aborted: false,
  };
}

/** Long lists come as a stream: it is gathered. */
function collect(
  status: number,
  _headers: unknown,
  request: ControllerRequest,
  answer: (response: ControllerResponse) => void,
): ResponseStream {
  const pieces: Uint8Array[] = [];
  return {
    write(bytes) {
      pieces.push(bytes);
      return 0;
    },
    onDrain: listener => listener(),
    end: () => answer({ requestId: request.requestId, status, body: Buffer.concat(pieces) }),
    abort: () => undefined,
  };
}
