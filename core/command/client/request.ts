import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { type ClientAccess, loadCredentials } from '../../client/index.js';
import { type UnknownRecord, stringAt } from '../../model/record.js';
import { atFlag } from '../../settings/atFlag.js';

/** Time without data from the server after which a request fails. */
const IDLE_TIMEOUT_MS = 30_000;

type Values = { readonly [name: string]: unknown };

/**
 * The server that the flags of a command name: that of `--kubeconfig`, by default of the administrator's kubeconfig in
 * the data directory. `readsInput`: the command reads standard input, so that no credential plugin may. Throws
 * ConfigError.
 */
export function serverOf(values: Values, readsInput = false): ClientAccess {
  const directory = typeof values['data-dir'] === 'string' ? values['data-dir'] : './.capstan';
  const kubeconfig = typeof values.kubeconfig === 'string' ? values.kubeconfig : join(directory, 'admin.kubeconfig');
  return atFlag('--kubeconfig', () => loadCredentials({ kubeconfig, ...(readsInput && { hasTerminal: false }) }));
}

/** A request to a server. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path below the URL of the server. */
  readonly path: string;
  /** Sent as JSON. */
  readonly object?: object;
  /** Time without data from the server after which it fails. */
  readonly timeoutMs: number;
}

/**
 * Sends a request; again where the server has answered 401 to credentials that may be replaced by now. Rejects with an
 * Error where there is no answer.
 */
export async function sendRequest(access: ClientAccess, request: ClientRequest): Promise<IncomingMessage> {
  for (let isAgain = false; ; isAgain = true) {
    const credentials = await access.get();
    const answer = await sendOnce(access, request, access.requestOptions(credentials));
    if (answer.statusCode !== 401 || !access.refused(credentials) || isAgain) return answer;
    answer.resume();
  }
}

function sendOnce(
  { server }: ClientAccess,
  { method, path, object, timeoutMs }: ClientRequest,
  options: ReturnType<ClientAccess['requestOptions']>,
): Promise<IncomingMessage> {
  const send = server.startsWith('https:') ? httpsRequest : httpRequest;
  const sent = object === undefined ? undefined : JSON.stringify(object);
  const headers = { ...options.headers, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = send(server + path, { ...options, method, headers, timeout: timeoutMs }, resolve);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no data for ${timeoutMs / 1000} s`)));
    outgoing.on('error', error => reject(new Error(`${server} cannot be reached: ${error.message}`)));
    outgoing.end(sent);
  });
}

/** Requests of a command to a running server, with JSON in both directions. */
export class ApiClient {
  constructor(readonly access: ClientAccess) {}

  /** The object at a path; undefined if there is none. Throws with the server's message for any other refusal. */
  async get(path: string): Promise<UnknownRecord | undefined> {
    const { status, body } = await this.#call('GET', path);
    if (status === 404) return undefined;
    return this.#check('GET', path, status, body);
  }

  /** Writes. Throws with the server's message if it refuses. */
  async send(method: 'POST' | 'PUT' | 'DELETE', path: string, object?: object): Promise<UnknownRecord> {
    const { status, body } = await this.#call(method, path, object);
    return this.#check(method, path, status, body);
  }

  #check(method: string, path: string, status: number, body: UnknownRecord): UnknownRecord {
    if (status < 300) return body;
    throw new Error(`${method} ${path}: ${stringAt(body, 'message') || `the server answered ${status}`}`);
  }

  async #call(
    method: ClientRequest['method'],
    path: string,
    object?: object,
  ): Promise<{ status: number; body: UnknownRecord }> {
    const request = { method, path, ...(object && { object }), timeoutMs: IDLE_TIMEOUT_MS };
    const answer = await sendRequest(this.access, request);
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    return { status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) as UnknownRecord };
  }
}
