import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ApiObject } from '../../../api/objects.js';
import { Failure } from '../../../parts/failure.js';
import { ScrollRegion } from '../../../parts/scrollRegion.js';
import { hrefOf } from '../../../router.js';
import type { ObjectAddress } from '../liveObject.js';
import { type Graph, type GraphNode, layOut } from './graphLayout.js';
import { type Dependents, findDependents, findOwners, pageOf, relativeOf } from './relatives.js';

/** Pixels of an object, and of the space to the next one. */
const [WIDTH, HEIGHT, ACROSS, DOWN] = [210, 46, 56, 14];
/** Largest number of characters of a name that fit. */
const FITTING = 26;

const xOf = ({ column }: GraphNode): number => column * (WIDTH + ACROSS) + 2;
const yOf = ({ row }: GraphNode): number => row * (HEIGHT + DOWN) + 2;
const cut = (text: string): string => (text.length > FITTING ? `${text.slice(0, FITTING - 1)}…` : text);

function Box({ node, isRoot }: { readonly node: GraphNode; readonly isRoot: boolean }) {
  const { relative } = node;
  const [x, y] = [xOf(node), yOf(node)];
  const page = pageOf(relative);
  const box = (
    <>
      <title>
        {relative.kind} {relative.name}
        {relative.isMissing ? ' (not found)' : ''}
      </title>
      <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx={8} />
      <text x={x + 12} y={y + 18} class="graph-kind">
        {relative.kind}
        {relative.isMissing ? ' · not found' : ''}
      </text>
      <text x={x + 12} y={y + 35} class="graph-name">
        {cut(relative.name)}
      </text>
    </>
  );
  const state = `graph-node ${isRoot ? 'root' : ''} ${relative.isMissing ? 'missing' : ''}`;
  if (isRoot || !page || relative.isMissing) return <g class={state}>{box}</g>;
  return (
    <a class={state} href={hrefOf(page, { tab: 'owners' })}>
      {box}
    </a>
  );
}

function Picture({ graph, root }: { readonly graph: Graph; readonly root: string }) {
  const width = Math.max(...graph.nodes.map(xOf)) + WIDTH + 2;
  const height = Math.max(...graph.nodes.map(yOf)) + HEIGHT + 2;
  return (
    <ScrollRegion class="graph" label="Owners and dependents">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Graph of owners">
        {graph.edges.map(({ from, to }) => {
          const [x1, y1, x2, y2] = [xOf(from) + WIDTH, yOf(from) + HEIGHT / 2, xOf(to), yOf(to) + HEIGHT / 2];
          const middle = (x1 + x2) / 2;
          return (
            <path
              key={`${from.relative.uid} ${to.relative.uid}`}
              class="graph-edge"
              d={`M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
            />
          );
        })}
        {graph.nodes.map(node => (
          <Box key={node.relative.uid} node={node} isRoot={node.relative.uid === root} />
        ))}
      </svg>
    </ScrollRegion>
  );
}

/** The owners and the dependents of an object, as a graph. */
export function OwnersPanel({ address, object }: { readonly address: ObjectAddress; readonly object: ApiObject }) {
  const found = useSignal<{ readonly graph: Graph; readonly dependents: Dependents } | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const { uid = '', resourceVersion } = object.metadata;
  useEffect(() => {
    const aborter = new AbortController();
    const { signal } = aborter;
    const read = async (): Promise<void> => {
      const root = relativeOf(address.kind, object);
      const [owners, dependents] = await Promise.all([
        findOwners(root, signal),
        findDependents(address.namespace, signal),
      ]);
      found.value = { graph: layOut(root, owners, dependents), dependents };
    };
    read().catch(thrown => !signal.aborted && (error.value = thrown));
    return () => aborter.abort();
  }, [uid, resourceVersion]);
  if (error.value) return <Failure error={error.value} doing="looking for owners" />;
  if (!found.value) return <p class="soft">Looking for owners and dependents …</p>;
  const { graph, dependents } = found.value;
  const { unreadable, isCut } = dependents;
  return (
    <div class="stack">
      <Picture graph={graph} root={uid} />
      <p class="soft small" role="status">
        {graph.nodes.length === 1 ? 'The object has no owners and no dependents.' : 'Owners are at the left.'}
        {graph.hidden > 0 && ` ${graph.hidden} dependents are not drawn.`}
        {isCut && ' There are too many objects to find all dependents.'}
        {unreadable.length > 0 && ` You may not list ${unreadable.join(', ')}.`}
      </p>
    </div>
  );
}
