import type { Client, CollectionOptions, ResourceClient } from '../../api/client/client.js';
import type { ObjectOf, ResourceRef } from '../../api/client/reference.js';

/**
 * The parts of a request other than method and path.
 *
 * @example
 * await server.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'shop' } } });
 */
export interface ServerRequest {
  /** Sent as JSON; a text, or bytes, as they are. */
  readonly body?: unknown;
  /** Default: `application/json`, and `application/merge-patch+json` for PATCH. */
  readonly contentType?: string;
  readonly headers?: { readonly [name: string]: string };
}

/** The answer to a request. */
export interface ServerAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: programs read answers of any kind member by member
  readonly body: any;
}

/** A change of an object that is watched. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/** Options of a watch: the objects, and when it ends. */
export interface WatchOptions extends CollectionOptions {
  /** Only changes after this version, as `list` returns it. Absent: first all current objects, as ADDED. */
  readonly resourceVersion?: string;
  /** Ends the watch. So does leaving the loop. */
  readonly signal?: AbortSignal;
}

/** The objects of one resource, with their changes. */
export interface WatchedResourceClient<T> extends ResourceClient<T> {
  /**
   * The changes of objects, in order, until the server closes. Throws Refusal with the reason Expired if changes after
   * the resourceVersion are no longer known, or if the program reads much slower than objects change.
   *
   * @example
   * for await (const { type, object } of server.client.resource('pods').watch({ namespace: 'shop' }))
   *   console.log(type, object.metadata.name);
   */
  watch(options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
}

/**
 * The client of a server inside its process. Its requests pass the whole pipeline, without HTTP.
 *
 * @example
 * const pod = await server.client.resource('pods').get({ namespace: 'shop', name: 'web' });
 */
export interface ServerClient extends Client {
  resource<const R extends ResourceRef>(resource: R): WatchedResourceClient<ObjectOf<R>>;
}

/** A user of a server inside its process. */
export interface ServerUser {
  readonly client: ServerClient;
  /**
   * Makes a request, without HTTP: it passes all stages except the listener and authentication. Resolves with any
   * answer.
   *
   * @example
   * const { status } = await server.request('GET', '/api/v1/namespaces/default');
   */
  request(method: string, path: string, request?: ServerRequest): Promise<ServerAnswer>;
}
