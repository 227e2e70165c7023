import { bytesPerRule, speeds } from '../cel/measure.js';
import type { Case, Row } from '../lib/case.js';

/** Thousands of evaluations per second. */
const rateOf = (ns: number | undefined): number | undefined => (ns === undefined ? undefined : Math.round(1e6 / ns));
/** The fastest of the ways in which another engine can run the same expression. */
const fastestOf = (...ns: readonly (number | undefined)[]): number | undefined => {
  const known = ns.filter(n => n !== undefined);
  return known.length ? Math.min(...known) : undefined;
};

const COMPILE_US = 100;
const RULE_BYTES = 2048;

const cel: Case = {
  name: 'cel',
  async run(bench): Promise<Row[]> {
    const rows: Row[] = [];
    for (const s of speeds(bench.short ? 60 : 300)) {
      const value = rateOf(s.ours)!;
      const name = s.expression.length > 40 ? `${s.expression.slice(0, 38)} …` : s.expression;
      const nearest = rateOf(fastestOf(s.marcbachmann, s.marcbachmannTyped));
      rows.push(
        { case: `cel, ${name}`, unit: 'k/s', value, baseline: nearest, aim: 1, note: 'baseline: @marcbachmann/cel-js' },
        {
          case: `cel, ${name}`,
          unit: 'k/s',
          value,
          baseline: rateOf(s.bufbuild),
          aim: 3,
          note: 'baseline: @bufbuild/cel',
        },
        { case: `cel, compile ${name}`, unit: 'µs', value: s.compileUs, baseline: COMPILE_US, aim: 1, atMost: true },
      );
    }
    rows.push({
      case: 'cel, compiled rule',
      unit: 'bytes',
      value: bytesPerRule(),
      baseline: RULE_BYTES,
      aim: 1,
      atMost: true,
    });
    return rows;
  },
};

/** The expression engine, compared with two others. No server is started. */
export const expressions: readonly Case[] = [cel];
