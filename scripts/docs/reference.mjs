/**
 * `npm run reference`: writes the table of settings in docs/reference/configuration.md, docs/reference/flags.md,
 * docs/reference/kinds, and the charts of docs/benchmarks.md.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kindPages } from './kindPages.mjs';
import { build, install, root } from '../project.mjs';
import { CHARTS, comparedIn } from './upstreamCharts.mjs';

await install();
await build();
const { flagsPage, settingsTable } = await import('../../dist/core/command/reference.js');
const page = join(root, 'docs', 'reference', 'configuration.md');
const text = readFileSync(page, 'utf8');
const from = text.indexOf('| flag |');
writeFileSync(page, text.slice(0, from) + settingsTable() + text.slice(text.indexOf('\n\n', from)));
writeFileSync(join(root, 'docs', 'reference', 'flags.md'), flagsPage());

const table = 'dist/core/schema/table';
const [descriptions, packages, types] = await Promise.all(
  ['descriptions', 'packages', 'types'].map(name => import(`../../${table}/${name}.js`)),
);
const kinds = join(root, 'docs', 'reference', 'kinds');
rmSync(kinds, { recursive: true, force: true });
mkdirSync(kinds);
for (const [name, written] of kindPages({ ...descriptions, ...packages, ...types }))
  writeFileSync(join(kinds, name), written);

const { ratioChart } = await import('../../dist/bench/lib/chart.js');
const performance = readFileSync(join(root, 'docs', 'performance.md'), 'utf8');
for (const [path, chart] of Object.entries(CHARTS))
  writeFileSync(join(root, path), ratioChart(chart.title, 'upstream', comparedIn(performance, chart)));
