import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Host } from '../../core/api/host.js';
import { ConfigError } from '../../core/api/point.js';
import { describePlatform, usesMusl } from '../../core/runtime/platform.js';
import { uwsPlugin } from '../../plugins/listener/uws.js';
import { faultOf, loadUws } from '../../plugins/listener/uwsBinary.js';
import { ServerProcess } from '../command/server.js';
import { uwsFault } from './names.js';
import { partly } from '../support/values.js';

const { versions } = process;
/** The rest of the test runs as in a version of Node.js for which there is no binary. */
const withVersion = (node: string): void =>
  void vi.spyOn(process, 'versions', 'get').mockReturnValue({ ...versions, node });
const has = (glibc: string): boolean => {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const [found = [], wanted] = [header.glibcVersionRuntime, glibc].map(text => text?.split('.').map(Number));
  return found[0] === wanted![0] && found[1]! >= wanted![1]!;
};
afterEach(() => vi.restoreAllMocks());

describe('the binary of uWebSockets.js', () => {
  const major = Number(versions.node.split('.')[0]);
  const isKnown = process.platform === 'linux' && process.arch === 'x64' && !usesMusl();

  it.runIf(isKnown && (major === 20 || major === 22) && has('2.27'))('loads in Node.js 20 and 22', () => {
    expect(uwsFault).toBeUndefined();
  });

  it.runIf(isKnown && (major === 24 || major === 26))('loads in Node.js 24 and 26 if glibc is new enough', () => {
    if (has('2.38')) expect(uwsFault).toBeUndefined();
    else expect(uwsFault?.message).toBe(`uWebSockets.js needs glibc 2.38 or newer (${describePlatform()})`);
  });

  it('is not loaded on a platform without one: the error names platform and version', async () => {
    withVersion('25.1.0');
    await expect(loadUws()).rejects.toThrow(/^uWebSockets.js has no binary for this platform \(.*, Node.js 25.1.0\)$/);
  });
});

it.each([
  ["/lib/libc.so.6: version `GLIBC_2.38' not found (required by /m/uws.node)", 'needs glibc 2.38 or newer'],
  ["This version supports only some.\n\nError: Cannot find module '@uwsjs/linux-x64-26'", 'is not installed: install'],
  ["Cannot find package '@uwsjs/core' imported from /m/uwsBinary.js", 'is not installed: install'],
  ['This version supports only some.\n\nError: invalid ELF header', 'cannot be loaded: Error: invalid ELF header'],
])('the error of a binary that cannot be loaded is shortened: %s', (message, fault) => {
  expect(faultOf(new Error(message)).startsWith(fault)).toBe(true);
});

describe('the plugin of the listener uws', () => {
  const warn = vi.fn<Host['log']['warn']>();
  const host = partly<Host>({ log: { warn } });
  const make = (config?: object) => {
    const [{ make }] = uwsPlugin.contribute(uwsPlugin.parse(config)) as unknown as [
      { make(host: Host): Promise<{ name: string }> },
    ];
    return make(host);
  };
  beforeEach(() => warn.mockClear());

  it('creates the listener node if the binary cannot be loaded, and logs the reason', async () => {
    withVersion('25.1.0');
    expect((await make()).name).toBe('node');
    const reason = expect.stringContaining('has no binary for this platform');
    expect(warn.mock.calls).toEqual([[{ reason }, 'the listener node serves, because uws cannot']]);
  });

  it('fails if the binary cannot be loaded but is required, with a hint in the error', async () => {
    withVersion('25.1.0');
    await expect(make({ required: true })).rejects.toThrow(ConfigError);
    await expect(make({ required: true })).rejects.toThrow(/^--listener: .* \(.*25.1.0\)\. Without this flag/);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('a server in a process without the binary', () => {
  let directory: string;
  /** Starts it as in a version that has no binary. */
  const start = (...flags: string[]): Promise<ServerProcess> => {
    const preload = join(directory, 'version.mjs');
    const value = "{ ...process.versions, node: '25.1.0' }";
    writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${value} });`);
    const prefix = ['env', `NODE_OPTIONS=--import=${pathToFileURL(preload).href}`];
    return ServerProcess.start(join(directory, 'data'), ['--storage-backend=memory', ...flags], prefix);
  };
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'capstan-binary-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('serves with the listener node, and reports it in one line', async () => {
    const server = await start();
    try {
      await server.namespace('a');
      const lines = server.output.split('\n').filter(line => line.includes('uws'));
      expect(lines).toEqual([expect.stringContaining('"message":"the listener node serves, because uws cannot"')]);
      expect(lines[0]).toContain('25.1.0');
    } finally {
      await server.end();
    }
  });

  it('fails to start if a flag demands the listener uws', async () => {
    const message = /ended with 2:\s+capstan: --listener: uWebSockets.js has no binary .*25.1.0\)/;
    await expect(start('--listener=uws')).rejects.toThrow(message);
  });
});
