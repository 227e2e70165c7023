import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type UnknownRecord, stringAt } from '../../model/record.js';
import type { ServerConnection } from './kubeconfig.js';

/** Time without data from the server after which a request fails. */
const IDLE_TIMEOUT_MS = 30_000;

/** Requests of a command to a running server, with JSON in both directions. */
export class ApiClient {
  constructor(readonly connection: ServerConnection) {}

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

  async #call(method: string, path: string, object?: object): Promise<{ status: number; body: UnknownRecord }> {
    const { url, options } = this.connection;
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const sent = object === undefined ? undefined : JSON.stringify(object);
    const headers = { ...options.headers, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = send(new URL(path, url), { ...options, method, headers, timeout: IDLE_TIMEOUT_MS }, resolve);
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no data for ${IDLE_TIMEOUT_MS / 1000} s`)));
      outgoing.on('error', error => reject(new Error(`${url} cannot be reached: ${error.message}`)));
      outgoing.end(sent);
    });
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    return { status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) as UnknownRecord };
  }
}
