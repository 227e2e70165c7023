import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { expect, test } from 'vitest';
import { type FramingExceptions, framingConformance } from '../conformance/framing.js';
import { listenerConformance } from '../conformance/listener.js';
import { certificates, LISTENERS } from './listeners.js';

/** Errors that uWS 20.51 neither checks nor reports. */
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
for (const { name, make } of LISTENERS) {
  for (const given of [
    { name: `${name}, plain`, make, hasWebSockets: true },
    { name: `${name}, TLS`, make, tls, hasWebSockets: true },
  ]) {
    listenerConformance(given);
    framingConformance(given, name === 'uws' ? UWS_FRAMING : { taken: [], waitsFor: [] });
  }
}

test.each(
  LISTENERS.flatMap(({ name, make }) => [
    { name, make, tls: undefined },
    { name: `${name}, TLS`, make, tls },
  ]),
)('closing a listener does not wait for connections without a request: $name', async ({ make, tls }) => {
  const listening = await (await make()).listen({ host: '127.0.0.1', port: 0, tls }, () => expect.unreachable());
  const silent = connect(listening.port, '127.0.0.1').on('error', () => undefined);
  await once(silent, 'connect');
  const closed = [once(silent, 'close')];
  if (tls) {
    const secure = connectSecurely({ port: listening.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(
      secure.on('error', () => undefined),
      'secureConnect',
    );
    closed.push(once(secure.resume(), 'close'));
  }
  silent.resume();
  await listening.close();
  await Promise.all(closed);
});
