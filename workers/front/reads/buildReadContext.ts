import { headersFor, indented } from '../answers/reply.js';
import type { ContinueTokens } from './continueToken.js';
import { bookmarkObject, emptyList, emptyListOf, errorEvent } from '../forms/jsonEvents.js';
import type { ReadContext } from './readContext.js';
import { FairLimiter } from '../fairness/fairLimiter.js';
import type { FrontRequest } from '../access/sender.js';
import { Slices } from '../fairness/slices.js';
import type { State } from '../state/state.js';
import type { EventForm, WatchHub } from '../watch/watchHub.js';
import { after } from '../../../core/api/awaitable.js';
import type { Exchange } from '../../../core/api/listener.js';
import { PAST_READS_AT_ONCE, SCANS_AT_ONCE } from '../../../core/limits.js';
import { type Reason, Refusal, type StatusBody } from '../../../core/model/refusal.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Naming } from '../../../core/naming.js';
import type { Choice } from '../../../core/request/negotiate.js';
import { cborDocument, cborEvent } from '../../../core/schema/cbor/cbor.js';
import { encodeCommon, encodeEnvelope, encodeMessage } from '../../../core/schema/protobuf/protobuf.js';
import { watchFrame } from '../../../core/schema/protobuf/protobufWatch.js';
import { chooseForm, eventForms } from '../../../core/request/forms.js';
import { firstValue } from '../../../core/request/query.js';
import { parseIncludeObject } from '../../../core/services/tables/index.js';
import { readJson, writeJson } from '../../../core/model/text/jsonText.js';
import type { Json } from '../../../core/model/object.js';
import { Answers, heldBytes } from '../answers/answers.js';
import { respondRendered } from '../answers/compress.js';
import type { Encodings } from '../forms/encodingCache.js';
import { cborForm, cborListForm } from '../forms/cborForms.js';
import { type EncodedForm, EncodedReads } from '../forms/encodedReads.js';
import { type MadeListForm, respondAssembled } from '../forms/assembledList.js';
import { protobufForm, ProtobufLists } from '../forms/protobufLists.js';
import { respondTextList } from '../forms/renderedList.js';
import type { PoolClient } from '../pool/poolClient.js';
import { Records } from '../forms/sharedEncodings.js';
import { textListForm, type TextListParts } from '../forms/jsonLists.js';
import type { WriterClient } from '../state/writerClient.js';

interface Parts {
  readonly state: State;
  readonly hub: WatchHub;
  readonly naming: Naming;
  readonly cbor: boolean;
  readonly tokens: ContinueTokens;
  /** Whether other processes write to the store. */
  readonly shared: boolean;
  readonly writer: WriterClient;
  readonly catchUp: () => void;
  readonly pool: PoolClient;
  readonly encodings: Encodings;
}

/** Number and longest length of the Accept headers whose negotiated form is remembered. */
const REMEMBERED = 1000;
const REMEMBERED_CHARACTERS = 256;
/** Number of the forms that are remembered for one kind: clients ask for few different ones. */
const REMEMBERED_CHOICES = 16;

const NOTHING = new Uint8Array();

const isPlain = (choice: Choice): boolean => choice.form === 'object' && choice.media === 'json' && !choice.pretty;

/** Builds the context of reads from the parts of the server. */
export function buildReadContext({
  state,
  hub,
  naming,
  cbor,
  tokens,
  shared,
  writer,
  catchUp,
  pool,
  encodings,
}: Parts): ReadContext {
  const answers = new Answers();
  const serving = { naming, cbor };
  const slices = new Slices();
  const records = new Records(pool, encodings, slices);
  const encoded = new EncodedReads(records);
  const protobufLists = new ProtobufLists(records);
  const plainReads = new Map<string, boolean>();
  const plainWatches = new Map<string, boolean>();
  const choices = new WeakMap<Resource, Map<string, Choice>>();
  const choose = (exchange: Exchange, resource: Resource, stream: boolean, collection = stream): Choice => {
    const accept = exchange.header('accept');
    const key = `${stream} ${collection} ${accept}`;
    let known = choices.get(resource);
    const remembered = known?.get(key);
    if (remembered) return remembered;
    const choice = chooseForm(resource, accept, serving, {
      stream,
      collection,
      ...(stream ? { forms: eventForms(false) } : {}),
    });
    if (!known) choices.set(resource, (known = new Map()));
    if (known.size < REMEMBERED_CHOICES && key.length <= REMEMBERED_CHARACTERS) known.set(key, choice);
    return choice;
  };
  const chooseListed = (exchange: Exchange, resource: Resource): Choice =>
    chooseForm(resource, exchange.header('accept'), serving, {
      stream: true,
      collection: true,
      forms: eventForms(true),
    });
  return {
    state,
    hub,
    tokens,
    ...serving,
    answers,
    slices,
    scans: new FairLimiter(SCANS_AT_ONCE),
    pastReads: new FairLimiter(PAST_READS_AT_ONCE),
    catchUp,
    mostRecent() {
      catchUp();
      return shared ? writer.sync() : undefined;
    },
    range: (prefix, revision, limit, after, counted) => writer.range({ prefix, revision, limit, after, counted }),
    past: async (prefix, from, to) => (await writer.past({ prefix, from, to })).events,
    wantsJson(exchange, resource, stream = false) {
      if (!stream && indented(exchange)) return false;
      const accept = exchange.header('accept') ?? '';
      const plain = stream ? plainWatches : plainReads;
      const key = resource.builtIn ? accept : `custom ${accept}`;
      let known = plain.get(key);
      if (known === undefined) {
        try {
          known = isPlain(choose(exchange, resource, stream));
        } catch {
          // The pool refuses it with the message that fits the request.
          known = false;
        }
        if (plain.size < REMEMBERED && key.length <= REMEMBERED_CHARACTERS) plain.set(key, known);
      }
      return known;
    },
    accepts: (exchange, resource, list) => void choose(exchange, resource, false, list),
    async respondObject(request, resource, entry) {
      const form = encodedForm(choose(request.exchange, resource, false), request, resource, naming);
      await answers.run(request.sender.usage, entry.length, async () => {
        if (form) await encoded.get(request, resource, entry, form);
        else
          await respondRendered(request.exchange, await pool.render(request, { objects: [entry.value], status: 200 }));
      });
    },
    async respondList(request, resource, entries, list, warnings) {
      const choice = choose(request.exchange, resource, false, true);
      const protobuf = protobufForm(choice, request.route, resource, naming, true);
      const headers = headersFor(resource, choice.contentType, warnings);
      const isSorted = choice.form === 'table' && resource.strategy.compareRows !== undefined;
      // Such a list is held as a whole.
      const held = isSorted ? entries.reduce((sum, { length }) => sum + length, 0) : heldBytes(entries);
      const made =
        entries.length > 0 && !isSorted
          ? madeListForm(choice, request, resource, { naming, records, now: pool.now })
          : undefined;
      await answers.run(request.sender.usage, held, async () => {
        if (protobuf) await protobufLists.respond(request, resource, entries, list, protobuf, headers);
        else if (made) await respondAssembled(request, headers, made, entries, list);
        else await respondTextList(pool, request, entries, { status: 200, list, warnings }, isSorted);
      });
    },
    eventForm: (request, resource, listed) =>
      renderedForm(
        listed ? chooseListed(request.exchange, resource) : choose(request.exchange, resource, true),
        request,
        resource,
        naming,
        { pool, encoded },
        listed,
      ),
  };
}

/** The form of a list that the front end makes of texts or encodings; undefined for any other. Throws 400. */
function madeListForm(
  choice: Choice,
  request: FrontRequest,
  resource: Resource,
  parts: TextListParts,
): MadeListForm | undefined {
  const cbor = cborForm(choice, request.route, resource);
  return cbor ? cborListForm(cbor, resource, parts.records) : textListForm(choice, request, resource, parts);
}

/** The form of an answer about one object, or of an event, that is made of encodings; undefined for any other. */
const encodedForm = (
  choice: Choice,
  { route }: FrontRequest,
  resource: Resource,
  naming: Naming,
): EncodedForm | undefined => protobufForm(choice, route, resource, naming, false) ?? cborForm(choice, route, resource);

/** The refusal that the pool has answered with, in JSON; otherwise an Error. */
function refusalIn(body: Uint8Array): Error {
  try {
    const { kind, reason, message, code } = readJson(body) as unknown as StatusBody;
    if (kind === 'Status') return new Refusal((reason ?? '') as Reason, message ?? '', undefined, code);
  } catch {
    // It is not JSON.
  }
  return new Error('the pool could not encode events');
}

/** An empty list in the form of the events. */
function emptyListBytes(choice: Choice, resource: Resource, naming: Naming): Uint8Array {
  const group = `${naming.group('meta.orchestrator.io')}/${choice.version}`;
  const list = choice.form === 'object' ? emptyListOf(resource) : emptyList('PartialObjectMetadataList', group);
  if (choice.media === 'cbor') return cborDocument(Buffer.from(writeJson(list)));
  if (choice.media !== 'protobuf') return Buffer.from(`${writeJson(list)}\n`);
  return choice.form === 'object'
    ? encodeEnvelope(list.apiVersion, list.kind, encodeMessage(resource.listType!, list as unknown as Json))
    : encodeCommon(list)!;
}

/** The form of events that the pool encodes. Throws 400 for a Table with an unknown `includeObject`. */
function renderedForm(
  choice: Choice,
  request: FrontRequest,
  resource: Resource,
  naming: Naming,
  { pool, encoded }: { readonly pool: PoolClient; readonly encoded: EncodedReads },
  listed: boolean,
): EventForm {
  const table = choice.form === 'table';
  const includeObject = table ? firstValue(request.route.query, 'includeObject') : '';
  const list = listed ? emptyListBytes(choice, resource, naming) : undefined;
  const shared = encodedForm(choice, request, resource, naming);
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
      const object = bookmarkObject(resource, naming, revision, initialEnd, list) as {
        kind: string;
        apiVersion: string;
        metadata: object;
      };
      if (table) {
        const made = Promise.resolve(encode('BOOKMARK', Buffer.from(JSON.stringify(object)), header));
        // The last one of a kind that is no longer served cannot be encoded; clients do not depend on it.
        return made.catch(() => NOTHING);
      }
      const group = `${naming.group('meta.orchestrator.io')}/${choice.version}`;
      const shown =
        choice.form === 'object'
          ? object
          : { kind: 'PartialObjectMetadata', apiVersion: group, metadata: object.metadata };
      if (choice.media === 'cbor') return cborEvent('BOOKMARK', cborDocument(Buffer.from(writeJson(shown))));
      if (choice.media !== 'protobuf') return Buffer.from(`${writeJson({ type: 'BOOKMARK', object: shown })}\n`);
      const message =
        choice.form === 'object'
          ? encodeEnvelope(object.apiVersion, object.kind, encodeMessage(resource.type, shown as Json))
          : encodeCommon(shown);
      return watchFrame('BOOKMARK', message!);
    },
    error: refusal => {
      const status = refusal.toStatus();
      if (choice.media === 'cbor') return cborEvent('ERROR', cborDocument(Buffer.from(writeJson(status))));
      return choice.media === 'protobuf' ? watchFrame('ERROR', encodeCommon(status)!) : errorEvent(refusal);
    },
  };
}
