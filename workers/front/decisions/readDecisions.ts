import type { DecisionRecord } from '../../../core/api/observe/decisions.js';
import type { Exchange } from '../../../core/api/listener.js';
import { badRequest, notFound } from '../../../core/model/refusal.js';
import { labelMatcher, matcherOf } from '../../../core/model/selectors/selector.js';
import { parseFieldSelector, parseLabelSelector } from '../../../core/model/selectors/selectorSyntax.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import type { Naming } from '../../../core/naming.js';
import { firstValue, parseInteger } from '../../../core/request/query.js';
import type { Route } from '../../../core/request/route.js';
import type { Decisions } from '../../../core/services/decisions/decisions.js';
import { type NumberedRecord, RECORD_BYTES } from '../../../core/services/decisions/recordRing.js';
import { writeRecord } from '../../../core/services/decisions/recordText.js';
import type { Rendering } from '../../../core/threads/messages/messages.js';
import { checkNumbers } from '../../../core/request/listOptions.js';
import { respond } from '../answers/reply.js';
import type { Slices } from '../fairness/slices.js';
import type { PathHandler } from '../paths/routes.js';
import type { JobRunner } from '../pool/pool.js';
import { renderJob } from '../pool/poolClient.js';

/** The parts that reads of decisions need. */
interface DecisionSource {
  readonly decisions: Decisions;
  /** Shares the main thread with other requests. */
  readonly slices: Slices;
  readonly pool: Pick<JobRunner, 'run'>;
  readonly naming: Naming;
}

const ofResource = ({ target }: DecisionRecord, read: (target: ResourceTarget) => string): string =>
  target.is === 'resource' ? read(target) : '';

/** The fields that field selectors may name. */
const FIELDS: ReadonlyMap<string, (record: DecisionRecord, naming: Naming) => string> = new Map([
  ['metadata.name', ({ auditId }) => auditId],
  ['outcome.code', ({ code }) => String(code)],
  ['sender.username', ({ user }) => user?.name ?? ''],
  ['request.verb', ({ target }) => target.verb],
  ['request.group', (record, naming) => ofResource(record, ({ group }) => naming.group(group))],
  ['request.resource', record => ofResource(record, ({ resource }) => resource)],
  ['request.namespace', record => ofResource(record, ({ namespace }) => namespace)],
  ['request.name', record => record.name ?? ofResource(record, ({ name }) => name)],
]);

/** The number of the last record of the previous page, before which a page begins. Throws 400. */
function positionOf(token: string): number {
  if (token === '') return Number.POSITIVE_INFINITY;
  const text = Buffer.from(token, 'base64url').toString();
  if (!/^[1-9][0-9]{0,15}$/.test(text))
    throw badRequest('invalid continue token: it was not made by this server for a list of decisions');
  return Number(text);
}

const tokenOf = (number: number): string => Buffer.from(String(number)).toString('base64url');

/**
 * The filter for the records that a list selects. Throws 400 for selectors that do not parse or name unknown fields.
 */
function selectionOf({ query }: Route, naming: Naming): (record: DecisionRecord) => boolean {
  const fields = parseFieldSelector(firstValue(query, 'fieldSelector'));
  const unknown = fields.find(({ key }) => !FIELDS.has(key));
  if (unknown) {
    const known = [...FIELDS.keys()].join(', ');
    throw badRequest(`field label not supported: ${unknown.key}; decisions can be selected by ${known}`);
  }
  // Decisions have no labels.
  if (!labelMatcher(parseLabelSelector(firstValue(query, 'labelSelector')))(undefined)) return () => false;
  const matches = matcherOf(fields);
  return record => matches(key => FIELDS.get(key)?.(record, naming));
}

/** A page of records, the newest first, and the metadata of their list. */
async function pageOf(
  { decisions, slices, naming }: DecisionSource,
  route: Route,
): Promise<Pick<Rendering, 'objects' | 'list'>> {
  checkNumbers(route.query);
  const limit = parseInteger(route.query, 'limit') || Number.POSITIVE_INFINITY;
  const matches = selectionOf(route, naming);
  const resourceVersion = String(decisions.lastNumber);
  const objects: Uint8Array[] = [];
  let list: Rendering['list'] = { resourceVersion };
  let last = 0;
  const add = ({ number, record }: NumberedRecord): boolean => {
    if (!matches(record)) return true;
    if (objects.length === limit) {
      list = { resourceVersion, continue: tokenOf(last) };
      return false;
    }
    // Lists do not show steps, which may be long.
    objects.push(writeRecord({ ...record, steps: undefined }));
    last = number;
    return true;
  };
  const all = [...decisions.newestFirst(positionOf(firstValue(route.query, 'continue')))];
  await slices.forEach(all, add, ({ bytes }) => bytes / RECORD_BYTES);
  return { objects, list };
}

/**
 * Answers gets and lists of decisions, in the main thread, which has the records. The pool encodes them, and explains
 * the record of a get. Throws 400 and 404.
 */
export function decisionReader(source: DecisionSource): PathHandler {
  const shown = async (route: Route): Promise<Pick<Rendering, 'objects' | 'list'>> => {
    const { name } = route.target as ResourceTarget;
    if (name === '') return await pageOf(source, route);
    const record = source.decisions.get(name);
    const { group, plural } = route.resource!;
    if (!record) throw notFound({ group, resource: plural }, name);
    return { objects: [writeRecord(record)] };
  };
  return async (exchange: Exchange, route: Route) => {
    respond(exchange, await source.pool.run(renderJob(exchange, { ...(await shown(route)), status: 200 })));
    return true;
  };
}
