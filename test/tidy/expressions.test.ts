import { existsSync } from 'node:fs';
import { checkSync } from 'recheck';
import { describe, expect, it } from 'vitest';
import { type Expression, Program } from './expressions.js';

/**
 * The checker is a native program if there is one for the platform, or else the same program in JavaScript, which is
 * much slower.
 */
const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macos', linux: 'linux', win32: 'windows' };
const native = `node_modules/recheck-${SYSTEMS[process.platform]}-${process.arch}`;
process.env['RECHECK_BACKEND'] = existsSync(native) ? 'native' : 'pure';

/**
 * Counted repetitions are checked as well, expanded into copies. With this method the checker proves its result, which
 * it cannot do for lookarounds and back-references; its other method only tries texts.
 */
const OPTIONS = {
  checker: 'automaton',
  // Only the time limit of the test applies: a check that is slow on a busy machine is not a fault of the expression.
  timeout: null,
  maxRepeatCount: 5000,
  maxNFASize: 200_000,
  maxPatternSize: 5000,
} as const;

/**
 * The reason why an expression may take more than linear time for some text; undefined if it takes linear time for all
 * texts.
 */
function fault({ place, source, flags }: Expression): string | undefined {
  const found = checkSync(source, flags, OPTIONS);
  if (found.status === 'safe') return undefined;
  return `${place} /${source}/${flags}: ${found.status === 'unknown' ? found.error.kind : found.complexity.summary}`;
}

const ofText = (text: string): Program => new Program([{ path: 'core/it.ts', text, imports: [], needs: [] }]);
const faultOf = (literal: string): string | undefined => fault(ofText(literal).expressions().expressions[0]!);

describe('regular expressions', () => {
  const { expressions, unknown } = Program.of('core', 'plugins', 'workers', 'examples').expressions();

  it('are literals or composed of module constants, so that they can be checked', () => {
    expect(expressions.length).toBeGreaterThan(400);
    expect(unknown).toEqual([]);
  });

  it('take linear time for every text, wherever the search begins', { timeout: 1_200_000 }, () => {
    const different = new Map(expressions.map(found => [`/${found.source}/${found.flags}`, found]));
    expect([...different.values()].map(fault).filter(found => found !== undefined)).toEqual([]);
  });

  it.each(['/[ \\t]+$/', '/[ \\t]*,[ \\t]*/', '/^(a+)+$/', '/^(.+?)x(.*)y$/s', '/=+$/g', '/a(?=b+c)/', '/(a*)\\1b/'])(
    'that are slow or not provably linear are reported: %s',
    literal => expect(faultOf(literal)).toContain('core/it.ts:1'),
  );

  it('composed of constants are evaluated', () => {
    const text = `const A: string = 'a+';\nconst P = [/b/, /c+/].map(p => p.source);\nnew RegExp(\`\${A}\${P.join('|')}$\`, 'i');`;
    expect(ofText(text).expressions().expressions).toContainEqual({
      place: 'core/it.ts:3',
      source: 'a+b|c+$',
      flags: 'i',
    });
  });

  it.each(['const f = (s: string) => new RegExp(s);', "text.match('a+b');"])(
    'composed of values that are only known at run time are reported: %s',
    text => expect(ofText(text).expressions().unknown).toEqual(['core/it.ts:1']),
  );
});
