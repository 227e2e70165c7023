import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANONYMOUS } from '../../core/model/user.js';
import { Aggregation } from '../../workers/front/aggregation/aggregation.js';
import type { AggregatedVersion } from '../../workers/front/aggregation/apiServices.js';
import { LocalExchange } from '../../workers/front/localExchange.js';
import type { FrontRequest } from '../../workers/front/access/sender.js';
import { OtherServer } from './otherServer.js';

let other: OtherServer;
beforeAll(async () => {
  other = await OtherServer.start();
});
afterAll(() => other.close());

const PATH = '/apis/echo.example.com/v1/echoes';
const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16).toString('base64'),
};

test.each([
  ['with a body that will not come', { 'content-length': '5' }],
  ['for a WebSocket', HANDSHAKE],
])(
  'a watch whose client has gone while it was authorized is not passed on: %s',
  async (_what, headers) => {
    const rules = {
      services: { 'default/echo': `https://127.0.0.1:${other.port}` },
      routesToEndpoints: false,
      refusesRedirects: true,
    };
    const state = { collections: new Map(), find: () => undefined };
    const aggregation = new Aggregation(() => state, rules, { warn: () => undefined });
    const version: AggregatedVersion = {
      name: 'v1.echo.example.com',
      group: 'echo.example.com',
      version: 'v1',
      priorities: { group: 1000, version: 10 },
      service: { namespace: 'default', name: 'echo', port: 443 },
      ca: other.ca.certificate,
      skipsVerification: false,
      isAvailable: true,
    };
    let connections = 0;
    const count = () => connections++;
    other.server.on('connection', count);
    const exchange = new LocalExchange(
      { method: 'GET', path: `${PATH}?watch=1`, headers: new Map(Object.entries(headers)), body: undefined },
      { respond: () => undefined },
    );
    const request = {
      exchange,
      route: { target: { is: 'resource', verb: 'watch', subresource: '' }, query: new Map() },
      sender: { user: ANONYMOUS },
    } as unknown as FrontRequest;
    const body = new PassThrough().on('error', () => undefined);
    exchange.abort();
    body.destroy(new Error('the client closed the connection'));
    try {
      await aggregation.answer(request, version, body, 'audit-id');
      expect(connections).toBe(0);
    } finally {
      other.server.off('connection', count);
      aggregation.close();
    }
  },
  5_000,
);
