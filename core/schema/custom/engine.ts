import type * as Cel from '../../cel/index.js';
import type { RE2JS } from 're2js';

/** What patterns and rules of schemas need. */
export interface Engine {
  readonly cel: typeof Cel;
  readonly pattern: (text: string) => RE2JS;
}

let loading: Promise<Engine> | undefined;
let loaded: Engine | undefined;

async function load(): Promise<Engine> {
  const [cel, regex] = await Promise.all([import('../../cel/index.js'), import('re2js')]);
  loaded = { cel, pattern: text => regex.RE2JS.compile(text) };
  return loaded;
}

/**
 * Loads the expression engine and the regular expressions. They cost a fifth of a server's start, and most servers have
 * no schema that needs them: so who judges by such a schema awaits this before.
 */
export const loadEngine = (): Promise<unknown> => (loading ??= load());

/** The loaded engine. Throws if nobody awaited `loadEngine`. */
export function engine(): Engine {
  if (!loaded) throw new Error('the expression engine is not loaded');
  return loaded;
}
