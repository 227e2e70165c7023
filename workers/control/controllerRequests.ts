import type { InternalRequest } from '../../core/api/host.js';
import { writeJson } from '../../core/model/text/jsonText.js';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal, type StatusBody } from '../../core/model/refusal.js';
import { decodeStored } from '../../core/plugin/informers/stored.js';
import { InFlight } from '../../core/threads/inFlight.js';
import type { ControllerRequest, ControllerResponse } from '../../core/threads/messages/lifecycle.js';

const OPENING = '{'.charCodeAt(0);

/** Returns the object of a response. For a status of 300 or above, throws the Refusal that it represents. */
function objectOf({ status, body }: ControllerResponse): ApiObject {
  // For kinds that are no longer served, the answer is plain text.
  if (status >= 300 && body[0] !== OPENING) throw new Refusal('NotFound', 'no such path', {}, status);
  const object = body.length > 0 ? decodeStored(body) : ({} as ApiObject);
  if (status < 300) return object;
  const { reason = '', message = `status ${status}`, details } = object as unknown as StatusBody;
  throw new Refusal(reason as never, message, details, status);
}

/** Sends requests of controllers to the front end; they pass the whole pipeline. */
export class ControllerRequests {
  readonly #inFlight = new InFlight<(response: ControllerResponse) => void>();

  constructor(
    readonly post: (request: ControllerRequest) => void,
    /** The last revision that the controllers have seen. */
    readonly revision: () => number,
  ) {}

  /** Makes a request as the controller. Resolves with the object of the response, rejects with Refusal. */
  async send(controller: string, { method, path, contentType, body }: InternalRequest): Promise<ApiObject> {
    const response = await new Promise<ControllerResponse>(resolve => {
      const requestId = this.#inFlight.add(resolve);
      this.post({
        requestId,
        revision: this.revision(),
        controller,
        method,
        path,
        contentType: contentType ?? 'application/json',
        body: body === undefined ? undefined : Buffer.from(writeJson(body)),
      });
    });
    return objectOf(response);
  }

  /** Handles the response to a request. */
  handleResponse(response: ControllerResponse): void {
    const resolve = this.#inFlight.get(response.requestId);
    this.#inFlight.delete(response.requestId);
    resolve?.(response);
  }
}
