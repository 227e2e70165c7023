import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../../core/api/host.js';
import type { Listener } from '../../core/api/listener.js';
import { namingOf } from '../../core/naming.js';
import { ensurePki } from '../../core/services/pki/index.js';
import { NodeListener } from '../../plugins/listener/node.js';
import { UwsListener } from '../../plugins/listener/uws.js';
import type { ListenerTls } from '../conformance/listener.js';
import { LISTENER_NAMES } from './names.js';
import { partly } from '../support/values.js';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const host = partly<Host>({ thread: 'front', log, naming: namingOf('neutral'), now: () => Date.now() });

/** The built-in listeners. */
const ALL: readonly { readonly name: 'uws' | 'node'; readonly make: () => Promise<Listener> }[] = [
  { name: 'uws', make: async () => new UwsListener(host) },
  { name: 'node', make: async () => new NodeListener(host) },
];
/** The built-in listeners that can serve here. */
export const LISTENERS = ALL.filter(({ name }) => LISTENER_NAMES.includes(name));

const pkiIn = (name: string) =>
  ensurePki({
    dataDir: mkdtempSync(join(tmpdir(), `capstan-${name}-`)),
    sans: [],
    naming: namingOf('neutral'),
    now: () => Date.now(),
  });

/** Creates two CAs, a serving certificate of the first and a client certificate of each. */
export async function certificates(): Promise<ListenerTls> {
  const [own, other] = [await pkiIn('own'), await pkiIn('other')];
  const pair = (pki: typeof own) => ({
    cert: readFileSync(pki.adminCertFile, 'utf8'),
    key: readFileSync(pki.adminKeyFile, 'utf8'),
  });
  return { ...own, good: pair(own), foreign: pair(other) };
}
