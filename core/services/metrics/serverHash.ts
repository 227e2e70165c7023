import { createHash } from 'node:crypto';
import { hostname } from 'node:os';

/** What a server is known by in its metrics: the hash of its name, as upstream makes it. */
export const serverHash = (): string =>
  `sha256:${createHash('sha256').update(`apiserver-${hostname()}`).digest('hex')}`;
