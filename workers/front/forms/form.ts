import type { Awaitable } from '../../../core/api/point.js';
import type { Naming } from '../../../core/naming.js';
import type { Choice } from '../../../core/request/negotiate.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Struct } from '../../../core/schema/model.js';
import type { ListMetadata } from '../../../core/services/tables/index.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { Rendering } from '../../../core/threads/messages/messages.js';
import type { FrontRequest } from '../access/sender.js';
import type { Headers } from '../answers/reply.js';
import type { PoolClient } from '../pool/poolClient.js';
import type { EncodedForm } from './encodedReads.js';
import type { SharedEncodings } from './sharedEncodings.js';

/** A request, and the form that was chosen for its answer. */
export interface Asked {
  readonly request: FrontRequest;
  readonly resource: Resource;
  readonly choice: Choice;
}

/** The parts of the front end that forms are made from. */
export interface FormParts {
  readonly naming: Naming;
  readonly encodings: SharedEncodings;
  readonly pool: Pick<PoolClient, 'render' | 'now'>;
}

/** A page of a list that is to be answered. */
export interface AnsweredList {
  readonly headers: Headers;
  readonly entries: readonly Entry[];
  readonly metadata: NonNullable<Rendering['list']>;
  /** The texts of Warning headers, if not those of the resource. */
  readonly warnings?: readonly string[] | undefined;
}

/** How lists are answered in one form. */
export interface ListForm {
  /** Whether the objects of a list are held all at once until it is sent. */
  readonly isWhole?: boolean;
  /** Answers with a list. */
  respond(request: FrontRequest, list: AnsweredList): Promise<void>;
}

/** How a list is put together from its items, which the front end has or makes. */
export interface ItemForm {
  /**
   * The bytes of all items together, where the bytes around the items depend on that; any number if the client goes
   * away meanwhile.
   */
  measure?(request: FrontRequest, entries: readonly Entry[]): Promise<number>;
  /** The bytes around the items, by the metadata of the list; `length` is that of the items if they were measured. */
  frame(list: ListMetadata, length: number): { readonly head: Uint8Array; readonly tail: Uint8Array };
  /** Number of bytes between two items. */
  readonly between: number;
  /** The items of some entries, in one or more pieces, with the separator before each. */
  items(request: FrontRequest, entries: readonly Entry[]): Awaitable<readonly Uint8Array[]>;
  /** Called with all entries of a long list, so that the pool can begin with the last ones. */
  makeAhead?(request: FrontRequest, entries: readonly Entry[]): void;
}

/** An object that the front end makes itself: an empty list, the object of a BOOKMARK, a Status. */
export interface MadeObject {
  readonly kind: string;
  readonly apiVersion: string;
}

/** The answers that the front end makes in a media type without the pool. */
export interface MediaForm {
  /** The form of single objects and of events, made of encodings that are kept; undefined: the pool makes them. */
  object(asked: Asked, naming: Naming): EncodedForm | undefined;
  /**
   * The form of a list of these entries; undefined: the pool makes it. Throws 400 for a Table with an unknown
   * `includeObject`.
   */
  list(asked: Asked, entries: readonly Entry[], parts: FormParts): ListForm | undefined;
  /** Makes a body of one object. `type`: its type, unless it is of the meta group. */
  body(object: MadeObject, type?: Struct): Uint8Array;
  /** An event of a watch with such an object. */
  event(type: string, object: MadeObject, objectType?: Struct): Uint8Array;
}
