import { Agent, request } from 'undici';
import type { Event, Loose } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

/** The address of a server, and credentials. */
export interface Reached {
  readonly url: string;
  readonly token: string;
}

const agent = new Agent({ connect: { rejectUnauthorized: false }, bodyTimeout: 0 });

/** A watch from the client's side. */
export interface Watching {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** The next event; undefined once the server has ended the stream. Rejects if the connection breaks. */
  next(): Promise<Event | undefined>;
  /** Events up to and including the first one that matches. */
  until(fits: (event: Event) => boolean): Promise<Event[]>;
  /** All events up to the end of the stream. */
  rest(): Promise<Event[]>;
  close(): void;
}

/** The bytes of a streamed answer. JSON streams are read as one document per line. */
export async function openWatch(server: Reached, path: string, accept?: string): Promise<Watching> {
  const stop = new AbortController();
  const answer = await request(server.url + path, {
    dispatcher: agent,
    signal: stop.signal,
    headers: { authorization: `Bearer ${server.token}`, ...(accept ? { accept } : {}) },
  });
  answer.body.on('error', () => undefined);
  const lines = linesOf(answer.body);
  const next = async (): Promise<Event | undefined> => {
    const { value, done } = await lines.next();
    return done ? undefined : (JSON.parse(value) as Event);
  };
  return {
    status: answer.statusCode,
    headers: answer.headers,
    next,
    async until(fits) {
      const events: Event[] = [];
      for (;;) {
        const event = await next();
        if (!event) throw new Error(`the watch ended after ${JSON.stringify(events.slice(-3))}`);
        events.push(event);
        if (fits(event)) return events;
      }
    },
    async rest() {
      const events: Event[] = [];
      for (let event = await next(); event; event = await next()) events.push(event);
      return events;
    },
    close: () => stop.abort(),
  };
}

/** A JSON request with a JSON answer. Throws for a status of 300 or above. */
export async function send(
  server: Reached,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<Loose> {
  const answer = await request(server.url + path, {
    method,
    dispatcher: agent,
    headers: {
      authorization: `Bearer ${server.token}`,
      'content-type': method === 'PATCH' ? MERGE : 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const value = (await answer.body.json()) as Loose;
  if (answer.statusCode > 299) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
  return value;
}

/** A GET that returns the body as bytes. */
export async function getBytes(
  server: Reached,
  path: string,
  headers: { readonly [name: string]: string },
  method: 'GET' | 'DELETE' = 'GET',
): Promise<{ status: number; headers: Watching['headers']; bytes: Buffer }> {
  const answer = await request(server.url + path, {
    method,
    dispatcher: agent,
    headers: { authorization: `Bearer ${server.token}`, ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
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

type Metadata = { readonly name: string; readonly resourceVersion: string } & Loose;

/** Metadata of an object or list. */
export const metadataOf = (object: Loose): Metadata => object['metadata'] as Metadata;
/** Its resourceVersion. */
export const versionOf = (object: Loose): string => metadataOf(object).resourceVersion;
/** `ADDED a`. */
export const brief = (event: Event): string => `${event.type} ${metadataOf(event.object).name ?? ''}`.trim();
/** True if an event is about the object with this name. */
export const about =
  (name: string) =>
  (event: Event): boolean =>
    metadataOf(event.object).name === name;
/** True if an event is a bookmark. */
export const isBookmark = (event: Event): boolean => event.type === 'BOOKMARK';

/** A Secret, a kind that no controller creates. */
export const secret = (name: string, value = '', labels?: { readonly [name: string]: string }): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, ...(labels ? { labels } : {}) },
  stringData: { value },
});

/** A merge patch that changes the value of that Secret. */
export const valued = (value: string): object => ({ stringData: { value } });
