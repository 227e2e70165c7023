import { ACCOUNT_BYTES, ACCOUNTS } from '../../../core/limits.js';
import { isReadable } from '../../../core/threads/entries/unreadable.js';
import { Account, type StoredObject } from './account.js';

/** The accounts that were used recently, by key. */
export class AccountCache {
  /** The least recently used ones come first. */
  readonly #accounts = new Map<string, Account>();
  /** The encoded bytes of all their objects. */
  #bytes = 0;

  has(key: string): boolean {
    return this.#accounts.has(key);
  }

  /** The account of a key, which counts as used now. */
  get(key: string): Account | undefined {
    const account = this.#accounts.get(key);
    if (account) {
      this.#accounts.delete(key);
      this.#accounts.set(key, account);
    }
    return account;
  }

  /** Takes an object as it is stored. Returns its account; undefined if there is none, or it cannot be read. */
  take(key: string, stored: StoredObject | undefined): Account | undefined {
    let account = this.#accounts.get(key);
    if (!stored || !isReadable(stored.value)) {
      this.delete(key);
      return undefined;
    }
    this.#bytes += stored.value.length - (account?.bytes ?? 0);
    if (account) account.read(stored);
    else this.#accounts.set(key, (account = new Account(key, stored)));
    return account;
  }

  delete(key: string): void {
    this.#bytes -= this.#accounts.get(key)?.bytes ?? 0;
    this.#accounts.delete(key);
  }

  /** Deletes accounts over the bounds. All of their charges must be written. */
  trim(): void {
    for (const key of this.#accounts.keys()) {
      if (this.#accounts.size <= ACCOUNTS && this.#bytes <= ACCOUNT_BYTES) return;
      this.delete(key);
    }
  }
}
