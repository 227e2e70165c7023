import type * as Cel from '../../cel/index.js';
import type { RE2JS } from 're2js';

/** The CEL engine and the regular expressions for rules and patterns of schemas. */
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
 * Loads the engine. Callers must await it before they validate objects against a schema with rules or patterns. It is
 * not loaded when the server starts, because most servers have no such schema, and the start would take a fifth longer.
 */
export const loadEngine = (): Promise<unknown> => (loading ??= load());

/** The loaded engine. Throws if `loadEngine` has not completed. */
export function engine(): Engine {
  if (!loaded) throw new Error('the expression engine is not loaded');
  return loaded;
}
