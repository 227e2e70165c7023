import {
  type Operation,
  type Outcome,
  type Storage,
  type Transaction,
  Unavailable,
} from '../../../core/api/storage.js';
import type { Proposal, ProposedCharge, Verdict } from '../../../core/threads/messages/messages.js';
import type { Account } from './account.js';
import { AccountCache } from './accountCache.js';
import type { ChargeWriter } from './ownership.js';

/** The commits of the writer, as the ledger uses them. */
export interface Commits {
  /** Commits a group and publishes its events with the verdicts that `verdictsOf` returns. */
  commit(
    group: readonly Transaction[],
    verdictsOf: (outcomes: readonly Outcome[]) => readonly Verdict[],
  ): Promise<readonly Outcome[]>;
  /** Publishes verdicts alone. */
  publish(verdicts: readonly Verdict[]): void;
  /** Resolves when all commits that have begun are published. */
  settled(): Promise<void>;
  verdictOn(proposal: Proposal, outcome: Outcome): Verdict;
}

const stale = ({ id }: Proposal): Verdict => ({ id, is: 'stale' });

const itemsOf = ({ charges }: Proposal): readonly ProposedCharge[] => charges?.items ?? [];

/** The accounts that have been charged recently, by key. */
class Accounts {
  readonly #known = new AccountCache();
  /** Keys whose objects are being read. */
  readonly #loading = new Set<string>();

  constructor(readonly storage: Pick<Storage, 'get'>) {}

  has(key: string): boolean {
    return this.#known.has(key) || this.#loading.has(key);
  }

  /**
   * Reads the objects that proposals charge and that are not known, once `settled` says that they are current. Returns
   * the errors of those that are not available, by key.
   */
  async load(proposals: readonly Proposal[], settled: () => Promise<void>): Promise<ReadonlyMap<string, Unavailable>> {
    const failures = new Map<string, Unavailable>();
    const absent = new Set(proposals.flatMap(itemsOf).flatMap(({ key }) => (this.#known.has(key) ? [] : [key])));
    if (absent.size === 0) return failures;
    // From here on, writes of these objects wait in the queue. Earlier ones must be stored before the objects are read.
    for (const key of absent) this.#loading.add(key);
    await settled();
    const read = async (key: string): Promise<void> => {
      try {
        this.#known.take(key, await this.storage.get(key));
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        failures.set(key, error);
      }
    };
    await Promise.all(Array.from(absent, read));
    for (const key of absent) this.#loading.delete(key);
    return failures;
  }

  /** Makes a charge, if all of its accounts permit it. */
  charge(items: readonly ProposedCharge[]): boolean {
    for (const [i, item] of items.entries()) {
      const account = this.#known.get(item.key);
      if (!account?.permits(item)) {
        this.refund(items.slice(0, i));
        return false;
      }
      account.add(item);
    }
    return true;
  }

  /** Takes a charge back. */
  refund(items: readonly ProposedCharge[]): void {
    for (const item of items) this.#known.get(item.key)?.add(item, true);
  }

  /** The accounts with charges that are not written. */
  changed(proposals: readonly Proposal[]): Account[] {
    const keys = new Set(proposals.flatMap(itemsOf).map(({ key }) => key));
    return Array.from(keys, key => this.#known.get(key)).filter(account => account?.isChanged === true) as Account[];
  }

  /** Updates the accounts from events of writes that are not the ledger's own. */
  learn(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.is !== 'committed') continue;
      for (const { key, value, revision } of outcome.events)
        if (this.#known.has(key)) this.#known.take(key, value && { value, modified: revision });
    }
  }

  /** To be called when no charge is left to write. */
  trim(): void {
    this.#known.trim();
  }
}

/**
 * Commits proposals with charges, and the other writes of the charged objects, one batch after the other: concurrent
 * charges of an object do not conflict, and a batch writes it once. A batch is committed as one group: first the
 * charged objects, each in a transaction of its own, then the proposals. So a crash in between may leave a charge
 * without its object, never an object without its charge. Charges of proposals that conflict with other
 * writes are taken back before their verdicts are published.
 */
export class Ledger {
  readonly #accounts: Accounts;
  readonly #queue: Proposal[] = [];
  #running: Promise<void> | undefined;

  constructor(
    storage: Pick<Storage, 'get'>,
    readonly commits: Commits,
  ) {
    this.#accounts = new Accounts(storage);
  }

  /** Whether the ledger commits a proposal: one with charges, or one that writes an object that is charged. */
  takes({ operations, charges }: Proposal): boolean {
    return charges !== undefined || operations.some(({ key }) => this.#accounts.has(key));
  }

  /** Commits proposals. Resolves when all that were added are committed. Throws the errors of the store. */
  add(proposals: readonly Proposal[]): Promise<void> {
    this.#queue.push(...proposals);
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      // Proposals keep their order: a batch ends where proposals of the other sort, with or without charges, begin.
      const isCharged = this.#queue[0]!.charges !== undefined;
      const end = this.#queue.findIndex(({ charges }) => (charges !== undefined) !== isCharged);
      const batch = this.#queue.splice(0, end < 0 ? this.#queue.length : end);
      if (isCharged) await this.#commitCharged(batch);
      else this.#accounts.learn(await this.#commit([], batch, () => true));
    }
  }

  /** Commits writes of the ledger, then proposals. Publishes the verdicts on those that `isFinal` selects. */
  #commit(
    puts: readonly Operation[],
    proposals: readonly Proposal[],
    isFinal: (outcome: Outcome) => boolean,
  ): Promise<readonly Outcome[]> {
    const group = [...puts.map(put => [put]), ...proposals.map(({ operations }) => operations)];
    return this.commits.commit(group, outcomes =>
      proposals.flatMap((proposal, i) => {
        const outcome = outcomes[puts.length + i]!;
        return isFinal(outcome) ? [this.commits.verdictOn(proposal, outcome)] : [];
      }),
    );
  }

  async #commitCharged(batch: readonly Proposal[]): Promise<void> {
    const failures = await this.#accounts.load(batch, () => this.commits.settled());
    const accepted: Proposal[] = [];
    const late: Verdict[] = [];
    for (const proposal of batch) {
      const items = itemsOf(proposal);
      const failed = items.find(({ key }) => failures.has(key));
      if (failed) late.push({ id: proposal.id, is: 'unavailable', message: failures.get(failed.key)!.message });
      else if (this.#accounts.charge(items)) accepted.push(proposal);
      else late.push(stale(proposal));
    }
    const outcomes = await this.#write(accepted, outcome => outcome.is !== 'failed');
    this.#accounts.learn(outcomes);
    const lost = accepted.filter((_, i) => outcomes[i]!.is !== 'committed');
    late.push(...accepted.filter((_, i) => outcomes[i]!.is === 'failed').map(stale));
    for (const proposal of lost) this.#accounts.refund(itemsOf(proposal));
    // The requests run again: by then, all threads must have seen the write that made them fail.
    await this.#write([], () => false, lost);
    if (late.length > 0) this.commits.publish(late);
    this.#accounts.trim();
  }

  /** Writes the accounts of `charged` that have changed, then proposals. Returns the outcomes of these. */
  async #write(
    proposals: readonly Proposal[],
    isFinal: (outcome: Outcome) => boolean,
    charged = proposals,
  ): Promise<readonly Outcome[]> {
    const accounts = this.#accounts.changed(charged);
    if (accounts.length === 0 && proposals.length === 0) return [];
    const writer: ChargeWriter = charged[0]!.charges!;
    const puts = accounts.map(account => account.put(writer));
    const outcomes = await this.#commit(puts, proposals, isFinal);
    for (const [i, account] of accounts.entries()) {
      const outcome = outcomes[i]!;
      if (outcome.is === 'committed') account.written(outcome.revision);
      else if (outcome.is === 'failed') throw new Error(`${account.key} was written beside the ledger of charges`);
    }
    return outcomes.slice(puts.length);
  }
}
