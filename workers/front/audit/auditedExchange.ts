import { gunzipSync } from 'node:zlib';
import type { BodySink, Exchange, ResponseStream, StreamOptions, WebSocketStream } from '../../../core/api/listener.js';
import { AUDITED_ANSWERS_BYTES, AUDITED_BYTES, AUDITED_NAME_BYTES } from '../../../core/limits.js';
import { isRecord, recordAt, type UnknownRecord } from '../../../core/model/record.js';
import { BodyParts } from '../../../core/runtime/bodyParts.js';
import { isWatch, type Route } from '../../../core/request/route.js';
import type { PolicyLevel } from '../../../core/services/audit/policy.js';
import { withAuditId } from '../answers/changedExchange.js';
import { parseAuditedBody } from './auditedBody.js';

type Header = readonly [string, string];

const NONE = new Uint8Array();

/** The parts of the bodies that are kept. `name`: a short body of a POST or PUT, for the metadata in it. */
interface Kept {
  readonly request: boolean;
  readonly response: boolean;
  readonly name: boolean;
  /** Whether the Status of an answer is kept. */
  readonly status: boolean;
}

/** Bytes of streamed answers that are kept in this thread. */
let keptOfAll = 0;

/** The members of a Status that an audit event repeats. */
const STATUS_MEMBERS = ['status', 'message', 'reason', 'details', 'code'] as const;

/**
 * An exchange that keeps the parts of its bodies that the audit event repeats, until the event is written. It can hold
 * its answer back until then, and tells when a streamed answer has ended.
 */
export class AuditedExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly secure: boolean;
  readonly certificate?: string;
  readonly hasInvalidCertificate: boolean;
  readonly upgrade?: Exchange['upgrade'];
  #request: Uint8Array = NONE;
  #response: Uint8Array = NONE;
  #responseType = '';
  #requestObject: object | undefined;
  #responseObject: object | undefined;
  #isRequestTruncated = false;
  #isResponseTruncated = false;
  #kept: Kept;
  /** The parts of a streamed answer that the event will have, until they are too long. */
  #parts: Uint8Array[] | undefined;
  /** The answer that is held back. */
  #held: { readonly status: number; readonly send: () => void } | undefined;
  /** Whether a streamed answer has begun and not ended; and the listener that is called when it ends. */
  #isStreaming = false;
  #onEnd: (() => void) | undefined;

  /**
   * `auditId` is sent with the answer. `keepsBodies`: whether an event may have the bodies, until `keep` says. `holds`:
   * whether an answer that is not streamed waits for `release` or `refuse`.
   */
  constructor(
    readonly exchange: Exchange,
    readonly route: Route,
    readonly auditId: string,
    keepsBodies: boolean,
    private holds: boolean,
  ) {
    this.#kept = { request: keepsBodies, response: keepsBodies, name: true, status: true };
    const { method, path, query, remoteAddress, secure, certificate } = exchange;
    this.method = method;
    this.path = path;
    this.query = query;
    this.remoteAddress = remoteAddress;
    this.secure = secure;
    this.hasInvalidCertificate = exchange.hasInvalidCertificate ?? false;
    if (certificate !== undefined) this.certificate = certificate;
    if (exchange.upgrade)
      this.upgrade = options => {
        const socket = exchange.upgrade!(options);
        return this.#streamed(socket, (code, reason) => socket.end(code, reason));
      };
  }

  /** Keeps only the parts that events of a level contain. */
  keep(level: PolicyLevel): void {
    const recorded = level !== 'None';
    this.#kept = {
      request: level === 'Request' || level === 'RequestResponse',
      response: level === 'RequestResponse',
      name: recorded,
      status: recorded,
    };
    // The body may have arrived before.
    if (!this.#keepsRequest(this.#request.length)) this.#request = NONE;
  }

  /** Whether a body of the request is kept that has, or will have, at least `size` bytes. */
  #keepsRequest(size: number): boolean {
    if (this.#kept.request) return size <= AUDITED_BYTES;
    return this.#kept.name && (this.method === 'POST' || this.method === 'PUT') && size <= AUDITED_NAME_BYTES;
  }

  /**
   * The Status that the request was answered with, without kind and version; undefined for other answers. If it
   * `hidesValues`, a refusal because of values has neither message nor causes, since these show values.
   */
  answeredStatus(hidesValues: boolean): object | undefined {
    const body = this.responseObject();
    if (!isRecord(body) || body['kind'] !== 'Status') return undefined;
    const isAboutValues = hidesValues && body['reason'] === 'Invalid';
    const details = recordAt(body, 'details');
    const { causes: _causes, ...shownDetails } = details ?? {};
    const shown: UnknownRecord = {
      ...body,
      ...(isAboutValues ? { message: undefined } : {}),
      ...(isAboutValues && details ? { details: shownDetails } : {}),
    };
    return Object.fromEntries(STATUS_MEMBERS.flatMap(name => (shown[name] === undefined ? [] : [[name, shown[name]]])));
  }

  /** The body of the request; undefined for one that no event repeats. */
  requestObject(): object | undefined {
    return (this.#requestObject ??= parseAuditedBody(this.#request, this.header('content-type') ?? '', this.route));
  }

  /** The body of the answer; undefined for one that no event repeats, such as that of a 406, which upstream omits. */
  responseObject(): object | undefined {
    if (this.status === 406) return undefined;
    return (this.#responseObject ??= parseAuditedBody(this.#response, this.#responseType, this.route));
  }

  /** Whether parts of a streamed answer are kept: `whenEnded` tells when they are complete. */
  get isCollecting(): boolean {
    return this.#parts !== undefined && this.#isStreaming;
  }

  /** Whether the body of the request is too long for an event. */
  get isRequestTruncated(): boolean {
    return this.#isRequestTruncated;
  }

  /** Whether the body of the answer is too long for an event. */
  get isResponseTruncated(): boolean {
    return this.#isResponseTruncated;
  }

  get aborted(): boolean {
    return this.exchange.aborted;
  }

  get status(): number | undefined {
    return this.#held?.status ?? this.exchange.status;
  }

  /** The value of the header Audit-ID is the id that the events of the request have. */
  header(name: string): string | undefined {
    return name === 'audit-id' ? this.auditId : this.exchange.header(name);
  }

  headers(): readonly Header[] {
    return this.exchange.headers();
  }

  body(sink: BodySink): void {
    const parts = new BodyParts();
    let size = 0;
    this.exchange.body({
      write: bytes => {
        size += bytes.length;
        // Copied, because writes may transfer their bodies to other threads, which empties them here.
        if (this.#keepsRequest(size)) parts.add(bytes.slice());
        else parts.clear();
        return sink.write(bytes);
      },
      close: () => {
        this.#isRequestTruncated = size > AUDITED_BYTES;
        if (this.#keepsRequest(size)) this.#request = parts.take();
        sink.close();
      },
      abort: error => {
        parts.clear();
        sink.abort(error);
      },
    });
  }

  respond(status: number, headers: readonly Header[], body: readonly Uint8Array[] | Uint8Array): void {
    if (this.#kept.response || (this.#kept.status && this.#mayBeStatus(status)))
      this.#keepResponse(headers, body instanceof Uint8Array ? [body] : body);
    const send = (): void => this.exchange.respond(status, withAuditId(headers, this.auditId), body);
    if (this.holds) this.#held = { status, send };
    else send();
  }

  /** Sends the answer that is held back, and holds back no other. */
  release(): void {
    const held = this.#held;
    this.holds = false;
    this.#held = undefined;
    if (held && !this.exchange.aborted) held.send();
  }

  /** Sends a text instead of an answer that is held back, or was not made yet. */
  refuse(status: number, text: string): void {
    this.#held = undefined;
    this.holds = false;
    if (this.exchange.status !== undefined || this.exchange.aborted) return;
    const headers: readonly Header[] = [
      ['audit-id', this.auditId],
      ['content-type', 'text/plain; charset=utf-8'],
      ['x-content-type-options', 'nosniff'],
    ];
    this.exchange.respond(status, headers, Buffer.from(text));
  }

  /** Calls back when the streamed answer has ended, or now if there is none. To be called once. */
  whenEnded(listener: () => void): void {
    if (this.#isStreaming && !this.exchange.aborted) this.#onEnd = listener;
    else listener();
  }

  stream(status: number, headers: readonly Header[], options?: StreamOptions): ResponseStream {
    // If the client has gone away, nothing tells when the answer ends, and it is not sent.
    if (this.#kept.response && this.route.resource && !isWatch(this.route) && !this.exchange.aborted) this.#parts = [];
    const stream = this.exchange.stream(status, withAuditId(headers, this.auditId), options);
    return this.#streamed(stream, () => stream.end(), headers);
  }

  /** A stream that notes its end, and the bytes written, if those are kept. `end` ends the given one. */
  #streamed(stream: ResponseStream, end: WebSocketStream['end'], headers: readonly Header[] = []): WebSocketStream {
    this.#isStreaming = true;
    let kept = 0;
    const uncount = (): void => {
      keptOfAll -= kept;
      kept = 0;
    };
    const collect = (bytes: Uint8Array): void => {
      if (this.#isResponseTruncated) return;
      const { length } = bytes;
      if (kept + length > AUDITED_BYTES || keptOfAll + length > AUDITED_ANSWERS_BYTES) {
        this.#isResponseTruncated = true;
        this.#parts = [];
        uncount();
        return;
      }
      kept += length;
      keptOfAll += length;
      this.#parts!.push(bytes.slice());
    };
    const ended = (): void => {
      uncount();
      if (this.#parts && !this.#isResponseTruncated) this.#keepResponse(headers, this.#parts);
      this.#parts = undefined;
      this.#isStreaming = false;
      this.#onEnd?.();
      this.#onEnd = undefined;
    };
    this.exchange.onAbort(ended);
    return {
      write: (bytes, mayWait) => {
        if (this.#parts) collect(bytes);
        return stream.write(bytes, mayWait);
      },
      onDrain: listener => stream.onDrain(listener),
      end(code, reason) {
        end(code, reason);
        ended();
      },
      abort() {
        stream.abort();
        ended();
      },
    };
  }

  /** Whether an answer may be a Status, and not an object or list. */
  #mayBeStatus(status: number): boolean {
    if (status >= 400 || this.method === 'DELETE') return true;
    const { resource, subresource } = this.route;
    return this.method === 'POST' && (subresource !== undefined || resource?.stored === false);
  }

  #keepResponse(headers: readonly Header[], parts: readonly Uint8Array[]): void {
    const headerOf = (name: string): string => headers.find(([given]) => given.toLowerCase() === name)?.[1] ?? '';
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#isResponseTruncated = length > AUDITED_BYTES;
    if (this.#isResponseTruncated) return;
    const body = Buffer.concat(parts);
    this.#responseType = headerOf('content-type');
    try {
      const isCompressed = headerOf('content-encoding') !== '';
      this.#response = isCompressed ? gunzipSync(body, { maxOutputLength: AUDITED_BYTES }) : body;
    } catch {
      this.#isResponseTruncated = true;
    }
  }

  onAbort(listener: () => void): void {
    this.exchange.onAbort(listener);
  }
}
