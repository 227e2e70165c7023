import { certificates } from './certificates.js';
import { compositions } from './compositions.js';
import { gateways } from './gateways.js';
import type { Definition } from './shapes.js';

export type { Definition } from './shapes.js';

/** Definitions with the features and the sizes of those that widely used projects publish. */
export const lookalikes = (): readonly Definition[] => [...certificates(), ...gateways(), ...compositions()];

/** `count` definitions of realistic size, in groups of 20 kinds: the look-alikes in turn, under other names. */
export function manyDefinitions(count: number): readonly Definition[] {
  const made = lookalikes();
  return Array.from({ length: count }, (_, i) => {
    const { spec, ...rest } = made[i % made.length]!;
    const group = `g${Math.floor(i / 20)}.many.example.com`;
    const kind = `${spec.names.kind}${i}`;
    const plural = `${kind.toLowerCase()}s`;
    const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
    return { ...rest, metadata: { name: `${plural}.${group}` }, spec: { ...spec, group, names } };
  });
}
