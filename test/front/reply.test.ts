import { expect, test } from 'vitest';
import type { Log } from '../../core/api/host.js';
import type { Exchange } from '../../core/api/listener.js';
import { refuseThrown } from '../../workers/front/answers/reply.js';
import { badRequest } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import { partly } from '../support/values.js';

function run(thrown: unknown, state: { aborted?: boolean; status?: number }) {
  const seen = { sent: [] as unknown[], logged: 0 };
  const exchange = partly<Exchange>({
    aborted: false,
    query: '',
    header: () => undefined,
    ...state,
    respond: (status: number, _headers: unknown, body: Uint8Array) => {
      if (state.status !== undefined) throw new Error('the exchange already has an answer');
      seen.sent.push([status, (JSON.parse(Buffer.from(body).toString()) as { reason: string }).reason]);
    },
  });
  const log = partly<Log>({ error: () => seen.logged++ });
  refuseThrown(exchange, thrown, log, { naming: namingOf('neutral'), cbor: false });
  return seen;
}

test('a refusal is sent as its Status; any other error is logged and answered with 500', () => {
  expect(run(badRequest('no'), {})).toEqual({ sent: [[400, 'BadRequest']], logged: 0 });
  expect(run(new Error('a bug'), {})).toEqual({ sent: [[500, 'InternalError']], logged: 1 });
});

test('an error after the beginning of an answer is logged, and nothing else is sent', () => {
  expect(run(new Error('a bug'), { status: 200 })).toEqual({ sent: [], logged: 1 });
  expect(run(badRequest('late'), { status: 200 })).toEqual({ sent: [], logged: 1 });
});

test('an error of a request whose client has disconnected is not reported', () => {
  expect(run(new Error('the client closed the connection'), { aborted: true })).toEqual({ sent: [], logged: 0 });
});
