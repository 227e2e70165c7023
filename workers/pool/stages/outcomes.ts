import type { ApiObject } from '../../../core/model/object.js';
import type { Resource } from '../../../core/schema/resource.js';

/** The outcome of a write. */
export type Outcome = Stored | Removed | Unwritten;

/** The object is stored. */
export interface Stored {
  readonly is: 'store';
  readonly object: ApiObject;
  /** The revision that the current object must have; 0: there must be none. */
  readonly expect: number;
  readonly status: number;
  /** The request needs a second write: it runs again once this one is committed. */
  readonly more?: boolean;
}

/** The object is removed. */
export interface Removed {
  readonly is: 'remove';
  readonly old: ApiObject;
  /** The object of the answer; absent: the object as it was, or a Status if its kind answers with one. */
  readonly shown?: ApiObject;
  /**
   * Whether the object cannot be read: then `old` has only its name, and no validator is asked, as there is nothing to
   * show.
   */
  readonly isUnreadable?: boolean;
}

/** Nothing is written: the object would not change, or is an answer that is never stored. */
export interface Unwritten {
  readonly is: 'unchanged' | 'answered';
  readonly object: ApiObject;
  readonly status: number;
}

/** An object to store besides that of the request. One without a resourceVersion is new. */
export interface OtherChange {
  readonly resource: Resource;
  readonly object: ApiObject;
}
