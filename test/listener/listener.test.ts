import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../../core/api/host.js';
import { namingOf } from '../../core/naming.js';
import { ensurePki } from '../../core/pki/index.js';
import { NodeListener } from '../../plugins/listener/node.js';
import { UwsListener } from '../../plugins/listener/uws.js';
import { type FramingExceptions, framingConformance } from '../conformance/framing.js';
import { type ListenerTls, listenerConformance } from '../conformance/listener.js';
import { webSocketConformance } from '../conformance/webSocket.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const host = { thread: 'front', log: quiet, naming: namingOf('neutral'), now: () => Date.now() } as unknown as Host;

const pkiIn = (name: string) =>
  ensurePki({
    dataDir: mkdtempSync(join(tmpdir(), `capstan-${name}-`)),
    sans: [],
    naming: namingOf('neutral'),
    now: () => Date.now(),
  });

async function certificates(): Promise<ListenerTls> {
  const [own, other] = [await pkiIn('own'), await pkiIn('other')];
  const pair = (pki: typeof own) => ({
    cert: readFileSync(pki.adminCertFile, 'utf8'),
    key: readFileSync(pki.adminKeyFile, 'utf8'),
  });
  return { ...own, good: pair(own), foreign: pair(other) };
}

/** What uWS 20.51 neither checks nor reports. */
const UWS_FRAMING: FramingExceptions = {
  taken: [
    'an empty chunk size',
    'a chunk size that a bare LF ends',
    'chunk data that a bare LF ends',
    'chunk data that nothing ends',
    'a header without a name',
  ],
  waitsFor: [
    'a request line without a version',
    'a request line without a version, and no headers',
    'a bare CR in the request line',
    'a bare CR in a header',
  ],
};

const tls = await certificates();
for (const [name, make] of [
  ['uws', async () => new UwsListener(host)],
  ['node', async () => new NodeListener(host)],
] as const) {
  for (const given of [
    { name: `${name}, plain`, make },
    { name: `${name}, TLS`, make, tls },
  ]) {
    listenerConformance(given);
    webSocketConformance(given);
    framingConformance(given, name === 'uws' ? UWS_FRAMING : { taken: [], waitsFor: [] });
  }
}
