import { describe, expect, test, vi } from 'vitest';
import { AUDITED_ANSWERS_BYTES, AUDITED_BYTES, AUDITED_NAME_BYTES } from '../../core/limits.js';
import type { BodySink, Exchange } from '../../core/api/listener.js';
import type { Route } from '../../core/request/route.js';
import { WholeBody } from '../../core/request/wholeBody.js';
import { withoutManagedFields } from '../../workers/front/audit/auditedBody.js';
import { AuditedExchange } from '../../workers/front/audit/auditedExchange.js';
import { partly } from '../support/values.js';

/** Less than two answers of the maximum size, so that a test can reach it. */
vi.mock('../../core/limits.js', async original => ({
  ...(await original<typeof import('../../core/limits.js')>()),
  AUDITED_ANSWERS_BYTES: 15 * 1024 * 1024,
}));

const JSON_TYPE = [['content-type', 'application/json']] as const;
const route = partly<Route>({
  target: {
    is: 'resource',
    verb: 'list',
    group: '',
    version: 'v1',
    resource: 'pods',
    namespace: 'a',
    name: '',
    subresource: '',
  },
  resource: { kind: 'Pod', listKind: 'PodList', stored: true },
  query: new Map(),
});

/** An exchange with a body, whose answers are discarded. `aborted`: its client has gone away. */
function exchangeWith(body: object, method = 'POST', aborted = false): AuditedExchange {
  const sent = Buffer.from(JSON.stringify(body));
  const exchange = partly<Exchange>({
    method,
    path: '/',
    query: '',
    remoteAddress: '',
    secure: false,
    aborted,
    status: 200,
    header: (name: string) => (name === 'content-type' ? 'application/json' : undefined),
    headers: () => [],
    body: (sink: BodySink) => {
      for (let at = 0; at < sent.length; at += 5) sink.write(sent.subarray(at, at + 5));
      sink.close();
    },
    respond: () => undefined,
    onAbort: () => undefined,
    stream: () => ({ write: () => 0, onDrain: () => undefined, end: () => undefined, abort: () => undefined }),
  });
  return new AuditedExchange(exchange, route, 'id', true, false);
}

const answerWith = (exchange: AuditedExchange, body: object): void =>
  exchange.respond(200, JSON_TYPE, Buffer.from(JSON.stringify(body)));

describe('the record of a request for its audit event', () => {
  test.each([
    ['None', false, false],
    ['Metadata', true, false],
    ['Request', true, false],
    ['RequestResponse', true, true],
  ] as const)('at level %s', async (level, hasRequest, hasResponse) => {
    const exchange = exchangeWith({ metadata: { name: 'x' } });
    exchange.keep(level);
    const body = new WholeBody(1000);
    exchange.body(body);
    expect(Buffer.from(await body.bytes).toString()).toBe('{"metadata":{"name":"x"}}');
    answerWith(exchange, { kind: 'Pod' });
    expect(exchange.requestObject() !== undefined).toBe(hasRequest);
    expect(exchange.responseObject() !== undefined).toBe(hasResponse);
  });

  test('has no answer above the size limit, whether it is sent whole or in parts', () => {
    const whole = exchangeWith({}, 'GET');
    answerWith(whole, { text: 'x'.repeat(AUDITED_BYTES) });
    const streamed = exchangeWith({}, 'GET');
    const stream = streamed.stream(200, JSON_TYPE);
    for (let i = 0; i < 3; i++) stream.write(Buffer.alloc(AUDITED_BYTES / 2, '1'));
    expect(streamed.isCollecting).toBe(true);
    stream.end();
    for (const exchange of [whole, streamed]) {
      expect(exchange.isResponseTruncated).toBe(true);
      expect(exchange.responseObject()).toBeUndefined();
    }
  });

  test('has no answer in parts while the answers of other requests reach the common limit', () => {
    const begin = (length: number) => {
      const exchange = exchangeWith({}, 'GET');
      const stream = exchange.stream(200, JSON_TYPE);
      stream.write(Buffer.from('{'));
      stream.write(Buffer.alloc(length - 2, ' '));
      const end = (): void => (stream.write(Buffer.from('}')), stream.end());
      return { exchange, end };
    };
    const half = AUDITED_ANSWERS_BYTES / 2;
    const [first, second, third] = [begin(half), begin(half), begin(half)];
    for (const { end } of [first, second, third]) end();
    expect([first, second, third].map(({ exchange }) => exchange.isResponseTruncated)).toEqual([false, false, true]);
    const later = begin(half);
    later.end();
    expect(later.exchange.responseObject()).toEqual({});
  });

  test('has no answer that begins after the client has gone away, which takes nothing from the common limit', () => {
    for (let i = 0; i < 3; i++) {
      const gone = exchangeWith({}, 'GET', true);
      // The code that streams it stops when it notices that the client has gone, without ending the stream.
      gone.stream(200, JSON_TYPE).write(Buffer.alloc(AUDITED_BYTES, '1'));
      expect(gone.isCollecting).toBe(false);
    }
    const other = exchangeWith({}, 'GET');
    const stream = other.stream(200, JSON_TYPE);
    stream.write(Buffer.from(`{${' '.repeat(AUDITED_BYTES - 2)}}`));
    stream.end();
    expect(other.responseObject()).toEqual({});
  });

  test.each(['Metadata', 'Request'] as const)(
    'has only those parts of a long body that the level %s needs',
    async level => {
      const exchange = exchangeWith({ metadata: { name: 'x' }, text: 'x'.repeat(AUDITED_NAME_BYTES) });
      const body = new WholeBody(AUDITED_BYTES);
      exchange.body(body);
      await body.bytes;
      exchange.keep(level);
      expect(exchange.requestObject() !== undefined).toBe(level === 'Request');
    },
  );

  test('has an answer in parts once that has ended, and its end is reported', () => {
    const exchange = exchangeWith({}, 'GET');
    const stream = exchange.stream(200, JSON_TYPE);
    let ended = 0;
    stream.write(Buffer.from('{"kind":"PodList",'));
    exchange.whenEnded(() => void ended++);
    stream.write(Buffer.from('"items":[]}'));
    expect(ended).toBe(0);
    stream.end();
    expect(ended).toBe(1);
    expect(exchange.responseObject()).toEqual({ kind: 'PodList', items: [] });
  });
});

test('omits managedFields of objects, of items of lists and of the objects in rows of Tables', () => {
  const object = { metadata: { name: 'x', managedFields: [{}] } };
  const bare = { metadata: { name: 'x' } };
  expect(withoutManagedFields(object)).toEqual(bare);
  expect(withoutManagedFields({ items: [object] })).toEqual({ items: [bare] });
  const table = withoutManagedFields({ kind: 'Table', rows: [{ cells: [], object }] });
  expect(table).toEqual({ kind: 'Table', rows: [{ cells: [], object: bare }] });
});
