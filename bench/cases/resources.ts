import { join } from 'node:path';
import { startBaseline } from '../lib/baseline.js';
import { startCapstan } from '../lib/capstan.js';
import type { Bench, Case, Row } from '../lib/case.js';
import { load } from '../lib/load.js';
import { median } from '../lib/median.js';
import { type Cpu, cpuOf, residentAtRest } from '../lib/process.js';

/** The number of starts, each until the server is ready. */
class Starts {
  readonly times: number[] = [];
  readonly #user: number[] = [];
  readonly #system: number[] = [];

  add({ startMs, pid }: { readonly startMs: number; readonly pid: number }): void {
    const { user, system } = cpuOf(pid);
    this.times.push(startMs);
    this.#user.push(user);
    this.#system.push(system);
  }

  /** The medians, formatted for a row. */
  get figures(): Pick<Row, 'unit' | 'value' | 'userUs' | 'systemUs' | 'atMost'> {
    const [value, userUs, systemUs] = [this.times, this.#user, this.#system].map(median);
    return { unit: 'ms', value: value!, userUs, systemUs, atMost: true };
  }
}

const start: Case = {
  name: 'start',
  async run(bench): Promise<Row[]> {
    const dataDir = join(bench.dir, 'start');
    const again = new Starts();
    const fresh = new Starts();
    const bare: number[] = [];
    for (let i = 0; i < (bench.short ? 4 : 8); i++) {
      const server = await startCapstan({ dataDir, tls: bench.tls });
      if (i > 0) again.add(server);
      await server.close();
      if (!bench.short || i === 0) {
        const first = await startCapstan({ dataDir: `${dataDir}-${i}`, tls: bench.tls });
        fresh.add(first);
        await first.close();
      }
      const began = performance.now();
      const baseline = await startBaseline({ is: 'bare', bytes: 1, ...bench.certificate });
      bare.push(performance.now() - began);
      await baseline.close();
    }
    const slowest = (starts: Starts): string => `slowest ${Math.round(Math.max(...starts.times))} ms`;
    const baseline = median(bare);
    return [
      { case: 'start, existing data', ...again.figures, baseline, note: `aim: under 500 ms; ${slowest(again)}` },
      { case: 'start, fresh', ...fresh.figures, baseline, note: `aim: 400 ms; ${slowest(fresh)}` },
    ];
  },
};

/** A start on existing data: until the server is ready, and resident bytes after it. */
async function startOn(bench: Bench, dataDir: string): Promise<{ startMs: number; cpu: Cpu; resident: number }> {
  const server = await startCapstan({ dataDir, tls: bench.tls });
  const cpu = cpuOf(server.pid);
  const resident = await residentAtRest(server.pid, bench.quietMs);
  await server.close();
  return { startMs: server.startMs, cpu, resident };
}

const objects: Case = {
  name: 'memory-objects',
  async run(bench): Promise<Row[]> {
    const dataDir = join(bench.dir, 'memory');
    const count = bench.short ? 5000 : 100_000;
    const bytes = 1500;
    await (await startCapstan({ dataDir, tls: bench.tls })).close();
    const { resident: empty, startMs: emptyMs } = await startOn(bench, dataDir);
    const server = await startCapstan({ dataDir, tls: bench.tls });
    const task = { is: 'create', namespace: 'default', prefix: 'm', bytes, clients: 32, ms: 300_000, count } as const;
    await load({ ...task, address: { ...server, token: server.adminToken } }, server.pid);
    await server.close();
    const { resident: full, startMs, cpu } = await startOn(bench, dataDir);
    const row = {
      case: `memory per object of 1.5 KB (${count})`,
      unit: 'bytes',
      value: (full - empty) / count,
      baseline: bytes,
    };
    return [
      {
        ...row,
        atMost: true,
        residentMb: full / 2 ** 20,
        note: `empty: ${Math.round(empty / 2 ** 20)} MB; baseline: its JSON`,
      },
      {
        case: `start with ${count} objects of 1.5 KB`,
        unit: 'ms',
        value: startMs,
        baseline: emptyMs,
        atMost: true,
        userUs: cpu.user,
        systemUs: cpu.system,
        note: 'baseline: a start without objects; CPU of the whole start',
      },
    ];
  },
};

/** Bytes per idle watch of the target's process. */
async function bytesPerWatch(
  target: { pid: number; host: string; port: number; tls: boolean; token?: string },
  watchers: number,
  quietMs: number,
): Promise<number> {
  const before = await residentAtRest(target.pid, quietMs);
  let during = before;
  const watchPath = '/api/v1/namespaces/bench-idle/configmaps?watch=1';
  await load({ is: 'idle', address: target, watchPath, watchers }, target.pid, async () => {
    during = await residentAtRest(target.pid, quietMs);
  });
  return (during - before) / watchers;
}

const watches: Case = {
  name: 'memory-watches',
  async run(bench): Promise<Row[]> {
    const watchers = bench.short ? 500 : 4000;
    const server = await startCapstan({ dataDir: join(bench.dir, 'watches'), tls: bench.tls });
    const value = await bytesPerWatch({ ...server, token: server.adminToken }, watchers, bench.quietMs);
    await server.close();
    const bare = await startBaseline({ is: 'broadcast', ...bench.certificate });
    const baseline = await bytesPerWatch(bare, watchers, bench.quietMs);
    await bare.close();
    return [
      {
        case: `memory per idle watch (${watchers})`,
        unit: 'bytes',
        value,
        baseline,
        atMost: true,
        note: 'baseline: a bare connection',
      },
    ];
  },
};

/** Start and memory. */
export const resources: readonly Case[] = [start, objects, watches];
