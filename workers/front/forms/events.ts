import { normalize } from '../../../core/schema/decode/decode.js';
import { after } from '../../../core/api/awaitable.js';
import { type Reason, Refusal, type StatusBody } from '../../../core/model/refusal.js';
import { readJson } from '../../../core/model/text/jsonText.js';
import type { Naming } from '../../../core/naming.js';
import { firstValue } from '../../../core/request/query.js';
import type { Resource } from '../../../core/schema/resource.js';
import { parseIncludeObject } from '../../../core/services/tables/index.js';
import { type EventForm, type EventType, jsonEvent } from '../watch/watchEvents.js';
import type { EncodedReads } from './encodedReads.js';
import type { Asked, FormParts, MadeObject } from './form.js';
import { JSON_FORM } from './jsonForms.js';
import { MEDIA } from './media.js';

const NOTHING = new Uint8Array();

/** The events that the front end can serve from its own bytes: JSON of the stored version. */
export function storedEvents(resource: Resource, naming: Naming, listed: boolean): EventForm {
  const list = listed ? JSON_FORM.body(emptyListOf(resource)) : undefined;
  return {
    key: 'json',
    mediaType: 'application/json',
    firstDiffers: false,
    encode: (type: EventType, object: Uint8Array) => jsonEvent(type, object),
    bookmark: (revision, initialEnd) =>
      JSON_FORM.event('BOOKMARK', bookmarkObject(resource, naming, revision, initialEnd, list)),
    error: refusal => JSON_FORM.event('ERROR', refusal.toStatus()),
  };
}

/** A list without items, as a JSON value. */
const emptyList = (kind: string, apiVersion: string) => ({ kind, apiVersion, metadata: {}, items: null });

/**
 * A list of the resource without items, as a JSON value. Lists of custom kinds have the members that upstream's have.
 */
const emptyListOf = ({ listKind, apiVersion, builtIn }: Resource) =>
  builtIn ? emptyList(listKind, apiVersion) : { apiVersion, items: [], kind: listKind };

const emptyObjects = new WeakMap<Resource, { readonly [member: string]: object }>();

/**
 * An object of a built-in kind without any fields set: it has the members that upstream always encodes, such as the
 * `spec` of a Lease and the null of `metadata.creationTimestamp`.
 */
function emptyObject(resource: Resource): { readonly [member: string]: object } {
  if (!resource.builtIn) return {};
  let empty = emptyObjects.get(resource);
  if (!empty) {
    empty = normalize(resource.type, {}, { strictErrors: [] }) as { readonly [member: string]: object };
    emptyObjects.set(resource, empty);
  }
  return empty;
}

/**
 * The object of a BOOKMARK: kind, apiVersion and the revision; the mark of the end of initial events as an annotation.
 * `list`: the bytes of an empty list in the form of the events, which clients that list by watching fill with the
 * objects.
 */
function bookmarkObject(
  resource: Resource,
  naming: Naming,
  revision: number,
  initialEnd: boolean,
  list: Uint8Array | undefined,
): MadeObject & { readonly metadata: object } {
  const annotations = {
    [`${naming.group('orchestrator.io')}/initial-events-end`]: 'true',
    ...(list
      ? { [naming.label('orchestrator.io/initial-events-list-blueprint')]: Buffer.from(list).toString('base64') }
      : {}),
  };
  const { metadata: empty, ...members } = emptyObject(resource);
  const metadata = { resourceVersion: String(revision), ...empty, ...(initialEnd ? { annotations } : {}) };
  return { kind: resource.kind, apiVersion: resource.apiVersion, metadata, ...members };
}

/** The refusal in the body of an answer of the pool, if it is JSON; otherwise an Error. */
function refusalIn(body: Uint8Array): Error {
  try {
    const { kind, reason, message, code } = readJson(body) as unknown as StatusBody;
    if (kind === 'Status') return new Refusal((reason ?? '') as Reason, message ?? '', undefined, code);
  } catch {
    // The body is not JSON.
  }
  return new Error('the pool could not encode events');
}

/** Events that the pool encodes, or of kept encodings. Throws 400 for a Table with an unknown `includeObject`. */
export function renderedEvents(
  asked: Asked,
  { naming, pool }: FormParts,
  encoded: EncodedReads,
  listed: boolean,
): EventForm {
  const { request, resource, choice } = asked;
  const table = choice.form === 'table';
  const includeObject = table ? firstValue(request.route.query, 'includeObject') : '';
  const isObject = choice.form === 'object';
  const media = MEDIA[choice.media];
  const shared = media.object(asked, naming);
  const metaVersion = `${naming.group('meta.orchestrator.io')}/${choice.version}`;
  const empty = isObject ? emptyListOf(resource) : emptyList('PartialObjectMetadataList', metaVersion);
  const list = listed ? media.body(empty, isObject ? resource.listType : undefined) : undefined;
  const encodeAll: NonNullable<EventForm['encodeAll']> = async (events, header) => {
    const entries = events.flatMap(({ entry }) => entry ?? []);
    if (shared && entries.length === events.length) {
      const messages = await encoded.messages(request, entries, shared);
      return events.map(({ type }, i) => shared.toEvent(type, messages[i]!));
    }
    const types = events.map(({ type }) => type);
    const objects = events.map(({ object }) => object);
    const result = await pool.render(request, { objects, status: 200, events: { types, header, listed } });
    if (result.is === 'respond') throw refusalIn(result.body);
    if (result.is !== 'rendered') throw new Error('the pool could not encode events');
    return result.pieces;
  };
  const encode: EventForm['encode'] = (type, object, header, entry) => {
    const message =
      shared && (entry ? encoded.message(request, entry, shared) : encoded.messageOfDeleted(object, shared));
    if (message) return after(message, known => shared.toEvent(type, known));
    return encodeAll([{ type, object }], header).then(([event]) => event!);
  };
  // A parameter that no Table can be made with is refused before the stream begins.
  if (table) parseIncludeObject(includeObject);
  return {
    key: `${choice.form} ${choice.version} ${choice.media} ${resource.apiVersion} ${includeObject}`,
    mediaType: choice.contentType,
    firstDiffers: table,
    encode,
    encodeAll,
    bookmark: (revision, initialEnd, header) => {
      const object = bookmarkObject(resource, naming, revision, initialEnd, list);
      if (table) {
        const made = Promise.resolve(encode('BOOKMARK', Buffer.from(JSON.stringify(object)), header));
        // The last bookmark of a kind that is no longer served cannot be encoded; clients do not depend on it.
        return made.catch(() => NOTHING);
      }
      if (isObject) return media.event('BOOKMARK', object, resource.type);
      // The metadata of custom kinds has a built-in type here as well.
      const metadata = { creationTimestamp: null, ...object.metadata };
      return media.event('BOOKMARK', {
        kind: 'PartialObjectMetadata',
        apiVersion: metaVersion,
        metadata,
      } as MadeObject);
    },
    error: refusal => media.event('ERROR', refusal.toStatus()),
  };
}
