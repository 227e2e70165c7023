import { describe, expect, it } from 'vitest';
import { chartOf } from '../../bench/serialization/chart.js';
import { ENGINES } from '../../bench/serialization/engines.js';
import { makeSamples, type Sample } from '../../bench/serialization/samples.js';
import type { Measurement } from '../../bench/serialization/measure.js';
import { tableOf } from '../../bench/serialization/table.js';
import { timesOf } from '../../bench/serialization/time.js';
import type { Json } from '../../core/model/object.js';
import { normalize } from '../../core/schema/decode/decode.js';

const samples = makeSamples(5);

/**
 * Protobuf omits times that are not set. The decoder of the server returns them as null, so the expected value has
 * null.
 */
function canonical({ type, kind, apiVersion }: Sample, decoded: unknown): unknown {
  const strictErrors: string[] = [];
  const object = normalize(type, decoded as { [key: string]: Json }, { strictErrors });
  expect(strictErrors).toEqual([]);
  return { kind, apiVersion, ...object };
}

describe('objects of the serialization bench', () => {
  it('are the same in every run', () => {
    expect(makeSamples(5)).toEqual(samples);
  });

  it.each([
    ['ConfigMap', 300],
    ['Deployment', 3500],
    ['Pod', 10_000],
    ['CustomResourceDefinition', 100_000],
  ])('a %s has about %i bytes of JSON', (name, bytes) => {
    const { value } = samples.find(sample => sample.name === name)!;
    const length = JSON.stringify(value).length;
    expect(length).toBeGreaterThan(bytes * 0.9);
    expect(length).toBeLessThan(bytes * 1.1);
  });
});

describe.each(ENGINES.map(engine => [engine.name, engine] as const))('%s', (_, engine) => {
  it.each(samples.map(sample => [sample.name, sample] as const))('decodes what it encoded: %s', (_, sample) => {
    const codec = engine.codecFor(sample);
    // Encoded twice, because shared structures are learned from the first message.
    for (let i = 0; i < 2; i++) {
      const decoded = codec.decode(codec.encode(sample.value).slice());
      expect(engine.name.startsWith('protobuf') ? canonical(sample, decoded) : decoded).toEqual(sample.value);
    }
  });
});

describe('timesOf', () => {
  it('starts every round with a different function', () => {
    let order = '';
    const runs = ['a', 'b', 'c'].map(name => () => {
      if (!order.endsWith(name)) order += name;
    });
    const times = timesOf(runs, { rounds: 3, roundMs: 0 });
    expect(order).toBe(['abc', 'abc', 'bca', 'cab'].join(''));
    expect(times.every(us => us > 0)).toBe(true);
  });
});

describe('the report', () => {
  const measurements: Measurement[] = ['JSON', 'A & B'].flatMap((engine, i) =>
    (['encode', 'decode'] as const).map(operation => ({
      sample: 'ConfigMap',
      engine,
      operation,
      us: 10 * (i + 1),
      bytes: 300,
      ...(operation === 'encode' && { allocated: 2000 }),
    })),
  );

  it('has a line for each engine, and omits values that could not be measured', () => {
    const [, , ...lines] = tableOf(measurements).split('\n');
    const cells = lines.map(line => line.split('|').map(cell => cell.trim()));
    expect(cells).toEqual([
      ['', 'ConfigMap', 'JSON', '300', '10.0', '100,000', '2.0', '10.0', '100,000', '', ''],
      ['', 'ConfigMap', 'A & B', '300', '20.0', '50,000', '2.0', '20.0', '50,000', '', ''],
    ]);
  });

  it('draws every time as a multiple of the first engine’s', () => {
    const chart = chartOf(measurements);
    expect(chart).toContain('A &#38; B');
    expect(chart).not.toMatch(/NaN|undefined|Infinity/);
    const places = [...chart.matchAll(/<circle class="encode" cx="([\d.]+)"/g)].slice(1).map(match => Number(match[1]));
    // The first mark belongs to the legend; the axis ranges from one half to two.
    expect(places).toEqual([500, 690]);
  });
});
