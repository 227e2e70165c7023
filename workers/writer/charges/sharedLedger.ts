import type { Outcome, Storage } from '../../../core/api/storage.js';
import { ACCOUNTS, WRITE_RETRIES } from '../../../core/limits.js';
import type { Proposal } from '../../../core/threads/messages/messages.js';
import { Account } from './account.js';

/**
 * Commits proposals with charges to a store that other servers charge as well: each in one transaction with the charged
 * objects, one after the other for each object. If another server has charged an object meanwhile, the transaction is
 * made again.
 */
export class SharedLedger {
  readonly #accounts = new Map<string, Account>();
  /** The last proposal of those that charge an object first, by its key. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(readonly storage: Pick<Storage, 'get' | 'commit'>) {}

  /** Commits a proposal. `failed`: the charge is refused, or another write was faster. Throws what the store throws. */
  commit(proposal: Proposal & { readonly charges: object }): Promise<Outcome> {
    const { key } = proposal.charges.items[0]!;
    const attempt = (): Promise<Outcome> => this.#commit(proposal);
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(attempt, attempt);
    this.#turns.set(key, turn);
    const end = (): void => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    };
    turn.then(end, end);
    return turn;
  }

  async #commit({ operations, charges }: Proposal & { readonly charges: object }): Promise<Outcome> {
    const { items } = charges;
    let revision = 0;
    for (let attempt = 0; attempt < WRITE_RETRIES; attempt++) {
      const accounts = await Promise.all(items.map(({ key }) => this.#accounts.get(key) ?? this.#read(key)));
      revision = Math.max(...accounts.map(account => account?.revision ?? 0));
      const isCharged = items.every((item, i) => {
        if (!accounts[i]?.permits(item)) return false;
        accounts[i].add(item);
        return true;
      });
      if (!isCharged) {
        await Promise.all(items.map(({ key }) => this.#read(key)));
        break;
      }
      const puts = Array.from(new Set(accounts), account => account!.put(charges));
      const [outcome] = await this.storage.commit([[...operations, ...puts]]);
      if (outcome!.is === 'committed') {
        for (const account of accounts) account!.written(outcome!.revision);
        return outcome!;
      }
      // Nothing was charged, or it is not known what was.
      await Promise.all(items.map(({ key }) => this.#read(key)));
      if (outcome!.is !== 'failed' || outcome!.index < operations.length) return outcome!;
    }
    return { is: 'failed', index: operations.length, revision };
  }

  /** Reads the account of a key as it is stored. */
  async #read(key: string): Promise<Account | undefined> {
    const stored = await this.storage.get(key);
    const known = this.#accounts.get(key);
    if (!stored) {
      this.#accounts.delete(key);
      return undefined;
    }
    if (known) {
      known.read(stored);
      return known;
    }
    const account = new Account(key, stored);
    if (this.#accounts.size >= ACCOUNTS) this.#accounts.clear();
    this.#accounts.set(key, account);
    return account;
  }
}
