import { type ApiObject, type Controller, controller, type Host, type Plugin } from '../../../core/api/index.js';
import {
  BOOTSTRAP_TOKEN_TYPE,
  bootstrapTokenExpiry,
  bootstrapTokenOf,
} from '../../../core/model/wellKnown/bootstrapToken.js';
import { pathOf } from '../catalog.js';
import { WorkQueue } from '../queue.js';
import { Requests } from '../requests.js';

const SECRETS = 'core/secrets';
const CONFIG_MAPS = 'core/configmaps';
const INFO = 'cluster-info';
const SIGNATURE = 'jws-kubeconfig-';
/** Timers of Node.js end at once beyond this many milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls back when bootstrap tokens expire. */
class Expiries {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(
    readonly host: Host<'control'>,
    readonly expired: (name: string) => void,
  ) {
    host.onClose(() => {
      for (const timer of this.#timers.values()) clearTimeout(timer);
    });
  }

  /** Sets the time at which a token expires; absent: it does not. */
  set(name: string, at: number | undefined): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
    if (at === undefined || !Number.isFinite(at)) return;
    const wait = Math.min(Math.max(0, at - this.host.now()), LONGEST_TIMER_MS);
    const timer = setTimeout(() => this.expired(name), wait);
    timer.unref();
    this.#timers.set(name, timer);
  }
}

/** Removes the secrets of bootstrap tokens when they expire. */
class TokenCleaner implements Controller {
  readonly name = 'token-cleaner';
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  readonly #expiries: Expiries;
  readonly #namespace: string;

  constructor(readonly host: Host<'control'>) {
    this.#namespace = host.naming.component('orchestrator-system');
    this.#requests = new Requests(host, this.name);
    this.#queue = new WorkQueue({ name: this.name, log: host.log, workers: 1, handle: name => this.#clean(name) });
    this.#expiries = new Expiries(host, name => this.#queue.add(name));
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.host.watch(({ storageName, namespace, name, mentions }) => {
      if (storageName !== SECRETS || namespace !== this.#namespace) return;
      if (mentions?.(this.host.naming.label(BOOTSTRAP_TOKEN_TYPE)) !== false) this.#queue.add(name);
    });
    await this.#queue.idle();
  }

  async #clean(name: string): Promise<void> {
    const { host } = this;
    const secret = host.informer(SECRETS).get(this.#namespace, name);
    const isToken = secret?.['type'] === host.naming.label(BOOTSTRAP_TOKEN_TYPE);
    const expiry = isToken ? bootstrapTokenExpiry(secret) : Number.POSITIVE_INFINITY;
    if (!isToken || expiry > host.now()) return this.#expiries.set(name, expiry);
    const { uid, resourceVersion } = secret.metadata;
    await this.#requests.delete(pathOf({ apiVersion: 'v1', plural: 'secrets' }, this.#namespace, name), {
      preconditions: { uid, resourceVersion },
    });
  }
}

/**
 * A detached JWS of a text (RFC 7515, appendix F; A030 to A032). The key is the full token, which the verifier
 * has.
 */
async function signDetached(text: string, id: string, value: string): Promise<string> {
  const { FlattenedSign } = await import('jose');
  const { protected: head, signature } = await new FlattenedSign(Buffer.from(text))
    .setProtectedHeader({ alg: 'HS256', kid: id })
    .sign(Buffer.from(`${id}.${value}`));
  return `${head}..${signature}`;
}

/** Signs the kubeconfig of the ConfigMap `cluster-info` with each bootstrap token that may sign. */
class BootstrapSigner implements Controller {
  readonly name = 'bootstrap-signer';
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  readonly #expiries: Expiries;
  readonly #tokens: string;
  readonly #public: string;

  constructor(readonly host: Host<'control'>) {
    this.#tokens = host.naming.component('orchestrator-system');
    this.#public = host.naming.component('orchestrator-public');
    this.#requests = new Requests(host, this.name);
    this.#queue = new WorkQueue({ name: this.name, log: host.log, workers: 1, handle: () => this.#sign() });
    this.#expiries = new Expiries(host, () => this.#queue.add(INFO));
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.host.watch(({ storageName, namespace, name }) => {
      const isInfo = storageName === CONFIG_MAPS && namespace === this.#public && name === INFO;
      const isToken = storageName === SECRETS && namespace === this.#tokens && name.startsWith('bootstrap-token-');
      if (isInfo || isToken) this.#queue.add(INFO);
    });
    await this.#queue.idle();
  }

  async #sign(): Promise<void> {
    const found = this.host.informer(CONFIG_MAPS).get(this.#public, INFO);
    if (!found) return;
    const data = new Map(Object.entries(found.data ?? {}));
    const wanted = new Map([...data].filter(([key]) => !key.startsWith(SIGNATURE)));
    const text = data.get('kubeconfig');
    if (typeof text === 'string')
      for (const [id, value] of this.#signers()) wanted.set(`${SIGNATURE}${id}`, await signDetached(text, id, value));
    if (wanted.size === data.size && [...wanted].every(([key, value]) => data.get(key) === value)) return;
    await this.#requests.replace(pathOf({ apiVersion: 'v1', plural: 'configmaps' }, this.#public, INFO), {
      ...found,
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: Object.fromEntries(wanted),
    } as ApiObject);
  }

  /** Ids and secret halves of the tokens that may sign. */
  #signers(): (readonly [string, string])[] {
    const { host } = this;
    const type = host.naming.label(BOOTSTRAP_TOKEN_TYPE);
    const now = host.now();
    return host
      .informer(SECRETS)
      .list(this.#tokens)
      .flatMap(secret => {
        const token = bootstrapTokenOf(secret, type);
        if (!token?.signs || token.expiresAt <= now) return [];
        this.#expiries.set(token.id, token.expiresAt);
        return [[token.id, token.value] as const];
      });
  }
}

/** Removes expired bootstrap tokens. */
export const tokenCleaner = {
  name: 'controllers/token-cleaner',
  parse: () => ({}),
  contribute: () => [controller.of(host => new TokenCleaner(host))],
} satisfies Plugin;

/** Signs `cluster-info` with bootstrap tokens. */
export const bootstrapSigner = {
  name: 'controllers/bootstrap-signer',
  parse: () => ({}),
  contribute: () => [controller.of(host => new BootstrapSigner(host))],
} satisfies Plugin;
