import { Agent, request } from 'undici';
import type { WireObject } from './history.js';

/** Where a client sends its requests: a proxy's port and a bearer token; both may change when servers come back. */
export interface Endpoint {
  readonly port: () => number;
  readonly token: () => string;
}

/** A Status, a list or an object, as it came. */
export interface Body extends Partial<WireObject> {
  readonly reason?: string;
  readonly message?: string;
  readonly items?: readonly WireObject[];
  readonly details?: { readonly uid?: string };
}

/** An answer; status 0: there is none, and `why`. */
export type Answer = { readonly status: number; readonly body: Body; readonly why?: string };

/** What a collection's paths and bodies begin with. */
export interface Collection {
  readonly name: string;
  readonly path: (namespace: string) => string;
  /** PUT makes objects that are absent. */
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

/** Forms of an answer; all but the plain one are made in the pool. */
export type Form = 'plain' | 'partial' | 'partialList' | 'table';
const ACCEPT: { readonly [form in Form]: string } = {
  plain: 'application/json',
  partial: 'application/json;as=PartialObjectMetadata;g=meta.orchestrator.io;v=v1',
  partialList: 'application/json;as=PartialObjectMetadataList;g=meta.orchestrator.io;v=v1',
  table: 'application/json;as=Table;g=meta.orchestrator.io;v=v1',
};

/** Time after which nobody waits for an answer any more, in ms. */
const PATIENCE = 8000;
/** Streams of one client at once. */
const CONNECTIONS = 64;

/** An HTTPS client whose calls never throw: a broken connection is an answer too. */
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
        signal: AbortSignal.timeout(PATIENCE),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Body };
    } catch (error) {
      return { status: 0, body: {}, why: (error as Error).message };
    }
  }

  /**
   * Calls `line` with each line of a stream until that ends or `signal` aborts. Resolves with the status, and whether
   * the end was a clean one.
   */
  async stream(
    path: string,
    form: Form,
    line: (text: string) => void,
    signal: AbortSignal,
  ): Promise<{ status: number; clean: boolean }> {
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
        for (const text of lines) if (text !== '') line(text);
      }
      return { status, clean: true };
    } catch {
      return { status, clean: false };
    }
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
      headersTimeout: PATIENCE,
      headers: { authorization: `Bearer ${this.endpoint.token()}`, 'content-type': type, accept: ACCEPT[form] },
    };
  }
}
