import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { RunningServer, Settings } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/values.js';

/** Parsed JSON whose members are not typed. */
export interface Loose {
  readonly [member: string]: Loose;
}

/** The answer to a request. `body` is the parsed JSON; undefined for other content. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly text: string;
  readonly body: Loose;
}

/**
 * The parts of a request besides method and path. An object is sent as JSON, a string or bytes unchanged. With `token:
 * ''`, no token is sent.
 */
export interface Sent {
  readonly body?: object | string | Uint8Array;
  readonly type?: string;
  readonly accept?: string;
  readonly token?: string;
  /** An array is sent as several headers with the same name. */
  readonly headers?: { readonly [name: string]: string | string[] };
}

/** One event of a watch. */
export interface Event {
  readonly type: string;
  readonly object: Loose;
}

/** The time limit of a connection, which waits for others and for the server in the same process on a busy machine. */
const CONNECT_MS = 60_000;
/** The key of the server that is shared in this process: each test file has its own module instances. */
const SHARED = Symbol.for('capstan.test.api');

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

const parsed = (text: string): Loose | undefined => {
  try {
    return JSON.parse(text) as Loose;
  } catch {
    return undefined;
  }
};

/** A real server on a free port with a store in memory, and functions that call it as the administrator. */
export class Api {
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false, timeout: CONNECT_MS }, pipelining: 1 });

  #isShared = false;

  private constructor(
    readonly server: RunningServer,
    readonly naming: Settings['naming'],
  ) {}

  static async start(settings: Partial<Settings> = {}): Promise<Api> {
    const { naming = 'kubernetes' } = settings;
    const api = new Api(await startServer({ storage: 'memory', port: 0, ...settings, naming }), naming);
    const group = naming === 'neutral' ? 'orchestrator' : 'k8s';
    // The last object that the controllers create at the start of the server.
    for (const path of [
      '/api/v1/namespaces/default',
      `/apis/rbac.authorization.${group}.io/v1/clusterrolebindings/system:public-info-viewer`,
    ])
      await api.until(async () => (await api.get(path)).status === 200);
    return api;
  }

  /**
   * The server with the default settings that the files of a process share, for tests in namespaces of their own: a
   * start takes about a second of CPU. The names of the namespaces must differ from those of other such files, and
   * nothing else may be changed. `close` does nothing; the server ends with the process.
   */
  static async shared(): Promise<Api> {
    const holder = globalThis as { [SHARED]?: Promise<Api> };
    return await (holder[SHARED] ??= Api.#startShared());
  }

  static async #startShared(): Promise<Api> {
    const dataDir = mkdtempSync(join(tmpdir(), 'capstan-shared-'));
    const remove = (): void => rmSync(dataDir, { recursive: true, force: true });
    process.once('exit', remove);
    // The signal with which the test runner ends a process.
    process.once('SIGTERM', () => {
      remove();
      process.kill(process.pid, 'SIGTERM');
    });
    const api = await Api.start({ dataDir });
    api.#isShared = true;
    return api;
  }

  /** Evaluates a condition until it is true; the time limit of the test stops it otherwise. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    await eventually(isSo);
  }

  async close(): Promise<void> {
    if (this.#isShared) return;
    await this.#agent.destroy();
    await this.server.close();
  }

  async call(method: Method, path: string, { body, type, accept, token, headers }: Sent = {}): Promise<Answer> {
    const bearer = token ?? this.server.token;
    const raw =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await request(this.server.url + path, {
      method,
      dispatcher: this.#agent,
      headers: {
        ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
        ...(raw === undefined ? {} : { 'content-type': type ?? 'application/json' }),
        ...(accept ? { accept } : {}),
        ...headers,
      },
      ...(raw === undefined ? {} : { body: raw }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, body: parsed(text) as Loose };
  }

  /** The recorded decision about the request of an answer. */
  async decisionOf({ headers }: Pick<Answer, 'headers'>): Promise<Loose> {
    const group = this.naming === 'neutral' ? 'why.orchestrator.io' : 'why.capstan.dev';
    const id = headers['audit-id'] as string;
    const { status, body } = await this.get(`/apis/${group}/v1/decisions/${id}`);
    if (status !== 200) throw new Error(`the decision ${id} is answered with ${status}`);
    return body;
  }

  /** POSTs an object and returns the bytes of the answer in the media type `accept`. */
  async bytes(path: string, body: object, accept: string): Promise<{ status: number; bytes: Uint8Array }> {
    const headers = { authorization: `Bearer ${this.server.token}`, 'content-type': 'application/json', accept };
    const answer = await request(this.server.url + path, {
      method: 'POST',
      dispatcher: this.#agent,
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.statusCode, bytes: new Uint8Array(await answer.body.arrayBuffer()) };
  }

  get(path: string, sent?: Sent): Promise<Answer> {
    return this.call('GET', path, sent);
  }
  post(path: string, body: object | string | Uint8Array, sent?: Sent): Promise<Answer> {
    return this.call('POST', path, { ...sent, body });
  }
  put(path: string, body: object | string | Uint8Array, sent?: Sent): Promise<Answer> {
    return this.call('PUT', path, { ...sent, body });
  }
  patch(path: string, type: string, body: object | string | Uint8Array, sent?: Sent): Promise<Answer> {
    return this.call('PATCH', path, { ...sent, body, type });
  }
  delete(path: string, body?: object): Promise<Answer> {
    return this.call('DELETE', path, { body });
  }

  /** Creates an object and returns it as stored. Throws with the answer if it is not 201. */
  async made(path: string, body: object): Promise<Loose> {
    const answer = await this.post(path, body);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  /** Creates a namespace and returns its path. */
  async namespace(name: string): Promise<string> {
    await this.made('/api/v1/namespaces', { metadata: { name } });
    return `/api/v1/namespaces/${name}`;
  }

  /** Opens a watch; `next` returns its events one by one. */
  async watch(
    path: string,
  ): Promise<{ headers: Answer['headers']; status: number; next(): Promise<Event>; close(): void }> {
    const stop = new AbortController();
    const answer = await request(this.server.url + path, {
      dispatcher: this.#agent,
      signal: stop.signal,
      headers: { authorization: `Bearer ${this.server.token}` },
    });
    const lines = linesOf(answer.body);
    return {
      headers: answer.headers,
      status: answer.statusCode,
      async next() {
        const { value, done } = await lines.next();
        if (done) throw new Error('the watch ended');
        return JSON.parse(value) as Event;
      },
      close: () => stop.abort(),
    };
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter(part => part !== '');
  }
}

/** The members of a JSON array. Throws for other values. */
export function listOf(value: Loose | readonly Loose[] | undefined): Loose[] {
  if (!Array.isArray(value)) throw new TypeError(`expected an array, not ${JSON.stringify(value)}`);
  return value as Loose[];
}

/** A cause in the details of a refusal. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** The causes of a refusal; empty if its body has none. */
export const causesIn = (body: Loose): readonly Cause[] =>
  (body['details']?.['causes'] ?? []) as unknown as readonly Cause[];

/** The rows of a Table. */
export const rowsIn = (table: Loose): readonly { readonly cells: readonly unknown[]; readonly object: Loose }[] =>
  table['rows'] as unknown as readonly { readonly cells: readonly unknown[]; readonly object: Loose }[];

/** Names of the items of a list. */
export const namesIn = (list: Loose): string[] => listOf(list['items']).map(item => textOf(item['metadata']!['name']));

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'nginx:1.25' }] },
};

/** A Deployment that the server accepts. */
export const deployment = (name: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'web' } }, template },
});

/** A Pod that the server accepts. */
export const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: template.spec,
});

/** A CustomResourceDefinition of widgets in a group, which may have any fields. */
export const openWidgets = (group: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    names: { kind: 'Widget', plural: 'widgets' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});
