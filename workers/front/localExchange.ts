import type { BodySink, Exchange, ResponseStream } from '../../core/api/listener.js';

type HeaderList = readonly (readonly [string, string])[];

/** A request that is made inside of the process, not by HTTP. */
export interface LocalRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: Uint8Array | undefined;
}

/** The complete answer to such a request. */
export interface LocalAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** Where the answer goes. Long lists come as streams: without `stream`, they are gathered. */
export interface AnswerSink {
  respond(answer: LocalAnswer): void;
  stream?(status: number, headers: HeaderList): ResponseStream;
}

/** Passes a whole body to a sink. Never rejects. */
async function passBody(body: Uint8Array | undefined, sink: BodySink): Promise<void> {
  try {
    if (body && body.length > 0) await sink.write(body);
  } catch (error) {
    return sink.abort(error);
  }
  sink.close();
}

/** A stream that is gathered, and answered as a whole. */
function gather(status: number, headers: HeaderList, sink: AnswerSink): ResponseStream {
  const pieces: Uint8Array[] = [];
  return {
    write(bytes) {
      pieces.push(bytes);
      return 0;
    },
    onDrain: listener => listener(),
    end: () => sink.respond({ status, headers, body: Buffer.concat(pieces) }),
    abort: () => sink.respond({ status, headers, body: Buffer.concat(pieces) }),
  };
}

/** A request of this process as the front end handles those of clients. */
export class LocalExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress = '';
  readonly secure = true;
  status?: number;
  #aborted = false;
  readonly #abortListeners: (() => void)[] = [];

  constructor(
    readonly request: LocalRequest,
    readonly sink: AnswerSink,
  ) {
    const { method, path } = request;
    const mark = path.indexOf('?');
    this.method = method;
    this.path = mark < 0 ? path : path.slice(0, mark);
    this.query = mark < 0 ? '' : path.slice(mark + 1);
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name);
  }

  headers(): HeaderList {
    const { headers, body } = this.request;
    // Whoever passes the request on sends the body that is announced.
    const length: HeaderList = body && body.length > 0 ? [['content-length', String(body.length)]] : [];
    return [...headers, ...length];
  }

  body(sink: BodySink): void {
    void passBody(this.request.body, sink);
  }

  respond(status: number, headers: HeaderList, body: readonly Uint8Array[] | Uint8Array): void {
    this.status = status;
    this.sink.respond({ status, headers, body: body instanceof Uint8Array ? body : Buffer.concat(body) });
  }

  stream(status: number, headers: HeaderList): ResponseStream {
    this.status = status;
    return this.sink.stream?.(status, headers) ?? gather(status, headers, this.sink);
  }

  onAbort(listener: () => void): void {
    this.#abortListeners.push(listener);
  }

  /** Acts as if the client had disconnected: the answer is not read. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    for (const listener of this.#abortListeners) listener();
  }
}
