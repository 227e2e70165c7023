import { EventEmitter } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { beforeEach, expect, test, vi } from 'vitest';
import type { ThreadData } from '../../core/threads/data.js';
import { ControlThread, type ControlParts } from '../../workers/front/threads/controlThread.js';
import { partly } from '../support/values.js';
import { turn } from '../front/support.js';

/* How control threads replace each other, without the work that they do. */

const { workers } = vi.hoisted(() => ({
  workers: [] as { running: boolean; emit(name: string, value: unknown): boolean }[],
}));
vi.mock('node:worker_threads', async original => ({
  ...(await original<object>()),
  /** A simulated thread that loads its plugins at once, and closes when the test says so. */
  Worker: class extends EventEmitter {
    running = true;
    threadId = workers.push(this);
    postMessage({ is }: { readonly is: string }): void {
      if (is === 'begin') queueMicrotask(() => this.emit('message', { is: 'loaded', elsewhere: false }));
    }
    async terminate(): Promise<void> {
      this.running = false;
    }
  },
}));

beforeEach(() => workers.splice(0));

const create = (): ControlThread =>
  new ControlThread(
    partly<ControlParts>({
      data: () => partly<ThreadData>({ plugins: [] }),
      store: partly<ControlParts['store']>({ channel: () => ({ port: new MessageChannel().port1 }) as never }),
      resources: () => ({ resources: [], takenNames: [] }),
      loaded: () => undefined,
    }),
  );

test('a thread that loses its leadership while it is replaced has one successor', async () => {
  const control = create();
  const restarted = control.restart();
  await turn();
  workers[0]!.emit('message', { is: 'demoted' });
  await turn();
  workers[0]!.emit('message', { is: 'closed' });
  await restarted;
  await turn();
  expect(workers.map(({ running }) => running)).toEqual([false, true]);
});

test('a thread that has lost its leadership is replaced, and so is its successor by a restart', async () => {
  const control = create();
  workers[0]!.emit('message', { is: 'demoted' });
  const restarted = control.restart();
  await turn();
  workers[1]!.emit('message', { is: 'closed' });
  await restarted;
  expect(workers.map(({ running }) => running)).toEqual([false, false, true]);
});
