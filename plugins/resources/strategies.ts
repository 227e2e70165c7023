import type { Strategy } from '../../core/api/strategy.js';
import type { Naming } from '../../core/naming.js';

/** What one kind contributes, made for the naming the server speaks. */
export type KindStrategy = (naming: Naming) => Partial<Strategy>;

/** Storage name to the rules of that kind; each folder exports one such table. */
export type KindTable = { readonly [storageName: string]: KindStrategy };
