import type { Pod } from '../../../../kinds/v1.js';
import type { Connection } from '../../../../core/api/strategy.js';
import {
  badRequest,
  forbiddenField,
  invalid,
  invalidObject,
  type Refusal,
  type Violation,
} from '../../../../core/model/refusal.js';

type Query = Parameters<Connection>[1];

const namesOf = (containers: readonly { readonly name: string }[] | undefined | null): string[] =>
  (containers ?? []).map(({ name }) => name);

/** Refuses a container that does not exist in the pod, and a missing name if there are several containers. */
function containerProblem(pod: Pod, asked: string): Refusal | undefined {
  const { spec } = pod;
  const name = pod.metadata.name ?? '';
  const [plain, init, debugging] = [spec.containers, spec.initContainers, spec.ephemeralContainers].map(namesOf);
  if (asked !== '') {
    const known = [plain, init, debugging].some(all => all?.includes(asked));
    return known ? undefined : badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  if (plain?.length === 1) return undefined;
  const others = init?.length ? ` or one of the init containers: [${init.join(' ')}]` : '';
  return badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${plain?.join(' ')}]${others}`,
  );
}

const isUnscheduled = (pod: Pod): boolean => (pod.spec.nodeName ?? '') === '';

const noHost = (pod: Pod): Refusal => badRequest(`pod ${pod.metadata.name} does not have a host assigned`);

/** Answers exec and attach, which connect to a process in a container. */
const connectToProcess: Connection<Pod> = (pod, query) =>
  containerProblem(pod, query.get('container')?.[0] ?? '') ?? (isUnscheduled(pod) ? noHost(pod) : undefined);

const connectToPorts: Connection<Pod> = pod => (isUnscheduled(pod) ? noHost(pod) : undefined);

/** An integer in the query; undefined if it is absent. Throws the 400 of upstream's parser. */
function numberIn(query: Query, name: string): number | undefined {
  const value = query.get(name)?.[0];
  if (value === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}

/** Violations of the options of a log (core/v1 PodLogOptions). */
function validateLogOptions(query: Query): Violation[] {
  const [tail, bytes, seconds] = ['tailLines', 'limitBytes', 'sinceSeconds'].map(name => numberIn(query, name));
  const found: Violation[] = [];
  if (tail !== undefined && tail < 0) found.push(invalid('tailLines', tail, 'must be greater than or equal to 0'));
  if (bytes !== undefined && bytes < 1) found.push(invalid('limitBytes', bytes, 'must be greater than 0'));
  if (seconds !== undefined && query.has('sinceTime'))
    found.push(forbiddenField('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  else if (seconds !== undefined && seconds < 1) found.push(invalid('sinceSeconds', seconds, 'must be greater than 0'));
  return found;
}

/** The log of a container; empty as long as the pod has no node. */
const readLog: Connection<Pod> = (pod, query) => {
  const violations = validateLogOptions(query);
  if (violations.length > 0) return invalidObject('', 'PodLogOptions', pod.metadata.name ?? '', violations);
  return containerProblem(pod, query.get('container')?.[0] ?? '') ?? (isUnscheduled(pod) ? 'empty' : undefined);
};

/** Subresources of pods that lead to their node. */
export const podConnections: ReadonlyMap<string, Connection<Pod>> = new Map<string, Connection<Pod>>([
  ['log', readLog],
  ['exec', connectToProcess],
  ['attach', connectToProcess],
  ['portforward', connectToPorts],
  ['proxy', pod => (isUnscheduled(pod) ? badRequest('address not allowed') : undefined)],
]);
