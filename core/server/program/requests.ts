import type { InternalRequest } from '../../api/host.js';
import type { ResponseStream } from '../../api/listener.js';
import type { ApiObject } from '../../model/object.js';
import { readJson, writeJson } from '../../model/text/jsonText.js';
import type { User } from '../../model/user.js';
import { answeredObject, refusalOf } from '../../request/answeredObject.js';
import type { Front } from '../../../workers/front/front.js';
import { type LocalAnswer, LocalExchange } from '../../../workers/front/localExchange.js';
import type { ServerAnswer, ServerRequest, WatchEvent } from './types.js';

/**
 * The user agent of requests by the program: it is the manager of the fields that they write, and is named in the audit
 * log.
 */
const USER_AGENT = 'capstan';
const NEWLINE = 0x0a;
/** Headers with credentials or impersonation. They are ignored in requests of the program, whose user is known. */
const IDENTITY = /^(authorization|impersonate-.*|x-remote-.*)$/;

type Prepared = ConstructorParameters<typeof LocalExchange>[0];

/** A body as it is sent: JSON, unless it is a text or bytes. */
export function bytesOf(body: unknown): Buffer<ArrayBuffer> | undefined {
  if (body === undefined) return undefined;
  return Buffer.from(body instanceof Uint8Array || typeof body === 'string' ? body : writeJson(body));
}

/** Throws TypeError if the arguments are not a request of a program. */
function prepare(method: string, path: string, { body, contentType, headers = {} }: ServerRequest): Prepared {
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new TypeError(`the path of a request must begin with /: ${JSON.stringify(path)}`);
  const all = new Map([
    ['accept', 'application/json'],
    ['user-agent', USER_AGENT],
  ]);
  if (body !== undefined)
    all.set('content-type', contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'));
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (IDENTITY.test(lower))
      throw new TypeError(
        `the header ${name} is for HTTP: a request of the program is made as a user, server.as(user)`,
      );
    all.set(lower, value);
  }
  return { method, path, headers: all, body: bytesOf(body) };
}

const parseJson = (text: string): unknown => {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
};

/** The changes of a watch that has begun. */
class WatchStream implements ResponseStream {
  #waiting: Buffer[] = [];
  #bytes = 0;
  #isOver = false;
  #wake: () => void = () => undefined;
  #drained: () => void = () => undefined;

  write(bytes: Uint8Array): number {
    this.#waiting.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    this.#wake();
    return this.#bytes;
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The front end has ended the watch because its reader is too slow. */
  abort(): void {
    this.end();
  }

  /** Resolves with the next bytes when they arrive; undefined at the end. */
  async #next(): Promise<Buffer | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#isOver) return undefined;
      await new Promise<void>(resolve => (this.#wake = resolve));
    }
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#bytes = 0;
    this.#drained();
    return bytes;
  }

  /** The documents of the stream, each of which is a line. */
  async *lines(): AsyncGenerator<Buffer> {
    let rest: Buffer = Buffer.alloc(0);
    for (let bytes = await this.#next(); bytes; bytes = await this.#next()) {
      rest = Buffer.concat([rest, bytes]);
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        if (end > 0) yield rest.subarray(0, end);
        rest = rest.subarray(end + 1);
      }
    }
  }
}

/** Makes the requests of the program that a server runs in. */
export class ProgramRequests {
  readonly #pending = new Set<LocalExchange>();
  #isClosed = false;

  constructor(readonly front: Front) {}

  /** Refuses further requests, and resolves when those in flight are answered. Watches must have been ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#pending.size > 0) await new Promise<void>(resolve => (this.#answered = resolve));
  }
  #answered: () => void = () => undefined;

  /** Makes a request as a user. Rejects only if the server is closed, or with TypeError. */
  async request(user: User, method: string, path: string, request: ServerRequest): Promise<ServerAnswer> {
    const { status, headers, body } = await this.#send(user, prepare(method, path, request));
    const text = Buffer.from(body).toString();
    return { status, headers: new Headers(headers as [string, string][]), text, body: parseJson(text) };
  }

  /** Makes a request of a client. Rejects with Refusal. */
  async send(user: User, { method, path, contentType, body }: InternalRequest): Promise<ApiObject> {
    const answer = await this.#send(user, prepare(method, path, { body, ...(contentType && { contentType }) }));
    return answeredObject(answer.status, answer.body);
  }

  /** The changes that a watch request returns. */
  async *watch(user: User, path: string, signal?: AbortSignal): AsyncGenerator<WatchEvent<ApiObject>> {
    signal?.throwIfAborted();
    this.#check();
    const stream = new WatchStream();
    const { exchange, answer } = this.#open(user, prepare('GET', path, {}), stream);
    const abort = (): void => {
      exchange.abort();
      stream.end();
    };
    signal?.addEventListener('abort', abort);
    try {
      const refused = await answer;
      if (refused) answeredObject(refused.status, refused.body);
      for await (const line of stream.lines()) {
        const { type, object } = readJson(line) as unknown as {
          type: WatchEvent<ApiObject>['type'] | 'ERROR';
          object: ApiObject;
        };
        if (type === 'ERROR') throw refusalOf(object, Number(object['code']));
        yield { type, object };
      }
    } finally {
      signal?.removeEventListener('abort', abort);
      abort();
    }
  }

  #check(): void {
    if (this.#isClosed) throw new Error('the server has been closed');
  }

  async #send(user: User, request: Prepared): Promise<LocalAnswer> {
    this.#check();
    const answer = await this.#open(user, request).answer;
    if (!answer) throw new Error('the answer is a stream');
    return answer;
  }

  /**
   * Begins a request. `answer` resolves with undefined if the answer is the stream, or if the request is aborted
   * before.
   */
  #open(
    user: User,
    request: Prepared,
    stream?: WatchStream,
  ): { readonly exchange: LocalExchange; readonly answer: Promise<LocalAnswer | undefined> } {
    let exchange!: LocalExchange;
    const answer = new Promise<LocalAnswer | undefined>(resolve => {
      exchange = new LocalExchange(request, {
        respond: resolve,
        ...(stream && {
          stream: () => {
            resolve(undefined);
            return stream;
          },
        }),
      });
      // As after a disconnection of the client, the front end may or may not answer an aborted request.
      exchange.onAbort(() => resolve(undefined));
    }).finally(() => {
      this.#pending.delete(exchange);
      this.#answered();
    });
    this.#pending.add(exchange);
    this.front.handleOf(user, exchange);
    return { exchange, answer };
  }
}
