import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventuallyPasses } from '../support/eventually.js';
import { newFolder, write } from './project.js';

test('the processes of a running command end with the test runner, even if that is killed', async () => {
  const { path, remove } = newFolder();
  onTestFinished(remove);
  write(path, 'command.sh', 'trap "touch ended; exit" TERM; echo runs; sleep 60 & wait');
  write(
    path,
    'runner.mjs',
    `import { StartedCommand } from ${JSON.stringify(join(process.cwd(), 'dist/test/packages/project.js'))};
    const command = new StartedCommand(import.meta.dirname, "bash -c 'bash command.sh; true'");
    await command.until('runs');
    process.kill(process.pid, 'SIGKILL');`,
  );
  const signal = await new Promise(resolve =>
    execFile(process.execPath, [join(path, 'runner.mjs')], error => resolve(error?.signal)),
  );
  expect(signal).toBe('SIGKILL');
  await eventuallyPasses(() => expect(existsSync(join(path, 'ended'))).toBe(true));
});
