import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../../core/api/index.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import { fetchKeys } from './provider.js';
import type { Issuer, ProviderKeys, PublicJwk } from './types.js';

/** Time before a provider that has not answered is asked again. */
const RETRY_MS = 10_000;
/** Time after which keys are fetched again, so that a key which its provider has withdrawn is not accepted for long. */
const RENEW_MS = 600_000;
/** Number of refreshes that a provider can be asked for at once, and the time after which one more is allowed. */
const REFRESHES = 10;
const REFRESH_MS = 6000;

/** A provider: its keys, or why there are none. */
class Provider {
  state: ProviderKeys = { error: 'oidc: authenticator not initialized: its provider has not answered yet' };
  #running: Promise<void> | undefined;
  #next: NodeJS.Timeout | undefined;
  #refreshes = REFRESHES;
  #refilledAt: number;
  #isClosed = false;

  constructor(
    readonly issuer: Issuer,
    readonly fetch: (issuer: Issuer) => Promise<readonly PublicJwk[]>,
    readonly now: () => number,
    readonly log: Log,
    /** Called when the state has changed. */
    readonly changed: () => void,
  ) {
    this.#refilledAt = now();
  }

  get hasKeys(): boolean {
    return 'keys' in this.state;
  }

  /** Fetches the keys, or waits for the fetch that runs. A provider without keys is asked again until it has some. */
  update(): Promise<void> {
    this.#running ??= this.#fetch().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /**
   * Fetches the keys again, if they still are those that were fetched at `fetchedAt`, and if that has not been done too
   * often: anyone can send tokens of unknown keys.
   */
  async refresh(fetchedAt: number | undefined): Promise<void> {
    if ('keys' in this.state && this.state.fetchedAt !== fetchedAt) return;
    if (this.#running) return await this.#running;
    const refills = Math.floor((this.now() - this.#refilledAt) / REFRESH_MS);
    this.#refreshes = Math.min(REFRESHES, this.#refreshes + refills);
    this.#refilledAt += refills * REFRESH_MS;
    if (this.#refreshes === 0) return;
    this.#refreshes--;
    await this.update();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#next);
  }

  async #fetch(): Promise<void> {
    clearTimeout(this.#next);
    const { url } = this.issuer;
    try {
      const keys = await this.fetch(this.issuer);
      const before = 'keys' in this.state ? this.state : undefined;
      if (before && isDeepStrictEqual(before.keys, keys)) return;
      // A refresh names the time of the keys that it replaces, so two fetches must differ in time.
      this.state = { keys, fetchedAt: Math.max(this.now(), (before?.fetchedAt ?? 0) + 1) };
      this.log.info({ issuer: url, keys: keys.length }, 'fetched the keys of an identity provider');
    } catch (error) {
      const why = (error as Error).message;
      this.log.warn({ issuer: url }, `cannot fetch the keys of an identity provider: ${why}`);
      // Keys that were fetched before stay valid.
      if (this.hasKeys) return;
      this.state = { error: `oidc: authenticator not initialized: ${why}` };
    } finally {
      if (!this.#isClosed)
        this.#next = setTimeout(() => void this.update(), this.hasKeys ? RENEW_MS : RETRY_MS).unref();
    }
    if (!this.#isClosed) this.changed();
  }
}

/** The parts of the server that providers use. */
export interface ProvidersHost {
  readonly now: () => number;
  readonly log: Log;
}

/** Providers of a configuration that may be used. */
export interface PreparedProviders {
  /** Resolves when each new provider has been asked once. Never rejects. */
  readonly attempted: Promise<unknown>;
  /** The issuers of new providers whose keys are not known. */
  missing(): readonly string[];
  /** Uses these providers from now on, and no others. */
  use(): void;
  /** Forgets the new providers. */
  drop(): void;
}

/** The providers of the issuers of a configuration. Their keys are fetched in the background. */
export class Providers {
  readonly #providers = new Map<string, Provider>();

  constructor(
    readonly host: ProvidersHost,
    /** Called when the keys of a provider have changed. */
    readonly changed: () => void,
    readonly fetch: (issuer: Issuer) => Promise<readonly PublicJwk[]> = fetchKeys,
  ) {}

  /** Begins to fetch the keys of these issuers, except those that are used already. */
  prepare(issuers: readonly Issuer[]): PreparedProviders {
    const next = new Map(issuers.map(issuer => [issuer.url, this.#reusable(issuer) ?? this.#make(issuer)]));
    const isNew = (provider: Provider): boolean => this.#providers.get(provider.issuer.url) !== provider;
    const begun = [...next.values()].filter(isNew);
    return {
      attempted: Promise.all(begun.map(provider => provider.update())),
      missing: () => begun.filter(provider => !provider.hasKeys).map(({ issuer }) => issuer.url),
      use: () => {
        const before = [...this.#providers.values()];
        this.#providers.clear();
        for (const [url, provider] of next) this.#providers.set(url, provider);
        for (const provider of before) if (next.get(provider.issuer.url) !== provider) provider.close();
      },
      drop: () => {
        for (const provider of begun) provider.close();
      },
    };
  }

  /** The keys of the issuers that are used, by URL. */
  get keys(): ReadonlyMap<string, ProviderKeys> {
    return new Map(Array.from(this.#providers, ([url, { state }]) => [url, state]));
  }

  /** See `Provider.refresh`. */
  async refresh(issuer: string, fetchedAt: number | undefined): Promise<void> {
    await this.#providers.get(issuer)?.refresh(fetchedAt);
  }

  close(): void {
    for (const provider of this.#providers.values()) provider.close();
  }

  /** The provider of an issuer, if its addresses and CA have not changed. */
  #reusable({ url, discoveryUrl, certificateAuthority }: Issuer): Provider | undefined {
    const known = this.#providers.get(url);
    const isSame =
      known?.issuer.discoveryUrl === discoveryUrl && known?.issuer.certificateAuthority === certificateAuthority;
    return isSame ? known : undefined;
  }

  #make(issuer: Issuer): Provider {
    const { now, log } = this.host;
    const provider: Provider = new Provider(issuer, this.fetch, now, log, () => {
      if (this.#providers.get(issuer.url) === provider) this.changed();
    });
    return provider;
  }
}
