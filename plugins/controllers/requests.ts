import { type ApiObject, type Host, Refusal } from '../../core/api/index.js';

/** Now, as times in objects are written: RFC 3339 in whole seconds. */
export const timestamp = (host: Host): string => `${new Date(host.now()).toISOString().slice(0, 19)}Z`;

/** The request of one controller that turns a refusal with `code` into undefined. */
async function unless(code: number, request: Promise<ApiObject>): Promise<ApiObject | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Refusal && error.code === code) return undefined;
    throw error;
  }
}

/** Requests of one controller, with the answers that its loops expect as values. */
export class Requests {
  readonly #host: Host;
  readonly #controller: string;

  constructor(host: Host, controller: string) {
    this.#host = host;
    this.#controller = controller;
  }

  /** The object, or undefined if there is none. */
  get(path: string): Promise<ApiObject | undefined> {
    return unless(404, this.#host.request(this.#controller, { method: 'GET', path }));
  }

  /** Creates; undefined if the name is taken. Throws if the namespace is gone or going. */
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

  /** Replaces; undefined if the object is gone. */
  replace(path: string, body: ApiObject): Promise<ApiObject | undefined> {
    return unless(
      404,
      this.#host.request(this.#controller, { method: 'PUT', path, contentType: 'application/json', body }),
    );
  }

  /** Applies a JSON Merge Patch (RFC 7386); undefined if the object is gone. */
  merge(path: string, body: object): Promise<ApiObject | undefined> {
    const request = { method: 'PATCH', path, contentType: 'application/merge-patch+json', body } as const;
    return unless(404, this.#host.request(this.#controller, request));
  }

  /** Deletes an object or a collection; undefined if there was none. `options` are members of DeleteOptions. */
  delete(path: string, options: object): Promise<ApiObject | undefined> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
    return unless(
      404,
      this.#host.request(this.#controller, { method: 'DELETE', path, contentType: 'application/json', body }),
    );
  }
}
