import type { Dependents, Relative } from './relatives.js';

/** An object in the graph, in units of columns and rows. */
export interface GraphNode {
  readonly relative: Relative;
  /** 0 for the object of the page, negative for its owners. */
  readonly column: number;
  readonly row: number;
}

/** The graph of an object: owners at the left, dependents at the right. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  /** From an owner to its dependent. */
  readonly edges: readonly { readonly from: GraphNode; readonly to: GraphNode }[];
  /** Dependents that are not drawn. */
  readonly hidden: number;
}

/** Largest number of objects that are drawn. */
const MOST = 150;

/** Arranges an object with its owners and dependents: each one in the middle of those that it leads to. */
export function layOut(
  root: Relative,
  owners: ReadonlyMap<string, readonly Relative[]>,
  { byOwner }: Pick<Dependents, 'byOwner'>,
): Graph {
  const placed = new Map<string, GraphNode>();
  let hidden = 0;
  /** Places an object in the middle of those that it leads to. Returns the next free row. */
  const place = (
    relative: Relative,
    column: number,
    row: number,
    step: 1 | -1,
    next: (of: Relative) => readonly Relative[],
  ): number => {
    // Reserved first: references can form a cycle.
    const isRoot = column === 0;
    if (!isRoot) placed.set(relative.uid, { relative, column, row });
    let free = row;
    const rows: number[] = [];
    for (const child of next(relative)) {
      if (child.uid === root.uid || placed.has(child.uid)) continue;
      if (placed.size >= MOST) {
        hidden++;
        continue;
      }
      free = place(child, column + step, free, step, next);
      rows.push(placed.get(child.uid)!.row);
    }
    const middle = rows.length > 0 ? (rows[0]! + rows.at(-1)!) / 2 : row;
    placed.set(relative.uid, { relative, column, row: middle });
    return Math.max(free, row + 1);
  };
  place(root, 0, 0, 1, ({ uid }) => byOwner.get(uid) ?? []);
  const { row } = placed.get(root.uid)!;
  const above = [...(owners.get(root.uid) ?? [])];
  let free = row - (above.length - 1) / 2;
  for (const owner of above)
    if (!placed.has(owner.uid)) free = place(owner, -1, free, -1, ({ uid }) => owners.get(uid) ?? []);
  placed.set(root.uid, { relative: root, column: 0, row });
  return { ...normalize([...placed.values()]), hidden };
}

/** Moves the graph to the first row and column, and connects it. */
function normalize(given: readonly GraphNode[]): Pick<Graph, 'nodes' | 'edges'> {
  const [left, top] = [Math.min(...given.map(({ column }) => column)), Math.min(...given.map(({ row }) => row))];
  const nodes = given.map(node => ({ ...node, column: node.column - left, row: node.row - top }));
  const byUid = new Map(nodes.map(node => [node.relative.uid, node]));
  const edges = nodes.flatMap(to =>
    to.relative.owners.flatMap(({ uid }) => {
      const from = byUid.get(uid);
      return from ? [{ from, to }] : [];
    }),
  );
  return { nodes, edges };
}
