import { anything, type Below, chance, pick, TEXTS, withMember } from './choices.js';
import { acceptable, type Definitions, jsonText, mutate, type Served, yamlText } from './bodies.js';
import { MERGE, STRATEGIC } from '../../support/mediaTypes.js';

/** A body with its Content-Type. */
export interface Body {
  readonly type: string;
  readonly bytes: Uint8Array;
}

const POINTERS = [
  '',
  '/',
  '/metadata',
  '/metadata/labels/app',
  '/metadata/labels/x~1y',
  '/metadata/labels/~2',
  '/metadata/__proto__/x',
  '/__proto__/polluted',
  '/constructor/prototype/polluted',
  '/metadata/name',
  '/metadata/finalizers/-',
  '/spec',
  '/spec/template/spec/containers/0/image',
  '/spec/containers/-',
  '/spec/containers/99999999999',
  '/spec/containers/-1',
  '/spec/containers/01',
  '/spec/ports/0',
  '/data/a',
  '/data/length',
  'no-slash',
  '/a'.repeat(3000),
];
const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test', 'merge', '', '__proto__'];
const PLACES = [
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  '$setElementOrder/ports',
];

const operation = (below: Below): object => ({
  op: chance(below, 20) ? anything(below) : pick(below, OPERATIONS),
  path: chance(below, 20) ? anything(below) : pick(below, POINTERS),
  ...(chance(below, 2) ? { value: anything(below) } : {}),
  ...(chance(below, 3) ? { from: pick(below, POINTERS) } : {}),
});

/** A JSON Patch. One variant copies the whole object into itself repeatedly, which doubles its size each time. */
function jsonPatch(below: Below): unknown {
  if (chance(below, 10)) return anything(below);
  if (chance(below, 10)) {
    return Array.from({ length: pick(below, [20, 60, 10_001]) }, () => ({
      op: 'copy',
      from: '/metadata',
      path: '/metadata/annotations',
    }));
  }
  if (chance(below, 15)) {
    return Array.from({ length: 30 }, (_, i) => ({ op: 'copy', from: '', path: `/a${i}` }));
  }
  return Array.from({ length: below(6) }, () => operation(below));
}

/** Directives of strategic merge patches, in valid and invalid positions. */
function strategic(below: Below, value: { [member: string]: unknown }): void {
  const directive = (): unknown =>
    pick<unknown>(below, ['replace', 'delete', 'merge', 'x', null, 1, ['a'], [{ name: 'c' }], [null], {}]);
  withMember(value, pick(below, PLACES), directive());
  const spec = value['spec'];
  if (typeof spec === 'object' && spec !== null) {
    withMember(spec, pick(below, PLACES), directive());
    const containers = pick<unknown>(below, [
      [{ $patch: 'replace' }],
      [{ $patch: 'delete', name: 'c' }],
      [{}],
      [null],
      [[]],
      [{ name: null }],
      {},
    ]);
    if (chance(below, 2)) withMember(spec, pick(below, ['containers', 'ports', 'template', 'rules']), containers);
  }
}

/** A patch of any type for an object of a resource. */
export function patchOf(below: Below, served: Served, definitions: Definitions): Body {
  const value = acceptable(below, served);
  if (chance(below, 2)) mutate(below, value, definitions);
  const text = (given: unknown): Uint8Array => Buffer.from(jsonText(below, given));
  switch (below(17) >> 2) {
    case 0:
      return { type: 'application/json-patch+json', bytes: text(jsonPatch(below)) };
    case 1:
      return { type: MERGE, bytes: text(chance(below, 6) ? anything(below) : value) };
    case 2:
      strategic(below, value);
      return { type: STRATEGIC, bytes: text(value) };
    case 3:
      return { type: 'application/apply-patch+yaml', bytes: Buffer.from(yamlText(below, value)) };
    default:
      return {
        type: pick(below, ['application/json', 'text/plain', '', TEXTS[16]!, 'application/merge-patch+json;x']),
        bytes: text(value),
      };
  }
}
