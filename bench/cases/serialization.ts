import type { Case, Row } from '../lib/case.js';
import { chartOf } from '../serialization/chart.js';
import { ENGINES } from '../serialization/engines.js';
import { type Measurement, measure } from '../serialization/measure.js';
import { tableOf } from '../serialization/table.js';

/** The number of items in the lists. */
const ITEMS = { short: 5, long: 500 };
const ROUNDS = { short: { rounds: 5, roundMs: 4 }, long: { rounds: 9, roundMs: 50 } };

type SerializationRow = Row & Measurement;

/** Rows of measurements; the baseline of each is the time of the first engine. */
function rowsOf(measurements: readonly Measurement[]): SerializationRow[] {
  return measurements.map(measurement => {
    const { sample, engine, operation, us } = measurement;
    const first = measurements.find(
      other => other.sample === sample && other.operation === operation && other.engine === ENGINES[0]!.name,
    );
    return {
      case: `${operation} ${sample}: ${engine}`,
      unit: 'µs',
      value: us,
      baseline: first?.us,
      atMost: true,
      ...measurement,
    };
  });
}

const serialization: Case<SerializationRow> = {
  name: 'serialization',
  async run({ short }) {
    const length = short ? 'short' : 'long';
    return rowsOf(await measure(ITEMS[length], ROUNDS[length]));
  },
  report: { table: tableOf, chart: chartOf },
};

/** Encodings of objects and lists, compared with each other; no server is started. */
export const serializations: readonly Case[] = [serialization];
