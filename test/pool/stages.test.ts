import { expect, test } from 'vitest';
import { unstoredAt } from '../../core/schema/decode/unstored.js';
import type { Context } from '../../workers/pool/context.js';
import { authorize, decode, merge, mutate, perform, propose, validate } from '../../workers/pool/order.js';
import type {
  Action,
  Authenticated,
  AuthorizedRequest,
  DecodedObject,
  Merged,
  Mutated,
  ObjectWrite,
  Received,
  Sender,
  ValidWrite,
} from '../../workers/pool/types.js';

/** Never called: if one of these lines compiles, the type check fails. */
const shortcuts = (
  context: Context,
  received: Received & Sender,
  authenticated: Authenticated,
  request: AuthorizedRequest,
  decoded: DecodedObject,
  merged: Merged & ObjectWrite,
  action: Merged & Action,
  write: ObjectWrite,
  mutated: Mutated,
  valid: ValidWrite,
): unknown[] => [
  // @ts-expect-error: the sender is not authenticated
  authorize(context, received),
  // @ts-expect-error: not authorized
  decode(context, {
    ...authenticated,
    resource: request.resource,
    target: request.target,
    duplicates: [],
    emptied: new Map(),
    unstored: unstoredAt(''),
  }),
  // @ts-expect-error: decoded outside of the pipeline
  merge(context, decoded),
  // @ts-expect-error: merged outside of the pipeline
  mutate(context, write),
  // @ts-expect-error: not mutated
  validate(context, merged),
  // @ts-expect-error: not mutated
  perform(context, action),
  // @ts-expect-error: not validated
  propose(context, mutated),
  // @ts-expect-error: validated outside of the pipeline
  propose(context, valid),
];

test('a write that omits a stage does not compile', () => {
  expect(shortcuts).toBeTypeOf('function');
});
