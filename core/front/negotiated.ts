import { jsonEvent, type EventForm, type EventType } from './watch.js';
import type { Resource } from '../schema/resource.js';
import type { Refusal } from '../model/refusal.js';
import type { Naming } from '../naming.js';

/** The form the front end can serve from its own bytes: JSON of the stored version. */
export function jsonForm(resource: Resource, naming: Naming): EventForm {
  return {
    key: 'json',
    mediaType: 'application/json',
    firstDiffers: false,
    encode: (type: EventType, object: Uint8Array) => jsonEvent(type, object),
    bookmark: (revision, initialEnd) =>
      Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: bookmarkObject(resource, naming, revision, initialEnd) })}\n`),
    error: errorEvent,
  };
}

/** ERROR event in JSON. */
export const errorEvent = (refusal: Refusal): Buffer =>
  Buffer.from(`${JSON.stringify({ type: 'ERROR', object: refusal.toStatus() })}\n`);

/** The object of a BOOKMARK: kind, apiVersion and the revision; the mark of the end of initial events as an annotation. */
export function bookmarkObject(resource: Resource, naming: Naming, revision: number, initialEnd: boolean): object {
  const metadata = {
    resourceVersion: String(revision),
    ...(initialEnd ? { annotations: { [`${naming.group('orchestrator.io')}/initial-events-end`]: 'true' } } : {}),
  };
  return { kind: resource.kind, apiVersion: resource.apiVersion, metadata };
}
