import type { Outcome, Storage } from '../../../core/api/storage.js';
import { WRITE_RETRIES } from '../../../core/limits.js';
import type { Proposal } from '../../../core/threads/messages/messages.js';
import type { Account } from './account.js';
import { AccountCache } from './accountCache.js';

/**
 * Commits proposals with charges to a store that other servers charge as well: each in one transaction with the charged
 * objects, one after the other for each object. If another server has charged an object meanwhile, the transaction is
 * made again.
 */
export class SharedLedger {
  readonly #accounts = new AccountCache();
  /** The last proposal that charges an object, by its key. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(readonly storage: Pick<Storage, 'get' | 'commit'>) {}

  /**
   * Commits a proposal. `failed`: the charge is refused, or another write was faster. Throws the errors of the store.
   */
  commit(proposal: Proposal & { readonly charges: object }): Promise<Outcome> {
    const keys = proposal.charges.items.map(({ key }) => key);
    const before = Promise.allSettled(keys.map(key => this.#turns.get(key)));
    const turn = before.then(() => this.#attempt(proposal));
    for (const key of keys) this.#turns.set(key, turn);
    const end = (): void => {
      for (const key of keys) if (this.#turns.get(key) === turn) this.#turns.delete(key);
    };
    turn.then(end, end);
    return turn;
  }

  async #attempt(proposal: Proposal & { readonly charges: object }): Promise<Outcome> {
    try {
      return await this.#commit(proposal);
    } catch (error) {
      // The accounts may have a charge that is not stored.
      for (const { key } of proposal.charges.items) this.#accounts.delete(key);
      throw error;
    } finally {
      this.#accounts.trim();
    }
  }

  async #commit({ operations, charges }: Proposal & { readonly charges: object }): Promise<Outcome> {
    const { items } = charges;
    const readAll = (): Promise<(Account | undefined)[]> => Promise.all(items.map(({ key }) => this.#read(key)));
    for (let attempt = 0; attempt < WRITE_RETRIES; attempt++) {
      const accounts = await Promise.all(items.map(({ key }) => this.#accounts.get(key) ?? this.#read(key)));
      const isCharged = items.every((item, i) => {
        if (!accounts[i]?.permits(item)) return false;
        accounts[i].add(item);
        return true;
      });
      if (!isCharged) break;
      const puts = Array.from(new Set(accounts), account => account!.put(charges));
      const [outcome] = await this.storage.commit([[...operations, ...puts]]);
      if (outcome!.is === 'committed') {
        for (const account of accounts) account!.written(outcome!.revision);
        return outcome!;
      }
      // Nothing was charged, or the charges are unknown.
      await readAll();
      if (outcome!.is !== 'failed' || outcome!.index < operations.length) return outcome!;
    }
    const current = await readAll();
    return { is: 'failed', index: operations.length, revision: Math.max(0, ...current.map(one => one?.revision ?? 0)) };
  }

  /** Reads the account of a key as it is stored. */
  async #read(key: string): Promise<Account | undefined> {
    return this.#accounts.take(key, await this.storage.get(key));
  }
}
