import { writeJson } from '../../core/model/text/jsonText.js';
import type { ApiObject } from '../../core/model/object.js';
import { recordAt, stringAt } from '../../core/model/record.js';
import type { Naming } from '../../core/naming.js';
import { randomUUID } from '../../core/runtime/random.js';
import { errorOf, readAnswer } from '../../core/services/webhooks/answer.js';
import type { HttpAnswer } from '../../core/services/webhooks/client.js';

/** Thrown for an answer that converts nothing, with upstream's text. */
export class ReviewError extends Error {}

/** The supported versions of ConversionReview. */
const VERSIONS = ['v1', 'v1beta1'];

/** A review to be sent. */
export interface ConversionReview {
  readonly uid: string;
  readonly apiVersion: string;
  readonly body: string;
}

/** A review that asks for objects in a version. Throws ReviewError for a webhook that accepts no known version. */
export function conversionReview(
  naming: Naming,
  versions: readonly string[],
  objects: readonly ApiObject[],
  desiredAPIVersion: string,
): ConversionReview {
  const version = versions.find(one => VERSIONS.includes(one));
  if (version === undefined) throw new ReviewError('no supported conversion review versions');
  const apiVersion = naming.apiVersion(`apiextensions.orchestrator.io/${version}`);
  const uid = randomUUID();
  const request = { uid, desiredAPIVersion, objects };
  return { uid, apiVersion, body: writeJson({ kind: 'ConversionReview', apiVersion, request }) };
}

/** The objects of an answer, in the order of the request. Throws ReviewError, and CallFailed for no object. */
export function convertedObjects(answer: HttpAnswer, { uid, apiVersion }: ConversionReview): readonly unknown[] {
  if (answer.status < 200 || answer.status > 206) throw new ReviewError(errorOf(answer));
  const body = readAnswer(answer);
  const given = [stringAt(body, 'apiVersion'), stringAt(body, 'kind')];
  if (given[0] !== apiVersion || given[1] !== 'ConversionReview')
    throw new ReviewError(
      given[0] === '' || given[1] === ''
        ? `expected webhook response of ${apiVersion}, Kind=ConversionReview, got ${given[0] || '/'}, Kind=${given[1]}`
        : `no kind ${JSON.stringify(given[1])} is registered for version ${JSON.stringify(given[0])}`,
    );
  const response = recordAt(body, 'response');
  if (!response) throw new ReviewError('no response provided');
  const status = stringAt(response, 'result', 'status');
  const answered = stringAt(response, 'uid');
  if (answered !== uid && (apiVersion.endsWith('/v1') || answered !== ''))
    throw new ReviewError(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`);
  if (status !== 'Success') {
    const message = stringAt(response, 'result', 'message');
    throw new ReviewError(message || `response.result.status was '${status}', not 'Success'`);
  }
  const objects = response['convertedObjects'];
  return Array.isArray(objects) ? objects : [];
}
