import type { RequestOptions } from 'node:https';
import { systemTime } from '../runtime/clock.js';
import { withoutTrailing } from '../model/text/trailing.js';
import { Agents } from './agents.js';
import { runPlugin } from './execCredential.js';
import { readClientConfig } from './kubeconfig.js';
import type { ClientConfig, ClientCredentials } from './types.js';

/** How long credentials from files are used before the files are read again, in milliseconds; as in upstream. */
const FILES_MS = 60_000;

/**
 * Options of `loadCredentials`.
 *
 * @example
 * const options: LoadOptions = { kubeconfig: 'dev.kubeconfig', context: 'staging' };
 */
export interface LoadOptions {
  /** The path of a kubeconfig. */
  readonly kubeconfig: string;
  /** Absent: its current context. */
  readonly context?: string;
  /** Whether a plugin may read standard input. Absent: if it is a terminal. */
  readonly hasTerminal?: boolean;
}

/**
 * The credentials of a kubeconfig for its server. They are kept until they expire, until the server answers 401, or
 * until the process ends; then the plugin is run again, or the files are read again.
 *
 * @example
 * const access = loadCredentials({ kubeconfig: 'dev.kubeconfig' });
 * const credentials = await access.get();
 * const request = https.get(`${access.server}/api`, access.requestOptions(credentials), answer => {
 *   if (answer.statusCode === 401) access.refused(credentials);
 * });
 */
export interface ClientAccess {
  /** The URL of the server, without a slash at its end. */
  readonly server: string;
  /** The version of ExecCredential that the plugin uses; undefined without a plugin. */
  readonly execVersion: string | undefined;
  /**
   * The current credentials. Concurrent calls share one run of the plugin. Rejects with an Error that names the remedy.
   */
  get(): Promise<ClientCredentials>;
  /**
   * Options for `https.request`, or `http.request` for a server without TLS: CA, agent and header. Connections are kept
   * and reused, except those with another certificate or key.
   */
  requestOptions(credentials: ClientCredentials): RequestOptions;
  /**
   * To be called when the server has answered 401. Returns whether `get` may return other credentials from now on; the
   * refused request can then be sent again.
   */
  refused(credentials: ClientCredentials): boolean;
  /** Closes all connections. */
  close(): void;
}

/** Gets and keeps the credentials of a configuration. */
class Access implements ClientAccess {
  readonly server: string;
  readonly execVersion: string | undefined;
  readonly #agents: Agents;
  #kept: ClientCredentials | undefined;
  #until = Number.POSITIVE_INFINITY;
  #running: Promise<ClientCredentials> | undefined;

  constructor(
    readonly config: ClientConfig,
    readonly hasTerminal: boolean,
  ) {
    this.server = withoutTrailing(config.server.url, '/');
    this.execVersion = 'exec' in config.user ? config.user.exec.apiVersion : undefined;
    this.#agents = new Agents(config.server);
  }

  async get(): Promise<ClientCredentials> {
    if (this.#kept && systemTime() < this.#until) return this.#kept;
    this.#running ??= this.#load().finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  requestOptions(credentials: ClientCredentials): RequestOptions {
    const { token } = credentials;
    return {
      agent: this.#agents.agentFor(credentials),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    };
  }

  refused(credentials: ClientCredentials): boolean {
    const { user } = this.config;
    if (!('exec' in user || user.mayChange)) return false;
    // Another request may have been refused earlier, and new credentials may already be here.
    if (this.#kept === credentials) this.#kept = undefined;
    return true;
  }

  close(): void {
    this.#agents.close();
  }

  async #load(): Promise<ClientCredentials> {
    const { user } = this.config;
    const found = 'exec' in user ? await runPlugin(user.exec, this.hasTerminal) : user.read();
    const lasts = 'exec' in user || !user.mayChange ? Number.POSITIVE_INFINITY : systemTime() + FILES_MS;
    this.#until = found.expiresAt ?? lasts;
    this.#kept = found;
    return found;
  }
}

/**
 * Loads the credentials of a kubeconfig: a token, a client certificate, or the output of a credential plugin (spec,
 * "ExecCredential"). Throws ConfigError, which names the file and the field.
 *
 * @example
 * const access = loadCredentials({ kubeconfig: 'dev.kubeconfig' });
 */
export function loadCredentials({ kubeconfig, context, hasTerminal }: LoadOptions): ClientAccess {
  return new Access(readClientConfig(kubeconfig, context), hasTerminal ?? process.stdin.isTTY === true);
}
