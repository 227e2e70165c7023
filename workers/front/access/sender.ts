import type { Exchange } from '../../../core/api/listener.js';
import type { Trail } from '../../../core/api/observe/decisions.js';
import type { User } from '../../../core/model/user.js';
import type { Route } from '../../../core/request/route.js';
import type { Identity, Permission } from './access.js';
import type { Usage } from '../fairness/usage.js';

/** The sender of a request, as far as the front end knows it. The pool's findings are added to it. */
export interface Sender {
  /** The credentials as a key of the cache; undefined for a controller, whose requests come from inside the server. */
  readonly credentials?: string;
  /** The remembered identity of the credentials. */
  identity?: Identity;
  /** Undefined until the sender is authenticated. */
  user?: User;
  /** The usage of all unknown senders until the sender is authenticated. */
  usage: Usage;
  /** The permission for this request, remembered or found by the pool; undefined until it is allowed. */
  permission?: Permission | undefined;
  /** The user who acts as `user`. */
  impersonator?: User;
  /** The plugin that has authenticated the sender, if its identity is not remembered. */
  authenticator?: string | undefined;
  /** The trail of the last job that was refused or changed something, and the key that it wrote. */
  trail?: Trail;
  key?: string | undefined;
  /** Annotations of the audit event about the credentials. */
  annotations?: Readonly<Record<string, string>>;
  /** Annotations of the audit event from admission. */
  admission?: Readonly<Record<string, string>>;
  /** Name of the object that the request has written. */
  written?: string;
  /** Warnings about the credentials, for the answer. */
  warnings?: readonly string[];
}

/** A request in the front end. */
export interface FrontRequest {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly sender: Sender;
}
