import { delay } from '../runtime/timers.js';
import { bytesOf } from '../server/program/requests.js';
import type { ServerAnswer, ServerRequest } from '../server/program/types.js';
import { startServer, type RunningServer } from '../server/start.js';
import { readGivenSettings } from '../settings/given.js';
import type { GivenSettings } from '../settings/settings.js';

/** The parts of a request other than method and path. */
export interface TestRequest extends ServerRequest {
  /** Bearer token; default: the administrator's. `''`: none is sent. */
  readonly token?: string;
}

/** The answer to a request of a test. */
export type TestAnswer = ServerAnswer;

/** A server for tests. `client` and `as` are those of the server: their requests are not sent over HTTP. */
export interface TestServer extends Pick<RunningServer, 'client' | 'as'> {
  readonly server: RunningServer;
  /** Sends a request over HTTP as the administrator, unless it has a token of its own. */
  request(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  /**
   * Repeats a GET until its answer satisfies the condition, to wait for changes by controllers. It has no time limit
   * other than that of the test.
   */
  until(path: string, condition: (answer: TestAnswer) => boolean): Promise<TestAnswer>;
  close(): Promise<void>;
}

/** Milliseconds between the requests of `until`. */
const PAUSE_MS = 20;

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Starts a real server with a store in memory, on free ports of the loopback address. Resolves when the namespace
 * `default` exists. Relative paths and packages in `plugins` are resolved from the working directory. Built-in groups
 * have neutral names unless `naming` is `kubernetes`.
 *
 * @example
 * const server = await startTestServer({ plugins: [{ use: './dist/index.js', config: { level: 3 } }] });
 * const { status } = await server.request('GET', '/api/v1/namespaces/default');
 * await server.close();
 */
export async function startTestServer(settings: GivenSettings = {}): Promise<TestServer> {
  const server = await startServer({ storage: 'memory', port: 0, httpPort: 0, ...readGivenSettings(settings) });
  const request = async (method: string, path: string, sent: TestRequest = {}): Promise<TestAnswer> => {
    const token = sent.token ?? server.token;
    const type = sent.contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const answer = await fetch((server.httpUrl ?? server.url) + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(sent.body === undefined ? {} : { 'content-type': type }),
        ...sent.headers,
      },
      ...(sent.body === undefined ? {} : { body: bytesOf(sent.body)! }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: parseJson(text) };
  };
  const until: TestServer['until'] = async (path, condition) => {
    for (;;) {
      const answer = await request('GET', path);
      if (condition(answer)) return answer;
      await delay(PAUSE_MS);
    }
  };
  await until('/api/v1/namespaces/default', ({ status }) => status === 200);
  const { client, as } = server;
  return { server, client, as, request, until, close: () => server.close() };
}
