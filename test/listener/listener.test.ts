import { type FramingExceptions, framingConformance } from '../conformance/framing.js';
import { listenerConformance } from '../conformance/listener.js';
import { webSocketConformance } from '../conformance/webSocket.js';
import { certificates, LISTENERS } from './listeners.js';

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
for (const { name, make } of LISTENERS) {
  for (const given of [
    { name: `${name}, plain`, make },
    { name: `${name}, TLS`, make, tls },
  ]) {
    listenerConformance(given);
    webSocketConformance(given);
    framingConformance(given, name === 'uws' ? UWS_FRAMING : { taken: [], waitsFor: [] });
  }
}
