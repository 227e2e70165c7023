import type { CredentialUse } from '../../core/api/access.js';
import type { InternalRequest, Log } from '../../core/api/host.js';
import type { Exchange } from '../../core/api/listener.js';
import type { ControllerResponse, ControllerRequest } from '../../core/threads/messages/lifecycle.js';
import type { ApiObject } from '../../core/model/object.js';
import { writeJson } from '../../core/model/text/jsonText.js';
import type { User } from '../../core/model/user.js';
import type { Naming } from '../../core/naming.js';
import { answeredObject } from '../../core/request/answeredObject.js';
import type { Front } from './front.js';
import { type LocalAnswer, LocalExchange } from './localExchange.js';

/** The name in which the server records uses of credentials. */
const TRACKER = 'legacy-token-tracking';

/**
 * The identity of a controller: a service account of the system namespace. Without `ownRole` it may do everything, like
 * upstream's loopback client; with it, only what the roles of its account allow.
 */
export function controllerUser(name: string, naming: Naming, ownRole: boolean): User {
  const namespace = naming.component('orchestrator-system');
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: '',
    groups: [
      ...(ownRole ? [] : ['system:masters']),
      'system:serviceaccounts',
      `system:serviceaccounts:${namespace}`,
      'system:authenticated',
    ],
    extra: new Map(),
  };
}

/**
 * A request of the control thread as an exchange; `answer` gets the response of the front end. All controllers own
 * fields under one manager name, as upstream's do.
 */
export function internalExchange(
  request: ControllerRequest,
  answer: (response: ControllerResponse) => void,
  naming: Naming,
): Exchange {
  const headers = new Map([
    ['accept', 'application/json'],
    ['content-type', request.contentType],
    ['user-agent', `${naming.component('orchestrator-controller-manager')}/${request.controller}`],
  ]);
  const { method, path, body, requestId } = request;
  return new LocalExchange(
    { method, path, headers, body },
    { respond: ({ status, body: sent }) => answer({ requestId, status, body: sent }) },
  );
}

/** The identity of the server itself, upstream's loopback client. */
const SERVER_USER: User = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: new Map(),
};

/** Makes a request as the server itself, for its part `name`. Rejects with Refusal. */
export async function requestAsServer(
  front: Front,
  name: string,
  { method, path, contentType = 'application/json', body }: InternalRequest,
  naming: Naming,
): Promise<ApiObject> {
  const headers = new Map([
    ['accept', 'application/json'],
    ['content-type', contentType],
    ['user-agent', `${naming.component('orchestrator-apiserver')}/${name}`],
  ]);
  const bytes = body === undefined ? undefined : Buffer.from(writeJson(body));
  const answer = await new Promise<LocalAnswer>(respond => {
    front.handleAs(new LocalExchange({ method, path, headers, body: bytes }, { respond }), SERVER_USER);
  });
  return answeredObject(answer.status, answer.body);
}

/** Sets labels of an object as the server. A failure is logged. */
export function setLabels(
  front: Front,
  { path, set }: NonNullable<CredentialUse['labels']>,
  naming: Naming,
  log: Log,
): void {
  const request: ControllerRequest = {
    requestId: 0,
    revision: 0,
    controller: TRACKER,
    method: 'PATCH',
    path,
    contentType: 'application/merge-patch+json',
    body: Buffer.from(JSON.stringify({ metadata: { labels: set } })),
  };
  const reply = ({ status }: ControllerResponse): void => {
    if (status >= 300) log.warn({ path, status }, 'recording the use of credentials failed');
  };
  front.handleAs(internalExchange(request, reply, naming), controllerUser(TRACKER, naming, false));
}
