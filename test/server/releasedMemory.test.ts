import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LISTENER_NAMES } from '../listener/names.js';

const PROGRAM = resolve('dist/test/server/fixtures/startsAndCloses.js');
const TIMES = 3;
/** Far less than the memory of one server: the rings of its threads alone take 32 MB. */
const LEFT_BYTES = 8 * 1024 * 1024;

test.each(LISTENER_NAMES)('closed servers leave neither objects nor shared memory behind, with %s', async listener => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', PROGRAM, listener, `${TIMES}`]);
  const { made, kept, sharedBytes } = JSON.parse(stdout) as { made: number; kept: number; sharedBytes: number };
  expect({ made, kept }).toEqual({ made: TIMES, kept: 0 });
  expect(sharedBytes).toBeLessThan(LEFT_BYTES);
});
