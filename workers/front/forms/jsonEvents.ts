import { jsonEvent, type EventForm, type EventType } from '../watch/watchHub.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Refusal } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';

/** The form the front end can serve from its own bytes: JSON of the stored version. */
export function jsonForm(resource: Resource, naming: Naming, listed: boolean): EventForm {
  const list = listed ? Buffer.from(`${JSON.stringify(emptyListOf(resource))}\n`) : undefined;
  return {
    key: 'json',
    mediaType: 'application/json',
    firstDiffers: false,
    encode: (type: EventType, object: Uint8Array) => jsonEvent(type, object),
    bookmark: (revision, initialEnd) =>
      Buffer.from(
        `${JSON.stringify({ type: 'BOOKMARK', object: bookmarkObject(resource, naming, revision, initialEnd, list) })}\n`,
      ),
    error: errorEvent,
  };
}

/** ERROR event in JSON. */
export const errorEvent = (refusal: Refusal): Buffer =>
  Buffer.from(`${JSON.stringify({ type: 'ERROR', object: refusal.toStatus() })}\n`);

/** A list without items, as JSON value. */
export const emptyList = (kind: string, apiVersion: string) => ({ kind, apiVersion, metadata: {}, items: null });

/** A list of the resource without items, as JSON value: for custom kinds with the members that upstream's has. */
export const emptyListOf = ({ listKind, apiVersion, builtIn }: Resource) =>
  builtIn ? emptyList(listKind, apiVersion) : { apiVersion, items: [], kind: listKind };

/**
 * The object of a BOOKMARK: kind, apiVersion and the revision; the mark of the end of initial events as an annotation.
 * `list`: the bytes of an empty list in the form of the events, of which clients that list by watching make theirs.
 */
export function bookmarkObject(
  resource: Resource,
  naming: Naming,
  revision: number,
  initialEnd: boolean,
  list: Uint8Array | undefined,
): object {
  const annotations = {
    [`${naming.group('orchestrator.io')}/initial-events-end`]: 'true',
    ...(list
      ? { [naming.label('orchestrator.io/initial-events-list-blueprint')]: Buffer.from(list).toString('base64') }
      : {}),
  };
  const metadata = { resourceVersion: String(revision), ...(initialEnd ? { annotations } : {}) };
  return { kind: resource.kind, apiVersion: resource.apiVersion, metadata };
}
