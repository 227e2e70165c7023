import type { JWTPayload } from 'jose';
import {
  type ApiObject,
  type Naming,
  type NewToken,
  recordAt,
  stringAt,
  type UnknownRecord,
  type User,
} from '../../../core/api/index.js';

/** An object in the claims of a token. */
export interface ClaimedObject {
  readonly name: string;
  /** Empty if it was not known when the token was made. */
  readonly uid: string;
}

/** The claims of a token about its account. */
export interface AccountClaims {
  readonly namespace: string;
  readonly account: ClaimedObject;
  readonly pod?: ClaimedObject | undefined;
  readonly secret?: ClaimedObject | undefined;
  readonly node?: ClaimedObject | undefined;
  /** Seconds since the epoch from which on the token should have been replaced. */
  readonly warnAfter?: number | undefined;
}

const claimed = ({ metadata: { name = '', uid } }: ApiObject): object => ({ name, ...(uid ? { uid } : {}) });

/** The user name of a service account. */
export const userNameOf = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

/** The claims of a new token except its issuer and id. */
export function claimsOf(token: NewToken, naming: Naming): JWTPayload {
  const { account, pod, secret, node, audiences, issuedAt, expiresAt, warnAfter } = token;
  const { namespace = '', name = '' } = account.metadata;
  return {
    aud: [...audiences],
    exp: expiresAt,
    iat: issuedAt,
    [naming.label('orchestrator.io')]: {
      namespace,
      ...(node ? { node: claimed(node) } : {}),
      ...(pod ? { pod: claimed(pod) } : {}),
      ...(secret ? { secret: claimed(secret) } : {}),
      serviceaccount: claimed(account),
      ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
    },
    nbf: issuedAt,
    sub: userNameOf(namespace, name),
  };
}

function objectIn(from: UnknownRecord, member: string): ClaimedObject | undefined {
  const found = recordAt(from, member);
  return found && { name: stringAt(found, 'name'), uid: stringAt(found, 'uid') };
}

/** Reads the claims about the account; undefined for a token without them. */
export function readClaims(payload: JWTPayload, naming: Naming): AccountClaims | undefined {
  const own = recordAt(payload, naming.label('orchestrator.io'));
  const account = own && objectIn(own, 'serviceaccount');
  if (!account) return undefined;
  const { warnafter } = own;
  return {
    namespace: stringAt(own, 'namespace'),
    account,
    pod: objectIn(own, 'pod'),
    secret: objectIn(own, 'secret'),
    node: objectIn(own, 'node'),
    warnAfter: typeof warnafter === 'number' ? warnafter : undefined,
  };
}

/** The user of an account, with the claims of its token about its origin. */
export function accountUser({ namespace, account, pod, node }: AccountClaims, id: string, naming: Naming): User {
  const extra = new Map<string, string[]>();
  const add = (name: string, value: string | undefined): void => {
    if (value) extra.set(naming.label(`authentication.orchestrator.io/${name}`), [value]);
  };
  add('credential-id', id && `JTI=${id}`);
  add('node-name', node?.name);
  if (node?.name) add('node-uid', node.uid);
  if (pod?.name && pod.uid) {
    add('pod-name', pod.name);
    add('pod-uid', pod.uid);
  }
  return {
    name: userNameOf(namespace, account.name),
    uid: account.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  };
}
