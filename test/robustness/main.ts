import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { BACKENDS } from './deployment.js';
import { FAULTS } from './faults.js';
import { run, type Summary } from './run.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    faults: { type: 'string' },
    backend: { type: 'string', default: 'rocksdb' },
    rate: { type: 'string', default: '80' },
    clients: { type: 'string', default: '10' },
    round: { type: 'string', default: '45' },
    history: { type: 'string' },
    'listening-threads': { type: 'string', default: '1' },
    report: { type: 'string', default: 'dist/robustness.json' },
  },
});

/** Ends the process because of a wrong argument. */
function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}

const counts = (of: { readonly [name: string]: number }): string =>
  Object.entries(of)
    .sort(([, a], [, b]) => b - a)
    .map(([name, times]) => `${name} ${times}`)
    .join(', ') || 'none';

const total = (of: { readonly [name: string]: number }): number => Object.values(of).reduce((sum, n) => sum + n, 0);

function print(summary: Summary): void {
  const { operations, results, faults, violations } = summary;
  const broken: { [guarantee: string]: number } = {};
  for (const { guarantee } of violations) broken[guarantee] = (broken[guarantee] ?? 0) + 1;
  console.log(
    [
      `backend     ${summary.backend}, seed ${summary.seed}, ${summary.minutes.toFixed(1)} minutes, ${summary.rounds} rounds`,
      `operations  ${total(operations) + summary.lists}: ${counts({ ...operations, list: summary.lists })}`,
      `results     ${counts(results)}`,
      `watches     ${summary.streams} streams, ${summary.resumed} of them resumed, ${summary.expired} expired; ${summary.lateStreams} resumed in earlier rounds, ${summary.lateExpired} expired`,
      `events      ${summary.events}, and ${summary.bookmarks} bookmarks`,
      `faults      ${total(faults)}: ${counts(faults)}`,
      `violations  ${violations.length}${violations.length > 0 ? `: ${counts(broken)}` : ''}`,
    ].join('\n'),
  );
}

const backend =
  BACKENDS.find(name => name === values.backend) ?? refuse(`--backend must be one of ${BACKENDS.join(', ')}`);
const faults = values.faults?.split(',').filter(name => name !== '');
const unknown = faults?.find(name => !FAULTS.includes(name));
if (unknown) refuse(`--faults: there is no fault ${unknown}; the faults are ${FAULTS.join(', ')}`);
const numbers = {
  minutes: Number(values.minutes),
  rate: Number(values.rate),
  clients: Number(values.clients),
  round: Number(values.round),
};
for (const [name, value] of Object.entries(numbers)) if (!(value > 0)) refuse(`--${name} must be a positive number`);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
if (!Number.isInteger(seed)) refuse('--seed must be a whole number');

console.log(`seed ${seed}`);
const { minutes, rate, clients, round } = numbers;
const summary = await run({
  backend,
  seed,
  minutes,
  faults,
  rate,
  clients,
  roundSeconds: round,
  flags: [
    ...(values.history === undefined ? [] : [`--history=${values.history}`]),
    `--listening-threads=${values['listening-threads']}`,
  ],
  onProgress: line => console.log(line),
});
print(summary);
mkdirSync(dirname(values.report), { recursive: true });
writeFileSync(values.report, `${JSON.stringify(summary, undefined, 2)}\n`);
process.exitCode = summary.violations.length > 0 ? 1 : 0;
