import type { Exchange, ResponseStream } from '../../../core/api/listener.js';
import { InFlight } from '../../../core/threads/inFlight.js';
import {
  errorOf,
  type FromListeningThread,
  type PathAnswer,
  type PathRequest,
  postedError,
} from '../../../core/threads/messages/listening.js';
import { parseRoute } from '../../../core/request/route.js';
import type { Registry } from '../../../core/schema/resource.js';
import type { PathHandler } from '../paths/routes.js';

/** A request that the main thread is answering. */
class Forwarded {
  #head: Extract<PathAnswer, { is: 'respond' | 'stream' }> | undefined;
  #stream: ResponseStream | undefined;
  /** Bytes of all pieces of a stream. */
  #received = 0;

  constructor(
    readonly exchange: Exchange,
    /** Called when the connection has accepted this many bytes of a stream. */
    readonly accepted: (bytes: number) => void,
    readonly resolve: (isKnown: boolean) => void,
    readonly reject: (error: Error) => void,
  ) {}

  take(answer: PathAnswer): void {
    switch (answer.is) {
      case 'respond':
        this.#head = answer;
        break;
      case 'stream':
        this.#stream = this.exchange.stream(answer.status, answer.headers);
        this.#stream.onDrain(() => this.accepted(this.#received));
        break;
      case 'piece':
        this.#takePiece(answer.bytes);
        break;
      case 'end':
        this.#stream?.end();
        break;
      case 'abort':
        this.#stream?.abort();
        break;
      case 'handled':
        this.resolve(answer.isKnown);
        break;
      case 'failed':
        this.reject(errorOf(answer.error));
    }
  }

  #takePiece(bytes: Uint8Array): void {
    if (this.#head) {
      this.exchange.respond(this.#head.status, this.#head.headers, bytes);
      return;
    }
    this.#received += bytes.length;
    if (this.#stream?.write(bytes) === 0) this.accepted(this.#received);
  }
}

/**
 * Answers requests outside of the resources in a listening thread: the main thread makes the answers, since it has the
 * documents, health checks and metrics.
 */
export class RemotePaths {
  readonly #forwarded = new InFlight<Forwarded>();

  constructor(readonly post: (message: FromListeningThread) => void) {}

  /** The handler of the front end. Rejects with the error of the main thread. */
  readonly handle: PathHandler = (exchange, _route, body) => {
    // The main thread would never be told that the client has gone away, and would wait for it to read.
    if (exchange.aborted) return true;
    return new Promise<boolean>((resolve, reject) => {
      const accepted = (bytes: number): void => this.post({ is: 'pathAccepted', requestId, bytes });
      const requestId: number = this.#forwarded.add(
        new Forwarded(
          exchange,
          accepted,
          isKnown => this.#end(requestId, () => resolve(isKnown)),
          error => this.#end(requestId, () => reject(error)),
        ),
      );
      exchange.onAbort(() => this.post({ is: 'pathAborted', requestId }));
      const { method, path, query, remoteAddress, secure } = exchange;
      const headers = exchange.headers();
      this.post({ is: 'path', requestId, method, path, query, headers, remoteAddress, secure, body });
    });
  };

  /** Takes a part of an answer. */
  take(requestId: number, answer: PathAnswer): void {
    const forwarded = this.#forwarded.get(requestId);
    if (!forwarded) return;
    // A client that has gone away is sent nothing.
    if (!forwarded.exchange.aborted || answer.is === 'handled' || answer.is === 'failed') forwarded.take(answer);
  }

  #end(requestId: number, settle: () => void): void {
    this.#forwarded.delete(requestId);
    settle();
  }
}

/** A forwarded request as the main thread has it. */
interface Answered {
  readonly exchange: Exchange;
  abort(): void;
  accept(bytes: number): void;
}

/** Answers the forwarded requests of a listening thread in the main thread. */
export class PathAnswers {
  readonly #answered = new Map<number, Answered>();

  constructor(
    readonly registry: () => Registry,
    readonly handler: PathHandler,
    readonly post: (requestId: number, answer: PathAnswer, transfer?: ArrayBuffer[]) => void,
  ) {}

  /** Answers a request. Never rejects. */
  async answer(request: PathRequest): Promise<void> {
    const { requestId, method, path, query } = request;
    const answered = answeredOf(request, (answer, transfer) => this.post(requestId, answer, transfer));
    this.#answered.set(requestId, answered);
    try {
      const route = parseRoute(this.registry(), method, path, query);
      this.post(requestId, { is: 'handled', isKnown: await this.handler(answered.exchange, route, request.body) });
    } catch (error) {
      this.post(requestId, { is: 'failed', error: postedError(error) });
    } finally {
      this.#answered.delete(requestId);
    }
  }

  /** To be called when the client of a request has disconnected. */
  abort(requestId: number): void {
    this.#answered.get(requestId)?.abort();
  }

  /** To be called when the connection of a request has accepted this many bytes of its stream. */
  accept(requestId: number, bytes: number): void {
    this.#answered.get(requestId)?.accept(bytes);
  }
}

/** A forwarded request, whose answer is posted. It has no body. */
function answeredOf(
  { method, path, query, headers, remoteAddress, secure }: PathRequest,
  post: (answer: PathAnswer, transfer?: ArrayBuffer[]) => void,
): Answered {
  let written = 0;
  let accepted = 0;
  const postPiece = (bytes: Uint8Array): void => {
    // A view that is posted carries its whole buffer.
    const own = new Uint8Array(bytes);
    post({ is: 'piece', bytes: own }, [own.buffer]);
  };
  let isAborted = false;
  let status: number | undefined;
  const abortListeners: (() => void)[] = [];
  let onDrain: () => void = () => undefined;
  const exchange: Exchange = {
    method,
    path,
    query,
    header: name => headers.find(([given]) => given === name)?.[1],
    headers: () => headers,
    remoteAddress,
    secure,
    body: sink => sink.close(),
    respond(given, answerHeaders, body) {
      status = given;
      post({ is: 'respond', status: given, headers: answerHeaders });
      postPiece(body instanceof Uint8Array ? body : Buffer.concat(body));
    },
    stream(given, answerHeaders) {
      status = given;
      post({ is: 'stream', status: given, headers: answerHeaders });
      return {
        write(bytes) {
          written += bytes.length;
          postPiece(bytes);
          return written - accepted;
        },
        onDrain: listener => (onDrain = listener),
        end: () => post({ is: 'end' }),
        abort: () => post({ is: 'abort' }),
      };
    },
    onAbort: listener => void abortListeners.push(listener),
    get aborted() {
      return isAborted;
    },
    get status() {
      return status;
    },
  };
  return {
    exchange,
    abort() {
      isAborted = true;
      for (const listener of abortListeners.splice(0)) listener();
    },
    accept(bytes) {
      accepted = bytes;
      onDrain();
    },
  };
}
