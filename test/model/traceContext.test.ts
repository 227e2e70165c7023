import { expect, test } from 'vitest';
import { parseTraceparent, traceIdOf } from '../../core/request/traceContext.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

test('the trace of a request is passed on in version 00, with the flag for sampling alone', () => {
  expect(parseTraceparent(`00-${TRACE}-${PARENT}-01`)).toBe(`00-${TRACE}-${PARENT}-01`);
  expect(parseTraceparent(`00-${TRACE}-${PARENT}-02`)).toBe(`00-${TRACE}-${PARENT}-00`);
  expect(parseTraceparent(`cc-${TRACE}-${PARENT}-ff`)).toBe(`00-${TRACE}-${PARENT}-01`);
  expect(parseTraceparent(`01-${TRACE}-${PARENT}-00-what the future brings`)).toBe(`00-${TRACE}-${PARENT}-00`);
  expect(traceIdOf(`00-${TRACE}-${PARENT}-01`)).toBe(TRACE);
});

test.each([
  undefined,
  '',
  `00-${TRACE}-${PARENT}`,
  `00-${TRACE}-${PARENT}-01-more`,
  `00-${TRACE}-${PARENT}-01 `,
  `00-${TRACE}-${PARENT}-03`,
  `ff-${TRACE}-${PARENT}-01`,
  `01-${TRACE}-${PARENT}-01.more`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${PARENT}-01\r\nx: y`,
  `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
])('a header in another form is ignored: %j', header => {
  expect(parseTraceparent(header)).toBeUndefined();
});
