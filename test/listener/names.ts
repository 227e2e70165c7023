import { loadUws } from '../../plugins/listener/uwsBinary.js';

/** The reason why the listener uws cannot serve here; undefined if it can. */
export const uwsFault: Error | undefined = await loadUws().then(
  () => undefined,
  (error: Error) => error,
);
/** True if the listener uws can serve here: its library has no binary for some platforms and versions. */
export const hasUws = uwsFault === undefined;
/** The built-in listeners that can serve here. */
export const LISTENER_NAMES: readonly ('uws' | 'node')[] = hasUws ? ['uws', 'node'] : ['node'];
