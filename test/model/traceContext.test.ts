import { expect, test } from 'vitest';
import { readTrace, traceIdOf } from '../../core/request/traceContext.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const VALID = `00-${TRACE}-${PARENT}-01`;

/** The trace context of a request with these headers. */
const read = (traceparent?: string, tracestate?: string) =>
  readTrace(name => new Map(Object.entries({ traceparent, tracestate })).get(name));

test('the trace of a request is passed on in version 00, with only the sampled flag', () => {
  expect(read(VALID)).toEqual({ traceparent: VALID });
  expect(read(`00-${TRACE}-${PARENT}-02`)?.traceparent).toBe(`00-${TRACE}-${PARENT}-00`);
  expect(read(`cc-${TRACE}-${PARENT}-ff`)?.traceparent).toBe(VALID);
  expect(read(`01-${TRACE}-${PARENT}-00-what the future brings`)?.traceparent).toBe(`00-${TRACE}-${PARENT}-00`);
  expect(traceIdOf(read(VALID)!)).toBe(TRACE);
});

test.each([
  undefined,
  '',
  `00-${TRACE}-${PARENT}`,
  `${VALID}-more`,
  `${VALID} `,
  `00-${TRACE}-${PARENT}-03`,
  `ff-${TRACE}-${PARENT}-01`,
  `01-${TRACE}-${PARENT}-01.more`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `${VALID}\r\nx: y`,
  `${VALID}, ${VALID}`,
])('a header in another form is ignored: %j', header => {
  expect(read(header, 'a=b')).toBeUndefined();
});

test('tracestate is passed on, unless it is malformed or too long', () => {
  const most = Array.from({ length: 32 }, (_, i) => `a${i}=${i}`).join();
  for (const state of ['a=b', 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE', 'fw529a3039@dt=FfAAAAA:bCAAAADC', most])
    expect(read(VALID, state)).toEqual({ traceparent: VALID, tracestate: state });
  for (const state of [
    '',
    'a',
    'A=b',
    'a=b=c',
    'a=',
    'a=\u00e9',
    'a=b\r\nx: y',
    `${most},b=1`,
    `a=b,c=${'x'.repeat(255)},d=${'x'.repeat(255)}`,
  ])
    expect(read(VALID, state)).toEqual({ traceparent: VALID });
});
