import { afterEach, beforeEach, expect } from 'vitest';

/**
 * CPU time in milliseconds that an algorithm with more than linear time exceeds with large input. With a linear one,
 * tests take about a second.
 */
const LIMIT_MS = 20_000;

/**
 * Makes each test of the file that calls this function fail if it takes the CPU time of an algorithm with more than
 * linear time. Unlike the duration, it hardly depends on what else the machine does.
 */
export function requireLinearTime(): void {
  let before: NodeJS.CpuUsage;
  beforeEach(() => {
    before = process.cpuUsage();
  });
  afterEach(() => {
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000, 'milliseconds of CPU time').toBeLessThan(LIMIT_MS);
  });
}
