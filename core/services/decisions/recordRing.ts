import type { DecisionRecord } from '../../api/observe/decisions.js';
import type { Target } from '../../model/target.js';
import type { User } from '../../model/user.js';

/** Bytes of a record besides its texts: its members, user and target, and its places in the ring and the index. */
export const RECORD_BYTES = 1000;
/** Bytes of a step or cause besides its texts. */
const PART_BYTES = 100;

function targetCharacters(target: Target): number {
  if (target.is === 'path') return target.path.length;
  const { group, version, resource, subresource, namespace, name, path } = target;
  return [group, version, resource, subresource, namespace, name, path].reduce((sum, { length }) => sum + length, 0);
}

/** An upper bound of the bytes that a record has in memory, without its users. */
export function recordBytes({ path, target, asked, refusal, opinions, steps, reason }: DecisionRecord): number {
  let characters = path.length + targetCharacters(target) + (asked ? targetCharacters(asked) : 0);
  characters += (reason?.length ?? 0) + (steps?.length ?? 0) + (refusal?.message.length ?? 0);
  let parts = 0;
  for (const { field, message } of refusal?.causes ?? []) {
    characters += field.length + message.length;
    parts++;
  }
  for (const { field, manager } of refusal?.conflicts ?? []) {
    characters += field.length + manager.length;
    parts++;
  }
  for (const { reason: why } of opinions ?? []) {
    characters += why?.length ?? 0;
    parts++;
  }
  return RECORD_BYTES + parts * PART_BYTES + 2 * characters;
}

/** An upper bound of the bytes that a user has in memory. */
function userBytes({ name, uid, groups, extra }: User): number {
  const texts = [name, uid, ...groups, ...Array.from(extra, ([key, values]) => [key, ...values]).flat()];
  return texts.reduce((bytes, text) => bytes + PART_BYTES + 2 * text.length, PART_BYTES);
}

/** A record with its number, which is greater for later ones, and its bytes in memory without its users. */
export interface NumberedRecord {
  readonly number: number;
  readonly record: DecisionRecord;
  readonly bytes: number;
}

/** The last records up to a number and a size. The oldest ones make room for new ones. */
export class RecordRing {
  readonly #slots: (NumberedRecord | undefined)[] = [];
  /** The position of the oldest record in `#slots`, and the number of records. */
  #first = 0;
  #count = 0;
  #bytes = 0;
  /**
   * The users of the records, with the number of records that refer to each: all requests with the same credentials
   * share one.
   */
  readonly #users = new Map<User, number>();

  constructor(
    readonly maxCount: number,
    readonly maxBytes: number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#count;
  }

  add(added: NumberedRecord): void {
    if (this.#count === this.maxCount) this.#drop();
    this.#slots[(this.#first + this.#count) % this.maxCount] = added;
    this.#count++;
    this.#bytes += added.bytes;
    this.#countUsers(added.record, 1);
    while (this.#bytes > this.maxBytes && this.#count > 1) this.#drop();
  }

  /** The records, the newest first. */
  *newestFirst(): Iterable<NumberedRecord> {
    for (let i = this.#count - 1; i >= 0; i--) yield this.#slots[(this.#first + i) % this.maxCount]!;
  }

  #drop(): void {
    const dropped = this.#slots[this.#first]!;
    this.#slots[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.maxCount;
    this.#count--;
    this.#bytes -= dropped.bytes;
    this.#countUsers(dropped.record, -1);
  }

  /**
   * Counts the users of a record that is added (1) or dropped (-1), and the bytes of those that no other record refers
   * to.
   */
  #countUsers({ user, impersonator }: DecisionRecord, by: 1 | -1): void {
    for (const one of [user, impersonator]) {
      if (!one) continue;
      const before = this.#users.get(one) ?? 0;
      if (before + by === 0) this.#users.delete(one);
      else this.#users.set(one, before + by);
      if (before === 0 || before + by === 0) this.#bytes += by * userBytes(one);
    }
  }
}
