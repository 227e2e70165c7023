import { createHash } from 'node:crypto';
import { hostname } from 'node:os';

/** The name of the server in labels of metrics: upstream's hash of the name of its host. */
export const serverHash = (): string =>
  `sha256:${createHash('sha256').update(`apiserver-${hostname()}`).digest('hex')}`;
