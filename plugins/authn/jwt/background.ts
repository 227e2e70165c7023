import { isDeepStrictEqual } from 'node:util';
import type { Host, Service } from '../../../core/api/index.js';
import { readBounded, watchFiles } from '../../../core/files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { serverHash } from '../../../core/runtime/serverHash.js';
import { delay } from '../../../core/runtime/timers.js';
import { authenticatorOfFlags, type JwtConfig } from './config.js';
import { type FileContext, readAuthenticationFile } from './file.js';
import { Providers } from './providers.js';
import {
  type AuthenticationConfiguration,
  JWT_SERVICE,
  type JwtAuthenticator,
  type JwtState,
  type RefreshQuestion,
} from './types.js';

/** How long the providers that a changed file names may take to answer, before the change has failed; upstream's. */
const READY_MS = 60_000;
/** Time between two checks whether they have answered. */
const LOOK_MS = 250;

/** The gate of `anonymous` in the file. */
const ANONYMOUS_GATE = 'AnonymousAuthConfigurableEndpoints';

type ServiceHost = Pick<Host<'front'>, 'log' | 'now' | 'naming' | 'isEnabled' | 'onClose' | 'observe'>;

/** The facts that the file is checked against. */
const fileContextOf = (
  { ownIssuers }: Pick<JwtConfig, 'ownIssuers'>,
  { naming, isEnabled }: Pick<ServiceHost, 'naming' | 'isEnabled'>,
): FileContext => ({ naming, ownIssuers, allowsAnonymous: isEnabled(ANONYMOUS_GATE) });

/**
 * The part of the plugin in the main thread: watches the file, and gets the keys of the providers in the background.
 * Publishes JwtState, and answers RefreshQuestion.
 */
export class JwtService implements Service {
  readonly name = JWT_SERVICE;
  readonly #providers: Providers;
  readonly #server = serverHash();
  #authenticators: readonly JwtAuthenticator[] = [];
  #initial: AuthenticationConfiguration | undefined;
  #publish: (state: JwtState) => void = () => undefined;
  #isClosed = false;

  constructor(
    readonly config: JwtConfig,
    readonly host: ServiceHost,
    fetch?: ConstructorParameters<typeof Providers>[2],
  ) {
    this.#providers = new Providers(host, () => this.#publishState(), fetch);
    host.onClose(() => {
      this.#isClosed = true;
      this.#providers.close();
    });
  }

  async start(publish: (state: unknown) => void): Promise<void> {
    this.#publish = publish;
    const { file, flags } = this.config;
    if (flags) this.#authenticators = [await authenticatorOfFlags(flags, this.host.naming)];
    if (file !== undefined) {
      this.#initial = await this.#read(file);
      this.#authenticators = this.#initial.jwt;
    }
    // Not awaited: a provider that is down does not keep the server from starting.
    this.#providers.prepare(this.#authenticators.map(({ issuer }) => issuer)).use();
    this.#publishState();
    if (file === undefined) return;
    const watch = watchFiles([file], () => this.#reload(file));
    this.host.onClose(() => watch.close());
  }

  async ask(question: unknown): Promise<void> {
    const { issuer, fetchedAt } = question as RefreshQuestion;
    await this.#providers.refresh(issuer, fetchedAt);
  }

  #publishState(): void {
    this.#publish({ authenticators: this.#authenticators, keys: this.#providers.keys });
  }

  async #read(file: string): Promise<AuthenticationConfiguration> {
    return await readAuthenticationFile(
      await readBounded(file, CONFIG_FILE_BYTES),
      file,
      fileContextOf(this.config, this.host),
    );
  }

  /** Reads the changed file, and uses it if it is valid and its providers answer. Otherwise keeps the previous one. */
  async #reload(file: string): Promise<void> {
    const { log } = this.host;
    try {
      const next = await this.#read(file);
      if (!isDeepStrictEqual(next.anonymous, this.#initial?.anonymous))
        throw new Error(`${file}: anonymous: has changed since the start; restart the server to change it`);
      if (isDeepStrictEqual(next.jwt, this.#authenticators)) return;
      await this.#use(next.jwt, file);
    } catch (error) {
      this.#count('failure');
      log.error({ file }, `the authentication file is not used, and the former one stays: ${(error as Error).message}`);
      return;
    }
    this.#count('success');
    log.info({ file }, 'the authentication file has changed and is used');
  }

  async #use(authenticators: readonly JwtAuthenticator[], file: string): Promise<void> {
    const prepared = this.#providers.prepare(authenticators.map(({ issuer }) => issuer));
    const until = monotonicTime() + READY_MS;
    await prepared.attempted;
    while (prepared.missing().length > 0) {
      if (this.#isClosed || monotonicTime() > until) {
        prepared.drop();
        throw new Error(`${file}: no keys from the providers of ${prepared.missing().join(', ')}`);
      }
      await delay(LOOK_MS, { ref: false });
    }
    prepared.use();
    this.#authenticators = authenticators;
    this.#publishState();
  }

  #count(status: 'success' | 'failure'): void {
    const labels = { apiserver_id_hash: this.#server, status };
    const prefix = 'apiserver_authentication_config_controller_automatic_reload';
    this.host.observe(`${prefix}s_total`, labels, 1);
    this.host.observe(`${prefix}_last_timestamp_seconds`, labels, this.host.now() / 1000);
  }
}
