/** `npm run reference`: writes the table of settings in docs/reference/configuration.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, root } from './project.mjs';

await install();
await build();
const { settingsTable } = await import('../dist/core/command/reference.js');
const page = join(root, 'docs', 'reference', 'configuration.md');
const text = readFileSync(page, 'utf8');
const from = text.indexOf('| flag |');
writeFileSync(page, text.slice(0, from) + settingsTable() + text.slice(text.indexOf('\n\n', from)));
