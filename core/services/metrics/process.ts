import { readdirSync, readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import { systemTime } from '../../runtime/clock.js';

/** Seconds since 1970. Computed once, so that a corrected clock does not move the start. */
const STARTED = systemTime() / 1000 - process.uptime();

const openFiles = (): number | undefined => {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
};

const virtualBytes = (): number | undefined => {
  try {
    return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[0]) * 4096;
  } catch {
    return undefined;
  }
};

/** Registers metrics of the process. They are read at each scrape and have no value on platforms without `/proc`. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number | undefined): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read();
        if (value === undefined) this.reset();
        else this.set(value);
      },
    });
  };
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time used, in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  gauge('process_resident_memory_bytes', 'Memory held, in bytes.', () => process.memoryUsage.rss());
  gauge('process_virtual_memory_bytes', 'Address space, in bytes.', virtualBytes);
  gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', () => STARTED);
  gauge('process_open_fds', 'Open file descriptors.', openFiles);
}
