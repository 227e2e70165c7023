import { Counter, type Registry } from 'prom-client';
import type { CredentialCounter } from '../../api/access.js';

const HELP: Readonly<Record<CredentialCounter, string>> = {
  serviceaccount_legacy_auto_token_uses_total: 'Uses of legacy tokens that were made automatically.',
  serviceaccount_legacy_manual_token_uses_total: 'Uses of legacy tokens that users made.',
  serviceaccount_legacy_tokens_total: 'Uses of legacy tokens of service accounts.',
  serviceaccount_stale_tokens_total: 'Uses of tokens of service accounts that should have been replaced.',
  serviceaccount_valid_tokens_total: 'Uses of tokens of service accounts that need not be replaced yet.',
};

/** Counts how credentials are used. Credentials that are in the caches are not counted again. */
export class CredentialMetrics {
  readonly #counters: ReadonlyMap<CredentialCounter, Counter>;

  constructor() {
    const names = Object.keys(HELP) as CredentialCounter[];
    this.#counters = new Map(names.map(name => [name, new Counter({ name, help: HELP[name], registers: [] })]));
  }

  register(registry: Registry): void {
    for (const counter of this.#counters.values()) registry.registerMetric(counter);
  }

  count(names: readonly CredentialCounter[]): void {
    for (const name of names) this.#counters.get(name)?.inc();
  }
}
