import type { ApiObject } from '../../../core/model/object.js';
import type { ObjectWrite } from '../types.js';

/**
 * The part that a write changes: the object itself or the part of a subresource. Mutators see the body as it was sent,
 * with all that is ignored afterwards.
 */
export interface WrittenPart extends Pick<ObjectWrite, 'prepare' | 'violations'> {
  /** The object with the part that was sent: the writer owns its fields. */
  readonly owned: ApiObject;
}
