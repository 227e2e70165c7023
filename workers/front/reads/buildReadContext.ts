import { headersFor, indented } from '../answers/reply.js';
import type { ContinueTokens } from './continueToken.js';
import type { ReadContext } from './readContext.js';
import { FairLimiter } from '../fairness/fairLimiter.js';
import { Slices } from '../fairness/slices.js';
import type { State } from '../state/state.js';
import type { WatchHub } from '../watch/watchHub.js';
import type { Exchange } from '../../../core/api/listener.js';
import { PAST_READS_AT_ONCE, SCANS_AT_ONCE } from '../../../core/limits.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Naming } from '../../../core/naming.js';
import type { Choice } from '../../../core/request/negotiate.js';
import { chooseForm, eventForms } from '../../../core/request/forms.js';
import { Answers, heldBytes } from '../answers/answers.js';
import { respondRendered } from '../answers/compress.js';
import type { EncodingCache } from '../forms/encodingCache.js';
import { EncodedReads } from '../forms/encodedReads.js';
import type { PoolClient } from '../pool/poolClient.js';
import { renderedEvents } from '../forms/events.js';
import { listForm, MEDIA } from '../forms/media.js';
import { SharedEncodings } from '../forms/sharedEncodings.js';
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
  readonly encodings: EncodingCache;
}

/** Largest length of an Accept header whose negotiated form is remembered. */
const REMEMBERED_CHARACTERS = 256;
/** Number of forms that are remembered for one kind: clients ask for few different ones. */
const REMEMBERED_CHOICES = 16;

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
  const pastReads = new FairLimiter(PAST_READS_AT_ONCE);
  const parts = { naming, pool, encodings: new SharedEncodings(pool, encodings, slices) };
  const encoded = new EncodedReads(parts.encodings);
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
    pastReads,
    catchUp,
    mostRecent() {
      catchUp();
      return shared ? writer.sync() : undefined;
    },
    range: (prefix, revision, limit, after, counted) => writer.range({ prefix, revision, limit, after, counted }),
    past(usage, prefix, from, to) {
      const read = () => writer.past({ prefix, from, to });
      // The writer reads once for all watches that ask at the same time, if it reads from a shared store.
      return shared ? read() : pastReads.run(usage, read);
    },
    wantsJson(exchange, resource, stream = false) {
      if (!stream && indented(exchange)) return false;
      try {
        return isPlain(choose(exchange, resource, stream));
      } catch {
        // The header is refused later, with the message that fits the request.
        return false;
      }
    },
    accepts: (exchange, resource, list) => void choose(exchange, resource, false, list),
    async respondObject(request, resource, entry) {
      const choice = choose(request.exchange, resource, false);
      const form = MEDIA[choice.media].object({ request, resource, choice }, naming);
      await answers.run(request.sender.usage, entry.length, async () => {
        if (form) await encoded.get(request, resource, entry, form);
        else
          await respondRendered(request.exchange, await pool.render(request, { objects: [entry.value], status: 200 }));
      });
    },
    async respondList(request, resource, entries, metadata, warnings) {
      const choice = choose(request.exchange, resource, false, true);
      const form = listForm({ request, resource, choice }, entries, parts);
      const held = form.isWhole ? entries.reduce((sum, { length }) => sum + length, 0) : heldBytes(entries);
      const headers = headersFor(resource, choice.contentType, warnings);
      await answers.run(request.sender.usage, held, () =>
        form.respond(request, { headers, entries, metadata, warnings }),
      );
    },
    eventForm(request, resource, listed) {
      const { exchange } = request;
      const choice = listed ? chooseListed(exchange, resource) : choose(exchange, resource, true);
      return renderedEvents({ request, resource, choice }, parts, encoded, listed);
    },
  };
}
