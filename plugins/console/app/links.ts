import type { Kind } from './api/kinds.js';

/** The parts of a kind that appear in addresses. */
type Address = Pick<Kind, 'group' | 'version' | 'resource'>;

const partsOf = ({ group, version, resource }: Address): string[] => [group || 'core', version, resource];
const pathOf = (page: string, parts: readonly string[]): string =>
  `/${[page, ...parts.map(encodeURIComponent)].join('/')}`;

/** The path of the list of a kind, below that of the console. */
export const listPage = (kind: Address): string => pathOf('list', partsOf(kind));

/** The path of the page that creates an object of a kind. */
export const createPage = (kind: Address): string => pathOf('create', partsOf(kind));

/** The path of the page of an object; `namespace` is '' for objects without one. */
export const objectPage = (kind: Address, namespace: string, name: string): string =>
  pathOf('object', [...partsOf(kind), namespace || '-', name]);
