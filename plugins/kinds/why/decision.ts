import type { AdmissionStep, DecisionRecord, RecordContext } from '../../../core/api/observe/decisions.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { Int64, Time } from '../../../core/model/scalars.js';
import type { Naming } from '../../../core/naming.js';
import type { Authorization, Decision, Request, Sender, Step } from '../../../kinds/why/v1.js';
import { column, NAME } from '../shared/columns.js';
import { explainedOpinions, recordedOpinions } from '../shared/accessReview/opinions.js';

const timeOf = (milliseconds: number): Time => `${new Date(milliseconds).toISOString().slice(0, 19)}Z` as Time;
/** Milliseconds with microseconds. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;

function requestOf({ target, path, name, dryRun }: DecisionRecord, naming: Naming): Request {
  if (target.is === 'path') return { verb: target.verb, path };
  const { verb, group, version, resource, subresource, namespace } = target;
  const texts = { group: naming.group(group), version, resource, subresource, namespace, name: name ?? target.name };
  const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
  return { verb, path, ...given, ...(dryRun && { dryRun }) };
}

function senderOf({ user, impersonator, authenticator }: DecisionRecord): Sender | undefined {
  if (!user) return undefined;
  const { name, uid, groups, extra } = user;
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(extra.size > 0 && { extra: Object.fromEntries(Array.from(extra, ([key, values]) => [key, [...values]])) }),
    ...(authenticator && { authenticator }),
    ...(impersonator && { impersonator: impersonator.name }),
  };
}

const stepsIn = (text: string): readonly AdmissionStep[] => JSON.parse(text) as readonly AdmissionStep[];

function stepOf({ stage, plugin, part, result, message, ms, cost, patch }: AdmissionStep): Step {
  return {
    stage,
    plugin,
    ...(part && { part }),
    result,
    ...(message && { message }),
    ...(ms !== undefined && { milliseconds: rounded(ms) }),
    ...(cost !== undefined && { cost: cost as Int64 }),
    ...(patch !== undefined && { patch }),
  };
}

/** The opinions of the authorizers, as far as they are recorded. */
function recordedAuthorization({ opinions, allowedBy, reason }: DecisionRecord): Authorization | undefined {
  if (opinions) return recordedOpinions(opinions);
  if (allowedBy === undefined) return undefined;
  return recordedOpinions([{ plugin: allowedBy, is: 'allow', reason }]);
}

/** The functions that explain a record, and the clock in milliseconds since the epoch. */
type Explaining = RecordContext & { readonly now: () => number };

/**
 * The opinions of the authorizers with explanations. For a denied request these are the recorded opinions, explained by
 * the present rules. If the present rules allow the request, their grant is left out.
 */
async function explainedAuthorization(
  record: DecisionRecord,
  { explain, now }: Explaining,
): Promise<Authorization | undefined> {
  const recorded = recordedAuthorization(record);
  const { user, asked, target } = record;
  if (!recorded || !user) return recorded;
  const explained = explainedOpinions(await explain(user, asked ?? target), timeOf(now()));
  const { authorizers = [], grant, explainedAt } = explained;
  const rulesOf = new Map(authorizers.map(({ name, rules }) => [name, rules]));
  return {
    ...recorded,
    authorizers: (recorded.authorizers ?? []).map(one => {
      const rules = rulesOf.get(one.name);
      return rules ? { ...one, rules } : one;
    }),
    ...(grant && !recorded.allowed && { grant }),
    ...(explainedAt && { explainedAt }),
  };
}

async function decisionOf(record: DecisionRecord, context: Explaining | undefined, naming: Naming): Promise<Decision> {
  const { auditId, at, code, ms, refusal, unseenChanges } = record;
  const { reason, message, causes = [], conflicts = [] } = refusal ?? {};
  const sender = senderOf(record);
  const authorization = context ? await explainedAuthorization(record, context) : recordedAuthorization(record);
  const shownSteps = context && record.steps !== undefined ? stepsIn(record.steps).map(stepOf) : [];
  // Conflicts of an apply are causes as well: they are shown with their managers.
  const violations =
    conflicts.length > 0 ? [] : causes.map(({ rule, ...cause }) => ({ ...cause, ...(rule && { rule }) }));
  return {
    apiVersion: naming.apiVersion('why.orchestrator.io/v1'),
    kind: 'Decision',
    metadata: { name: auditId, creationTimestamp: timeOf(at) },
    request: requestOf(record, naming),
    ...(sender && { sender }),
    outcome: { code, ...(reason && { reason }), ...(message && { message }), milliseconds: rounded(ms) },
    ...(authorization && { authorization }),
    ...(shownSteps.length > 0 && { steps: shownSteps }),
    ...(violations.length > 0 && { violations }),
    ...(conflicts.length > 0 && {
      conflicts: conflicts.map(({ since, subresource, ...rest }) => ({
        ...rest,
        ...(subresource && { subresource }),
        ...(since && { since: since as Time }),
      })),
    }),
    ...(unseenChanges && { incomplete: UNSEEN }),
  };
}

/** Why patches are missing. */
const UNSEEN = 'the server was busy, or the changes are large: it has not kept all that mutators have changed';

const COLUMNS: readonly Column<Decision>[] = [
  NAME,
  column('Code', ({ outcome }) => outcome.code, { type: 'integer' }),
  column('User', ({ sender }) => sender?.username ?? '<unknown>'),
  column('Verb', ({ request }) => request.verb),
  column('Resource', ({ request: { resource, subresource, group, path } }) =>
    resource ? `${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}` : path,
  ),
  column('Namespace', ({ request }) => request.namespace ?? ''),
  column('Object', ({ request }) => request.name ?? ''),
  column('Age', ({ metadata }) => ({ since: Date.parse(metadata.creationTimestamp ?? '') })),
  column('Message', ({ outcome }) => outcome.message ?? '', { wide: true }),
];

/** Decision: what the server did about a request, and why. It is made of a record in memory when it is read. */
export const decision = builtInKind<Decision>('why.orchestrator.io/decisions', (naming, { now }) => ({
  showRecord: (record, context) => decisionOf(record, context && { ...context, now }, naming),
  columns: COLUMNS,
}));
