import { checkedListener } from './listener/calls.js';
import type { Listener } from './listener/types.js';
import { requireMembers } from './checks/parts.js';
import { definePoint } from './point.js';

export type {
  Exchange,
  BodySink,
  UpgradeOptions,
  WebSocketStream,
  StreamOptions,
  ByteAhead,
  ResponseStream,
  Binding,
  Listening,
  Joined,
  Listener,
} from './listener/types.js';

/**
 * HTTP listeners. The last one is used, so that one of the configuration replaces that of the server.
 *
 * @example
 * contribute: () => [listener.of(host => new MyListener(host.log))],
 */
export const listener = definePoint<Listener>()(
  'listener',
  ['front'],
  inputs => inputs.map(input => (input.isBuiltIn ? input.value : checkedListener(input))),
  requireMembers({ name: 'string', listen: 'function' }),
);
