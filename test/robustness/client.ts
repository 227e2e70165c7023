import { Agent, request } from 'undici';
import type { WireObject } from './history.js';

/** The address for requests: the port of a proxy, and a bearer token. Both may change when a server restarts. */
export interface Endpoint {
  readonly port: () => number;
  readonly token: () => string;
}

/** The body of an answer: a Status, a list or an object. */
export interface Body extends Partial<WireObject> {
  readonly reason?: string;
  readonly message?: string;
  readonly items?: readonly WireObject[];
  readonly details?: { readonly uid?: string };
}

/** An answer. Status 0: there was no answer, because of `reason`. */
export type Answer = { readonly status: number; readonly body: Body; readonly reason?: string };

/** A collection that clients use. */
export interface Collection {
  readonly name: string;
  readonly path: (namespace: string) => string;
  /** PUT creates objects that do not exist. */
  readonly creates?: boolean;
}

export const COLLECTIONS: readonly Collection[] = [
  { name: 'configmaps', path: namespace => `/api/v1/namespaces/${namespace}/configmaps` },
  {
    name: 'leases',
    path: namespace => `/apis/coordination.orchestrator.io/v1/namespaces/${namespace}/leases`,
    creates: true,
  },
];

/** Forms of an answer. All but the plain one are rendered in the pool. */
export type Form = 'plain' | 'partial' | 'partialList' | 'table';
const ACCEPT: { readonly [form in Form]: string } = {
  plain: 'application/json',
  partial: 'application/json;as=PartialObjectMetadata;g=meta.orchestrator.io;v=v1',
  partialList: 'application/json;as=PartialObjectMetadataList;g=meta.orchestrator.io;v=v1',
  table: 'application/json;as=Table;g=meta.orchestrator.io;v=v1',
};

/** The time that a client waits for an answer, in milliseconds. */
const TIMEOUT_MS = 8000;
/** Maximum number of connections of a client for streams and requests. */
const CONNECTIONS = 64;

/** An HTTPS client. Its calls never throw: a broken connection is returned as an answer. */
export class Client {
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false }, connections: CONNECTIONS, bodyTimeout: 0 });

  constructor(readonly endpoint: Endpoint) {}

  async call(
    method: string,
    path: string,
    body?: object,
    type = 'application/json',
    form: Form = 'plain',
  ): Promise<Answer> {
    try {
      const answer = await request(this.#url(path), {
        ...this.#options(type, form),
        method: method as 'GET',
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Body };
    } catch (error) {
      return { status: 0, body: {}, reason: (error as Error).message };
    }
  }

  /**
   * Calls `onLine` with each line of a stream until that ends or `signal` aborts. Resolves with the status; 0 if there
   * was no answer.
   */
  async stream(path: string, form: Form, onLine: (line: string) => void, signal: AbortSignal): Promise<number> {
    let status = 0;
    try {
      const answer = await request(this.#url(path), {
        ...this.#options('application/json', form),
        method: 'GET',
        signal,
      });
      status = answer.statusCode;
      let rest = '';
      answer.body.setEncoding('utf8');
      for await (const chunk of answer.body) {
        const lines = (rest + (chunk as string)).split('\n');
        rest = lines.pop()!;
        for (const line of lines) if (line !== '') onLine(line);
      }
    } catch {
      // The connection is broken, or the stream was aborted: the lines before are valid.
    }
    return status;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #url(path: string): string {
    return `https://127.0.0.1:${this.endpoint.port()}${path}`;
  }

  #options(type: string, form: Form) {
    return {
      dispatcher: this.#agent,
      headersTimeout: TIMEOUT_MS,
      headers: { authorization: `Bearer ${this.endpoint.token()}`, 'content-type': type, accept: ACCEPT[form] },
    };
  }
}
