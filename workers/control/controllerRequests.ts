import type { InternalRequest } from '../../core/api/host.js';
import { writeJson } from '../../core/model/text/jsonText.js';
import type { ApiObject } from '../../core/model/object.js';
import { answeredObject } from '../../core/request/answeredObject.js';
import { InFlight } from '../../core/threads/inFlight.js';
import type { ControllerRequest, ControllerResponse } from '../../core/threads/messages/lifecycle.js';

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
    return answeredObject(response.status, response.body);
  }

  /** Handles the response to a request. */
  handleResponse(response: ControllerResponse): void {
    const resolve = this.#inFlight.get(response.requestId);
    this.#inFlight.delete(response.requestId);
    resolve?.(response);
  }
}
