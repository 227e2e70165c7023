import { builtInKind } from '../../../core/api/resource.js';

/** Binding: never stored. Creating one binds the pod of its name. */
export const binding = builtInKind('core/bindings', () => ({ actsOn: { plural: 'pods', action: 'binding' } }));
