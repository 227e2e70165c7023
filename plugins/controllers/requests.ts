import type { Time } from '../../core/model/scalars.js';
import { type ApiObject, type Host, Refusal } from '../../core/api/index.js';

/** The current time in RFC 3339, in whole seconds. */
export const timestamp = (host: Host<'control'>): Time => `${new Date(host.now()).toISOString().slice(0, 19)}Z` as Time;

/** Returns the result of a request, or undefined if it fails with `code`. */
async function undefinedOn(code: number, request: Promise<ApiObject>): Promise<ApiObject | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Refusal && error.code === code) return undefined;
    throw error;
  }
}

/** Requests of a controller. Expected errors are returned as undefined. */
export class Requests {
  readonly #host: Host<'control'>;
  readonly #controller: string;

  constructor(host: Host<'control'>, controller: string) {
    this.#host = host;
    this.#controller = controller;
  }

  /** Reads an object; undefined if it does not exist. */
  get(path: string): Promise<ApiObject | undefined> {
    return undefinedOn(404, this.#host.request(this.#controller, { method: 'GET', path }));
  }

  /** Creates an object; undefined if it already exists. Throws if the namespace is missing or terminating. */
  async create(path: string, body: ApiObject): Promise<ApiObject | undefined> {
    try {
      return await this.#host.request(this.#controller, {
        method: 'POST',
        path,
        contentType: 'application/json',
        body,
      });
    } catch (error) {
      if (error instanceof Refusal && error.reason === 'AlreadyExists') return undefined;
      throw error;
    }
  }

  /** Replaces an object; undefined if it does not exist. */
  replace(path: string, body: ApiObject): Promise<ApiObject | undefined> {
    return undefinedOn(
      404,
      this.#host.request(this.#controller, { method: 'PUT', path, contentType: 'application/json', body }),
    );
  }

  /** Applies a JSON Merge Patch (RFC 7386); undefined if the object does not exist. */
  merge(path: string, body: object): Promise<ApiObject | undefined> {
    const request = { method: 'PATCH', path, contentType: 'application/merge-patch+json', body } as const;
    return undefinedOn(404, this.#host.request(this.#controller, request));
  }

  /** Applies a configuration as `manager`, which takes over all fields; undefined if the object does not exist. */
  apply(path: string, manager: string, body: object): Promise<ApiObject | undefined> {
    const query = `?fieldManager=${encodeURIComponent(manager)}&force=true`;
    const request = { method: 'PATCH', path: path + query, contentType: 'application/apply-patch+yaml', body } as const;
    return undefinedOn(404, this.#host.request(this.#controller, request));
  }

  /** Deletes an object or a collection with DeleteOptions; undefined if it does not exist. */
  delete(path: string, options: object): Promise<ApiObject | undefined> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
    return undefinedOn(
      404,
      this.#host.request(this.#controller, { method: 'DELETE', path, contentType: 'application/json', body }),
    );
  }
}
