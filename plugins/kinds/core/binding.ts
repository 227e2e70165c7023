import { builtInKind } from '../../../core/api/resource.js';

/** Bindings are never stored: creating one binds the pod of its name. */
export const binding = builtInKind('core/bindings', () => ({ actsOn: { plural: 'pods', action: 'binding' } }));
