import type { ServiceClient } from '../../api/host.js';
import type { Service } from '../../api/plugin/pluginService.js';
import { clearTimeout, setTimeout } from '../../runtime/timers.js';
import { type Resolvers, withResolvers } from '../../runtime/withResolvers.js';

/** An answer that may be used until a time, in milliseconds since the epoch. It is data that can be sent to threads. */
export interface TimedAnswer {
  readonly value: unknown;
  readonly until: number;
}

/** A message to the service: a request for an answer, or the answer that a thread was told to find. */
type Message =
  | { readonly is: 'get'; readonly key: string }
  | { readonly is: 'found'; readonly key: string; readonly answer: TimedAnswer }
  | { readonly is: 'failed'; readonly key: string; readonly message: string };

/** A reply to a thread: the answer, a report that no thread has found one, or the request to find it. */
type Reply =
  | { readonly is: 'found'; readonly answer: TimedAnswer }
  | { readonly is: 'failed'; readonly message: string }
  | { readonly is: 'find' };

/** A search for an answer by one thread, and the other threads that wait for it. */
interface Search {
  readonly waiting: Resolvers<Reply>[];
  timer: NodeJS.Timeout;
}

/** Answers by key, limited in number: the one that was added first is forgotten first. */
class Answers {
  readonly #answers = new Map<string, TimedAnswer>();

  constructor(
    readonly most: number,
    readonly now: () => number,
  ) {}

  get(key: string): TimedAnswer | undefined {
    const found = this.#answers.get(key);
    if (!found || found.until > this.now()) return found;
    this.#answers.delete(key);
    return undefined;
  }

  set(key: string, answer: TimedAnswer): void {
    if (answer.until <= this.now()) return;
    this.#answers.delete(key);
    if (this.#answers.size >= this.most) this.#answers.delete(this.#answers.keys().next().value as string);
    this.#answers.set(key, answer);
  }
}

/**
 * The answers of webhooks that all threads of the pool share: a question is asked once, however many threads have it at
 * the same time. It runs in the main thread, which does not ask webhooks itself: it tells a thread of the pool to do
 * so.
 */
export class SharedAnswers implements Service {
  readonly #answers: Answers;
  readonly #searches = new Map<string, Search>();

  constructor(
    readonly name: string,
    readonly now: () => number,
    most: number,
    /** How long a thread may take to find an answer. After that, it counts as dead, and another one is told to. */
    readonly searchMs: number,
  ) {
    this.#answers = new Answers(most, now);
  }

  start(): void {
    // There is nothing to start.
  }

  ask(question: unknown): Reply | Promise<Reply> {
    const message = question as Message;
    if (message.is === 'get') return this.#get(message.key);
    if (message.is === 'found') this.#answers.set(message.key, message.answer);
    this.#end(message.key, message);
    return { is: 'failed', message: '' };
  }

  #get(key: string): Reply | Promise<Reply> {
    const answer = this.#answers.get(key);
    if (answer) return { is: 'found', answer };
    const search = this.#searches.get(key);
    if (!search) return this.#begin(key, []);
    const waiting = withResolvers<Reply>();
    search.waiting.push(waiting);
    return waiting.promise;
  }

  #begin(key: string, waiting: Resolvers<Reply>[]): Reply {
    const timer = setTimeout(() => this.#pass(key), this.searchMs).unref();
    this.#searches.set(key, { waiting, timer });
    return { is: 'find' };
  }

  /** Passes a search to the next waiting thread, because the current one has not answered. */
  #pass(key: string): void {
    const { waiting } = this.#searches.get(key)!;
    this.#searches.delete(key);
    const next = waiting.shift();
    next?.resolve(this.#begin(key, waiting));
  }

  #end(key: string, reply: Reply): void {
    const search = this.#searches.get(key);
    if (!search) return;
    this.#searches.delete(key);
    clearTimeout(search.timer);
    for (const one of search.waiting) one.resolve(reply);
  }
}

/** Thrown for a question if another thread, or an equal question at the same time, has not found the answer. */
class NoAnswer extends Error {}

/**
 * The shared answers as a thread of the pool sees them. Answers that it has received before are returned without
 * asking.
 */
export class AnswersClient {
  readonly #own: Answers;
  readonly #running = new Map<string, Promise<TimedAnswer>>();

  constructor(
    readonly service: ServiceClient,
    readonly now: () => number,
    most: number,
  ) {
    this.#own = new Answers(most, now);
  }

  /**
   * The answer for a key: a known one whose lifetime has not passed, or the result of `find`. During a search, equal
   * questions wait for the same answer. If `find` rejects, all of them reject, and nothing is cached.
   */
  async get(key: string, find: () => Promise<TimedAnswer>): Promise<TimedAnswer> {
    const own = this.#own.get(key);
    if (own) return own;
    const running = this.#running.get(key);
    if (running) return await running;
    const asked = this.#ask(key, find).finally(() => this.#running.delete(key));
    this.#running.set(key, asked);
    return await asked;
  }

  async #ask(key: string, find: () => Promise<TimedAnswer>): Promise<TimedAnswer> {
    const reply = (await this.service.ask({ is: 'get', key } satisfies Message)) as Reply;
    if (reply.is === 'failed') throw new NoAnswer(reply.message);
    const answer = reply.is === 'found' ? reply.answer : await this.#find(key, find);
    this.#own.set(key, answer);
    return answer;
  }

  async #find(key: string, find: () => Promise<TimedAnswer>): Promise<TimedAnswer> {
    try {
      const answer = await find();
      this.#send({ is: 'found', key, answer });
      return answer;
    } catch (error) {
      this.#send({ is: 'failed', key, message: (error as Error).message });
      throw error;
    }
  }

  /** Sends a message to the service without waiting: a server that is closing does not answer. */
  #send(message: Message): void {
    this.service.ask(message).catch(() => undefined);
  }
}
