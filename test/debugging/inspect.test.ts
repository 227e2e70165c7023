import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { close, url } from 'node:inspector';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { openInspector, readInspectAddress } from '../../core/command/inspect.js';
import { parseFlags } from '../../core/command/flags.js';
import { Inspection } from '../../core/threads/inspection.js';

afterEach(() => close());

describe('--inspect', () => {
  test.each([
    [undefined, '127.0.0.1', 9229],
    ['0', '127.0.0.1', 0],
    ['localhost:9230', 'localhost', 9230],
    ['[::1]:65535', '::1', 65_535],
  ])('%s is an address', (value, host, port) => {
    expect(readInspectAddress(value, '--inspect')).toEqual({ host, port });
  });

  test.each(['', 'localhost', '::1:9229', '127.0.0.1:', ':9229', '127.0.0.1:65536', 'a:b:1', '-1'])(
    '%s is refused',
    value => {
      expect(() => parseFlags([`--inspect=${value}`])).toThrow(
        `--inspect: must be PORT or HOST:PORT, such as 127.0.0.1:9229, not ${value}`,
      );
    },
  );

  test('may be given once, without a value, and does not take the next argument as its value', () => {
    expect(parseFlags(['--inspect', '--watch'])).toMatchObject({ inspect: { port: 9229 }, watch: true });
    expect(() => parseFlags(['--inspect', '9230'])).toThrow('9230: unexpected argument');
    expect(() => parseFlags(['--inspect', '--inspect=1'])).toThrow('--inspect: given twice');
  });

  test('is refused if the inspector is open already, or its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const warnings: string[] = [];
    const openAt = (at: number, host = '127.0.0.1') => openInspector({ host, port: at }, line => warnings.push(line));
    expect(() => openAt(port)).toThrow(`--inspect: cannot listen on 127.0.0.1, port ${port}`);
    other.close();
    openAt(0);
    expect(() => openAt(0)).toThrow(`--inspect: the inspector is open already, at ${url()}: omit the flag`);
    expect(warnings).toEqual([]);
    close();
    openAt(0, '0.0.0.0');
    expect(warnings).toEqual([expect.stringContaining('can run any code in the server')]);
  });
});

test('threads know whether the inspector is open as of the last check of the main thread', () => {
  const memory = Inspection.memory();
  const [own, other] = [new Inspection(memory), new Inspection(memory)];
  expect([own.look(), other.isOpen]).toEqual([false, false]);
  openInspector({ host: '127.0.0.1', port: 0 }, () => undefined);
  expect([own.look(), own.look(), other.isOpen]).toEqual([true, false, true]);
  close();
  expect([own.look(), other.isOpen]).toEqual([false, false]);
});

test('the launch configurations of the guide start the command, and attach to its address', () => {
  const guide = readFileSync('docs/guides/debugging.md', 'utf8');
  const { configurations } = JSON.parse(/```json\n(.*?)```/s.exec(guide)![1]!) as {
    readonly configurations: readonly { readonly request: string; readonly [member: string]: unknown }[];
  };
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly bin: { readonly capstan: string } };
  const [launch, attach] = configurations;
  expect(launch).toMatchObject({
    type: 'node',
    request: 'launch',
    program: `\${workspaceFolder}/node_modules/capstan/${bin.capstan}`,
  });
  const [command, ...flags] = launch!['args'] as string[];
  expect([command, parseFlags(flags).config]).toEqual(['serve', 'config.yaml']);
  expect(attach).toMatchObject({ type: 'node', request: 'attach', port: readInspectAddress(undefined, '').port });
});
