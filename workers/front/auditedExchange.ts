import type { Exchange, ResponseStream, StreamOptions } from '../../core/api/listener.js';
import { AUDITED_BYTES } from '../../core/limits.js';
import { isRecord, recordAt, stringAt, type UnknownRecord } from '../../core/model/record.js';

type Header = readonly [string, string];

/** The members of a Status that an audit event repeats. */
const STATUS_MEMBERS = ['status', 'message', 'reason', 'details', 'code'] as const;

/** The JSON object in these bytes; undefined for anything else, and for more bytes than are recorded. */
function parseObject(parts: readonly Uint8Array[]): UnknownRecord | undefined {
  if (parts.reduce((sum, part) => sum + part.length, 0) > AUDITED_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An exchange that keeps of its bodies what the audit event repeats, until the event is written. */
export class AuditedExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly secure: boolean;
  readonly certificate?: string;
  readonly upgrade?: Exchange['upgrade'];
  #request: Uint8Array | undefined;
  #response: readonly Uint8Array[] = [];

  constructor(readonly exchange: Exchange) {
    const { method, path, query, remoteAddress, secure, certificate } = exchange;
    this.method = method;
    this.path = path;
    this.query = query;
    this.remoteAddress = remoteAddress;
    this.secure = secure;
    if (certificate !== undefined) this.certificate = certificate;
    if (exchange.upgrade) this.upgrade = (messages, subprotocol) => exchange.upgrade!(messages, subprotocol);
  }

  /**
   * The Status that was the answer, without kind and version; undefined for other answers. Of a refusal because of
   * values, it has neither message nor causes, since these show values.
   */
  answeredStatus(): object | undefined {
    const body = parseObject(this.#response);
    if (body?.['kind'] !== 'Status') return undefined;
    const isAboutValues = body['reason'] === 'Invalid';
    const details = recordAt(body, 'details');
    const { causes: _causes, ...shownDetails } = details ?? {};
    const shown: UnknownRecord = {
      ...body,
      ...(isAboutValues ? { message: undefined } : {}),
      ...(isAboutValues && details ? { details: shownDetails } : {}),
    };
    return Object.fromEntries(STATUS_MEMBERS.flatMap(name => (shown[name] === undefined ? [] : [[name, shown[name]]])));
  }

  /** The name of the object that the request was to create: as it was sent, else as it was made. */
  createdName(): string {
    const sent = this.#request && stringAt(parseObject([this.#request]), 'metadata', 'name');
    return sent || stringAt(parseObject(this.#response), 'metadata', 'name');
  }

  get aborted(): boolean {
    return this.exchange.aborted;
  }

  get status(): number | undefined {
    return this.exchange.status;
  }

  header(name: string): string | undefined {
    return this.exchange.header(name);
  }

  headers(): readonly Header[] {
    return this.exchange.headers();
  }

  async body(limit: number, onPart?: (bytes: number) => void): Promise<Uint8Array> {
    const body = await this.exchange.body(limit, onPart);
    // Writes may transfer their bodies to other threads, which empties them here.
    if (this.method === 'POST' && body.length <= AUDITED_BYTES) this.#request = body.slice();
    return body;
  }

  respond(status: number, headers: readonly Header[], body: readonly Uint8Array[] | Uint8Array): void {
    if (status >= 400 || this.method === 'DELETE' || this.method === 'POST')
      this.#response = body instanceof Uint8Array ? [body] : body;
    this.exchange.respond(status, headers, body);
  }

  stream(status: number, headers: readonly Header[], options?: StreamOptions): ResponseStream {
    return this.exchange.stream(status, headers, options);
  }

  onAbort(listener: () => void): void {
    this.exchange.onAbort(listener);
  }
}
