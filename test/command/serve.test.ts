import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../../core/command/serve.js';
import type { RunningServer } from '../../core/server/start.js';
import type { Settings } from '../../core/settings/settings.js';
import { Captured } from './server.js';

/** A server that only reports how it was called. */
function pretend(failed: Promise<Error> = new Promise(() => undefined)) {
  const seen = { settings: [] as Settings[], closed: 0 };
  let started: () => void = () => undefined;
  const ready = new Promise<void>(resolve => {
    started = resolve;
  });
  const start = async (settings: Settings): Promise<RunningServer> => {
    seen.settings.push(settings);
    setImmediate(started);
    const close = async (): Promise<void> => {
      seen.closed++;
    };
    const addresses = {
      url: 'https://127.0.0.1:6443',
      httpUrl: 'http://127.0.0.1:8080',
      kubeconfigPath: '/data/admin.kubeconfig',
    };
    return { ...addresses, kubeconfig: '', storeName: 'memory', readyMs: 12.4, close, failed } as RunningServer;
  };
  return { seen, start, ready };
}

describe('serve', () => {
  afterEach(() => {
    process.removeAllListeners('SIGINT');
    process.removeAllListeners('SIGTERM');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'prints its address, drains at %s and ends with exit code 0',
    async signal => {
      const io = new Captured();
      const { seen, start, ready } = pretend();
      const code = serve(['--storage-backend=memory'], io, { start });
      await ready;
      process.emit(signal, signal);
      expect(await code).toBe(0);
      expect(seen).toMatchObject({ closed: 1, settings: [{ storage: 'memory' }] });
      expect(io.lines).toEqual([
        'listening on https://127.0.0.1:6443 and http://127.0.0.1:8080',
        'kubeconfig /data/admin.kubeconfig',
        'names are neutral: kubectl and client libraries need --naming=kubernetes, from the first start on',
        'store memory',
        'ready in 12 ms',
        '',
        'next, in another terminal:',
        '  export KUBECONFIG=/data/admin.kubeconfig',
        '  npx capstan get namespaces  # the objects that are there',
        '  npx capstan demo            # a small world to look at',
      ]);
      expect(io.errors).toEqual([`${signal}: draining; a second signal exits at once`]);
    },
  );

  it('prints no hint about the naming if kubectl knows its names', async () => {
    const io = new Captured();
    const { start } = pretend(Promise.resolve(new Error('the writer thread ended')));
    await serve(['--naming=kubernetes'], io, { start });
    expect(io.lines.filter(line => line.includes('names are'))).toEqual([]);
  });

  it('quotes a path with special characters of shells, and mentions kubectl if it is installed', async () => {
    const io = new Captured();
    const { start } = pretend(Promise.resolve(new Error('the writer thread ended')));
    const path = "/data/it's here/admin.kubeconfig";
    const folder = mkdtempSync(join(tmpdir(), 'capstan-path-'));
    writeFileSync(join(folder, 'kubectl'), '', { mode: 0o755 });
    const before = process.env['PATH'];
    process.env['PATH'] = folder;
    try {
      const renamed = async (settings: Settings) => ({ ...(await start(settings)), kubeconfigPath: path });
      await serve(['--naming=kubernetes'], io, { start: renamed });
    } finally {
      process.env['PATH'] = before;
      rmSync(folder, { recursive: true });
    }
    expect(io.lines).toContain("  export KUBECONFIG='/data/it'\\''s here/admin.kubeconfig'");
    expect(io.lines).toContain('  kubectl get namespaces      # the objects that are there');
  });

  it('ends with exit code 1 and a clear last line when the server fails', async () => {
    const io = new Captured();
    const { seen, start } = pretend(Promise.resolve(new Error('the writer thread ended')));
    expect(await serve([], io, { start })).toBe(1);
    expect(seen.closed).toBe(1);
    expect(io.errors.at(-1)).toBe('the server stopped: the writer thread ended');
  });

  it('does not start with an invalid flag', async () => {
    const { seen, start } = pretend();
    await expect(serve(['--nonsense=1'], new Captured(), { start })).rejects.toThrow('--nonsense: unknown flag');
    expect(seen.settings).toEqual([]);
  });
});
