import { after } from '../../../core/api/awaitable.js';
import type { Awaitable } from '../../../core/api/point.js';
import { FRONT_ENCODING_BYTES } from '../../../core/limits.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import { respondWhole } from '../answers/compress.js';
import type { EncodingForm, SharedEncodings } from './sharedEncodings.js';
import { headersFor } from '../answers/reply.js';
import type { FrontRequest } from '../access/sender.js';

/** A form in which objects are shown one by one, made of encodings that are kept. */
export interface EncodedForm extends EncodingForm {
  readonly contentType: string;
  /** Makes a message of one object from its encoding. */
  toMessage(record: Uint8Array): Uint8Array;
  /** An event of a watch around such a message. */
  toEvent(type: string, message: Uint8Array): Uint8Array;
}

/** Answers reads of single objects from their encodings, which are made where they are missing. */
export class EncodedReads {
  constructor(readonly encodings: SharedEncodings) {}

  /** Answers with one object. */
  async get(request: FrontRequest, resource: Resource, entry: Entry, form: EncodedForm): Promise<void> {
    const body = await this.message(request, entry, form);
    await respondWhole(request.exchange, headersFor(resource, form.contentType), body);
  }

  /** An entry as a message. */
  message(request: FrontRequest, entry: Entry, form: EncodedForm): Awaitable<Uint8Array> {
    return after(this.encodings.find(request, [entry], form), ([record]) => form.toMessage(record!));
  }

  /** The last state of an object as a message; undefined where the pool has to make it. */
  messageOfDeleted(object: Uint8Array, form: EncodedForm): Uint8Array | undefined {
    if (!form.encode || object.length > FRONT_ENCODING_BYTES) return undefined;
    const [record] = form.encode([object], false) as [Uint8Array];
    return form.toMessage(record);
  }

  /** Each entry as a message of its own. */
  async messages(request: FrontRequest, entries: readonly Entry[], form: EncodedForm): Promise<Uint8Array[]> {
    const known = entries.map(entry => this.encodings.known([entry], form)?.[0]);
    const missing = entries.filter((_, i) => !known[i]);
    const made = missing.length > 0 ? await this.encodings.makeEach(request, missing, form) : [];
    let next = 0;
    return known.map(record => form.toMessage(record ?? made[next++]!));
  }
}
