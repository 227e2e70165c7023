import { describe, expect, it } from 'vitest';
import { type Source, sourcesIn } from './files.js';

/** Files with their own reasons: the runtime itself, and the templates that `capstan new` writes for users. */
const FREE = /^core\/(runtime|command\/templates)\//;
const COMMENT = /\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm;
const DIRECT =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b|\bMath\.random\b|\bgetRandomValues\b|\bAbortSignal\.timeout\b|'node:timers(\/promises)?'|\brandom\w+(?=[^{}]*\} from 'node:crypto')|\bcrypto\.random\w+/g;
const TIMER = /(?<![\w.$#])((?:set|clear)(?:Timeout|Interval|Immediate))\b/g;
const IMPORT = /import \{([^}]*)\} from '[./]*\/(?:core\/)?runtime\/timers\.js'/;

/** The times, timers and random values of a file that do not come from `core/runtime`. */
function directIn({ path, text }: Pick<Source, 'path' | 'text'>): string[] {
  if (FREE.test(path)) return [];
  const code = text.replace(COMMENT, '');
  const imported = (IMPORT.exec(code)?.[1] ?? '').split(',').map(name => name.trim());
  const timers = [...code.matchAll(TIMER)].map(([, name]) => name!).filter(name => !imported.includes(name));
  const found = [...(code.match(DIRECT) ?? []), ...timers, ...(code.match(/\bglobalThis\.(set|clear)\w+/g) ?? [])];
  return [...new Set(found)].map(name => `${path}: ${name}`);
}

describe('time, timers and random values', () => {
  it('come only from core/runtime', () => {
    expect(sourcesIn('core', 'plugins', 'workers').flatMap(directIn)).toEqual([]);
  });

  it.each([
    ['const began = performance.now();', 'performance.now'],
    ['const options = { now: Date.now };', 'Date.now'],
    ['const day = new Date().toISOString();', 'new Date()'],
    ['const timer = setTimeout(look, 1000);', 'setTimeout'],
    ["import { clearTimeout } from '../core/runtime/timers.js';\nsetImmediate(look);", 'setImmediate'],
    ["import { setTimeout as pause } from 'node:timers/promises';", "'node:timers/promises'"],
    ["import { createHash, randomBytes } from 'node:crypto';", 'randomBytes'],
    ['const share = Math.random();', 'Math.random'],
  ])('of other origin are reported: %s', (text, name) => {
    expect(directIn({ path: 'core/model/it.ts', text })).toContain(`core/model/it.ts: ${name}`);
  });

  it('may be named in comments, and may be methods of other objects', () => {
    const text =
      "import { setTimeout } from '../runtime/timers.js';\n// Date.now()\nsocket.setInterval(setTimeout(f, 1));";
    expect(directIn({ path: 'core/model/it.ts', text })).toEqual([]);
  });
});
