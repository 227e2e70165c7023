import type { Binding } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';

/** Binding, which is never stored. Creating one binds the pod with its name. */
export const binding = builtInKind<Binding>('core/bindings', () => ({ actsOn: { plural: 'pods', action: 'binding' } }));
