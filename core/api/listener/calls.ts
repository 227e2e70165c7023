import { Refusal } from '../../model/refusal.js';
import { isPromise } from '../awaitable.js';
import type {
  Binding,
  BodySink,
  Exchange,
  Listener,
  Listening,
  ResponseStream,
  StreamOptions,
  UpgradeOptions,
  WebSocketStream,
} from './types.js';
import { requireMembers } from '../checks/parts.js';
import type { Contributed } from '../point.js';

type Header = readonly [string, string];
type Call = Contributed<Listener>['call'];

const isListening = requireMembers({
  port: [value => Number.isInteger(value) && (value as number) > 0, 'the number of the port'],
  close: 'function',
});

const isExchange = requireMembers({
  method: 'string',
  path: 'string',
  query: 'string',
  header: 'function',
  headers: 'function',
  body: 'function',
  respond: 'function',
  stream: 'function',
  onAbort: 'function',
});

const isStream = requireMembers({ write: 'function', onDrain: 'function', end: 'function', abort: 'function' });

const FAILED = 'Internal error occurred: the listener failed\n';

/** Answers a request that cannot be read. */
const refuse = (exchange: Exchange): void =>
  exchange.respond(500, [['content-type', 'text/plain']], Buffer.from(FAILED));

/** Calls a function without a result. Returns whether it succeeded; a failure is one of the plugin. */
function attempt(call: Call, operation: () => void): boolean {
  try {
    void call(operation, () => false);
    return true;
  } catch {
    return false;
  }
}

/** A stream whose failures end the answer as a disconnected client does. */
class CheckedStream implements WebSocketStream {
  constructor(
    readonly call: Call,
    readonly stream: WebSocketStream,
    /** Called when a function of the stream has failed. */
    readonly failed: () => void,
  ) {}

  write(bytes: Uint8Array, mayWait?: boolean): number {
    let waiting = 0;
    const isDone = attempt(this.call, () => {
      waiting = this.stream.write(bytes, mayWait);
      if (!(waiting >= 0)) throw new TypeError('write must return the number of bytes that wait');
    });
    if (!isDone) this.failed();
    return isDone ? waiting : 0;
  }

  onDrain(listener: () => void): void {
    if (!attempt(this.call, () => this.stream.onDrain(listener))) this.failed();
  }

  end(code?: number, reason?: string): void {
    if (!attempt(this.call, () => this.stream.end(code, reason))) this.failed();
  }

  abort(): void {
    if (!attempt(this.call, () => this.stream.abort())) this.failed();
  }
}

/** A sink that accepts nothing but bytes from a listener, and nothing after its end. */
class CheckedSink implements BodySink {
  #isOver = false;

  constructor(
    readonly sink: BodySink,
    readonly exchange: Pick<Exchange, 'aborted' | 'status'>,
    /** Reports a failure of the listener, and returns the error for the sink. */
    readonly failed: (thrown: unknown) => unknown,
  ) {}

  write(bytes: Uint8Array): void | Promise<void> {
    if (this.#isOver) return undefined;
    if (bytes instanceof Uint8Array) return this.sink.write(bytes);
    return this.fail(new TypeError('a part of a body must be bytes'));
  }

  /** Ends the body because the listener has failed. */
  fail(thrown: unknown): void {
    if (!this.#isOver) this.#end(this.failed(thrown));
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.sink.close();
  }

  /**
   * Errors of the sink are refusals. Other errors, if the request is not answered yet, are failures of the listener.
   */
  abort(error: unknown): void {
    if (this.#isOver) return;
    const { aborted, status } = this.exchange;
    if (error instanceof Refusal || aborted || status !== undefined) this.#end(error);
    else this.fail(error);
  }

  #end(error: unknown): void {
    this.#isOver = true;
    this.sink.abort(error);
  }
}

/**
 * An exchange of a listener of the configuration. If one of its functions fails, the request is answered with 500
 * unless an answer has begun, and is treated as if its client had disconnected.
 */
class CheckedExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly secure: boolean;
  readonly certificate?: string;
  readonly hasInvalidCertificate: boolean;
  readonly upgrade?: Exchange['upgrade'];
  /** Calls a function of the exchange. */
  readonly call: Call;
  readonly #abortListeners: (() => void)[] = [];
  #hasFailed = false;
  #begun: ResponseStream | undefined;

  constructor(
    call: Call,
    readonly exchange: Exchange,
  ) {
    isExchange(exchange);
    const { method, path, query, remoteAddress, secure, certificate, hasInvalidCertificate } = exchange;
    this.call = (operation, mayThrow) => call(operation, mayThrow, { method, path });
    this.method = method;
    this.path = path;
    this.query = query;
    this.remoteAddress = String(remoteAddress);
    this.secure = secure === true;
    this.hasInvalidCertificate = hasInvalidCertificate === true;
    if (certificate !== undefined) this.certificate = String(certificate);
    if (exchange.upgrade) this.upgrade = options => this.#upgrade(options);
  }

  get aborted(): boolean {
    return this.#hasFailed || this.exchange.aborted;
  }

  get status(): number | undefined {
    return this.exchange.status;
  }

  header(name: string): string | undefined {
    return this.#read(() => {
      const value = this.exchange.header(name);
      if (value !== undefined && typeof value !== 'string') throw new TypeError('header must return a string');
      return value;
    });
  }

  headers(): readonly Header[] {
    return this.#read(() => {
      const all = this.exchange.headers();
      if (!Array.isArray(all)) throw new TypeError('headers must return a list');
      return all as readonly Header[];
    });
  }

  body(sink: BodySink): void {
    const checked = new CheckedSink(sink, this.exchange, thrown => {
      try {
        return this.#read(() => {
          throw thrown;
        });
      } catch (failure) {
        return failure;
      }
    });
    try {
      const reading: unknown = this.exchange.body(checked);
      // It should return nothing, but a plugin in JavaScript may have an async function.
      if (isPromise(reading)) reading.then(undefined, (thrown: unknown) => checked.fail(thrown));
    } catch (thrown) {
      checked.fail(thrown);
    }
  }

  respond(status: number, headers: readonly Header[], body: readonly Uint8Array[] | Uint8Array): void {
    if (!attempt(this.call, () => this.exchange.respond(status, headers, body))) this.#fail();
  }

  stream(status: number, headers: readonly Header[], options?: StreamOptions): ResponseStream {
    return this.#stream(() => this.exchange.stream(status, headers, options));
  }

  onAbort(listener: () => void): void {
    this.#abortListeners.push(listener);
    if (!attempt(this.call, () => this.exchange.onAbort(listener))) this.#fail();
  }

  /** Calls a function that reads the request. Throws PluginFailure. */
  #read<T>(operation: () => T): T {
    try {
      return this.call(operation, () => false) as T;
    } catch (thrown) {
      this.#fail();
      throw thrown;
    }
  }

  /** Accepts a WebSocket. Its messages must be bytes; others are dropped. */
  #upgrade(options: UpgradeOptions): WebSocketStream {
    const receive: UpgradeOptions['receive'] = (message, isBinary) => {
      if (message instanceof Uint8Array) return options.receive(message, isBinary === true);
      attempt(this.call, () => {
        throw new TypeError('a message must be bytes');
      });
      return this.#fail();
    };
    return this.#stream(() => this.exchange.upgrade!({ ...options, receive }));
  }

  #stream(make: () => ResponseStream): WebSocketStream {
    const stream = this.#read(() => {
      const made = make();
      isStream(made);
      return made;
    });
    this.#begun = stream;
    return new CheckedStream(this.call, stream, () => this.#fail());
  }

  #fail(): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    attempt(this.call, () => {
      if (this.#begun) this.#begun.abort();
      else if (this.exchange.status === undefined) refuse(this.exchange);
    });
    for (const listener of this.#abortListeners.splice(0)) listener();
  }
}

/**
 * A listener of a plugin of the configuration: opening and closing have the time limit of the plugin, and its exchanges
 * are checked.
 *
 * @example
 * const all = inputs.map(input => (input.isBuiltIn ? input.value : checkedListener(input)));
 */
export function checkedListener({ value, call }: Contributed<Listener>): Listener {
  const never = (): boolean => false;
  return {
    name: value.name,
    async listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening> {
      const take = (exchange: Exchange): void => {
        let checked: Exchange | undefined;
        attempt(call, () => {
          checked = new CheckedExchange(call, exchange);
        });
        if (checked) handle(checked);
        else attempt(call, () => refuse(exchange));
      };
      const { port, close, renew } = await call(async () => {
        const opened = await value.listen(binding, take);
        isListening(opened);
        return { port: opened.port, close: opened.close.bind(opened), renew: opened.renew?.bind(opened) };
      }, isSystemError);
      return {
        port,
        close: async () => await call(close, never),
        ...(renew ? { renew: async () => await call(renew, isSystemError) } : {}),
      };
    },
  };
}

/** Whether this is an error of the operating system, such as that of a port which is in use. */
const isSystemError = (thrown: unknown): boolean => typeof (thrown as { code?: unknown } | null)?.code === 'string';
