import { recordAt, recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../model/record.js';
import { UNAUTHENTICATED } from '../../access/identity.js';
import type { Style } from '../terminal/style.js';
import { formatMilliseconds } from './format.js';
import { plain } from './printed.js';

const INDENT = '  ';

/** A text of several lines without other control characters. */
const plainLines = (text: string): string => text.split('\n').map(plain).join('\n');

const indentLines = (text: string, by = INDENT): string =>
  text
    .split('\n')
    .map(line => by + plain(line))
    .join('\n');

/** `create pods/binding.apps "x" in the namespace shop`, or `get /metrics`. */
function actionText(action: UnknownRecord | undefined): string {
  const [verb, path] = [stringAt(action, 'verb'), stringAt(action, 'path')];
  const resource = stringAt(action, 'resource');
  if (resource === '') return plain(`${verb} ${path}`);
  const [subresource, group] = [stringAt(action, 'subresource'), stringAt(action, 'group')];
  const [name, namespace] = [stringAt(action, 'name'), stringAt(action, 'namespace')];
  const of = `${resource}${group && `.${group}`}${subresource && `/${subresource}`}`;
  const what = `${of}${name && ` ${JSON.stringify(name)}`}`;
  return plain(`${verb} ${what}${namespace && ` in the namespace ${namespace}`}`.trim());
}

/** Replaces the empty message of a refusal or violation that would show credentials. */
const LEFT_OUT = 'the message is left out, as it may have a credential';

/** A violation, with the rule that it breaks. */
function violationText(violation: UnknownRecord, style: Style): string[] {
  const [field, message, rule] = ['field', 'message', 'rule'].map(name => stringAt(violation, name));
  const text = message || `${stringAt(violation, 'reason')}; ${LEFT_OUT}`;
  return [
    plain(`${INDENT}${field && `${field}: `}${text}`),
    ...(rule ? [style.faint(plain(`${INDENT}${INDENT}rule: ${rule}`))] : []),
  ];
}

function senderText(sender: UnknownRecord | undefined, code: number, style: Style): string[] {
  const why =
    code === 401 ? 'the credentials are not valid' : 'the request was refused before its credentials were read';
  if (!sender) return [`${style.strong('Sender')}  not known: ${why}`];
  const groups = stringsAt(sender, 'groups');
  const [authenticator, impersonator] = [stringAt(sender, 'authenticator'), stringAt(sender, 'impersonator')];
  const more = [
    ...(groups.length > 0 ? [`in ${groups.join(', ')}`] : []),
    ...(groups.includes(UNAUTHENTICATED) ? ['the request has no credentials'] : []),
    ...(authenticator ? [`known by ${authenticator}`] : []),
    ...(impersonator ? [`${impersonator} acted as this user`] : []),
  ];
  return [`${style.strong('Sender')}  ${plain([stringAt(sender, 'username'), ...more].join('; '))}`];
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['Allow', 'allows it'],
  ['Deny', 'denies it'],
  ['NoOpinion', 'does not allow it'],
]);

function ruleText(rule: UnknownRecord, style: Style): string[] {
  const missing = stringsAt(rule, 'missing');
  const what = missing.length === 0 ? 'allows it' : `nearly allows it, but for its ${missing.join(' and ')}`;
  return [
    plain(`${INDENT}${INDENT}${stringAt(rule, 'source')} ${what}`),
    style.faint(`${INDENT}${INDENT}${INDENT}${plain(stringAt(rule, 'rule'))}`),
  ];
}

function authorizationText(authorization: UnknownRecord | undefined, style: Style): string[] {
  if (!authorization) return [];
  const lines = [style.strong('Authorizers')];
  for (const one of recordsAt(authorization, 'authorizers')) {
    const decision = WORDS.get(stringAt(one, 'decision')) ?? stringAt(one, 'decision');
    const [reason, error] = [stringAt(one, 'reason'), stringAt(one, 'error')];
    lines.push(
      plain(`${INDENT}${stringAt(one, 'name')} ${decision}${reason && `: ${reason}`}${error && `: ${error}`}`),
    );
    for (const rule of recordsAt(one, 'rules')) lines.push(...ruleText(rule, style));
  }
  const grant = stringAt(authorization, 'grant');
  if (grant === '') return lines;
  return [...lines, style.strong('To allow it, apply'), plainLines(grant).trimEnd()];
}

function stepText(step: UnknownRecord, style: Style): string[] {
  const [result, part, message] = [stringAt(step, 'result'), stringAt(step, 'part'), stringAt(step, 'message')];
  const colour = result === 'Refused' ? style.bad : result === 'Passed' ? style.faint : style.good;
  const { milliseconds, cost } = step;
  const measured = [
    ...(typeof milliseconds === 'number' ? [formatMilliseconds(milliseconds)] : []),
    ...(typeof cost === 'number' ? [`cost ${cost}`] : []),
  ];
  const who = `${stringAt(step, 'plugin')}${part && `: ${part}`}`;
  const times = measured.length > 0 ? style.faint(` (${measured.join(', ')})`) : '';
  const patch = stringAt(step, 'patch');
  return [
    `${INDENT}${colour(result.padEnd('Changed'.length))} ${plain(who)}${times}`,
    ...(message ? [indentLines(message, INDENT.repeat(5))] : []),
    ...(patch ? [indentLines(patch, INDENT.repeat(5))] : []),
  ];
}

/** A conflict with the manager of a field, or with the one that has written the object last. */
function conflictText(conflict: UnknownRecord): string {
  const [field, since] = [stringAt(conflict, 'field'), stringAt(conflict, 'since')];
  const owner = `${stringAt(conflict, 'manager')} (${stringAt(conflict, 'operation')})`;
  const isOfVersion = field === '.metadata.resourceVersion';
  const text = isOfVersion
    ? `the version that was sent is not the current one: ${owner} has written the object${since && ` at ${since}`}`
    : `${field} is owned by ${owner}${since && ` since ${since}`}`;
  return plain(INDENT + text);
}

/** A list with a heading; nothing if it is empty. */
const section = (heading: string, lines: readonly string[], style: Style): string[] =>
  lines.length === 0 ? [] : [style.strong(heading), ...lines];

/** A Decision as a text for people. */
export function decisionText(decision: UnknownRecord, style: Style): string {
  const outcome = recordAt(decision, 'outcome');
  const code = Number(outcome?.['code'] ?? 0);
  const head = plain(`${code} ${stringAt(outcome, 'reason')}`.trim());
  const violations = recordsAt(decision, 'violations').flatMap(one => violationText(one, style));
  // If there is no message, the violations are the reason.
  const message = stringAt(outcome, 'message') || (code >= 400 && violations.length === 0 ? LEFT_OUT : '');
  const [request, incomplete] = [recordAt(decision, 'request'), stringAt(decision, 'incomplete')];
  const conflicts = recordsAt(decision, 'conflicts').map(conflictText);
  // Only the path shows versions and unknown kinds.
  const path = (code === 404 || code === 405) && stringAt(request, 'resource') !== '' && stringAt(request, 'path');
  return [
    `${(code >= 400 ? style.bad : style.good)(head)}  ${actionText(request)}`,
    ...(request?.['dryRun'] === true ? [`${INDENT}a dry run: nothing was stored`] : []),
    ...(message ? [indentLines(message)] : []),
    ...(path ? [`${style.strong('Path')}  ${plain(path)}`] : []),
    ...senderText(recordAt(decision, 'sender'), code, style),
    ...authorizationText(recordAt(decision, 'authorization'), style),
    ...section(
      'Admission',
      recordsAt(decision, 'steps').flatMap(step => stepText(step, style)),
      style,
    ),
    ...section('Violations', violations, style),
    ...section('Conflicts', conflicts, style),
    ...(incomplete ? [plain(incomplete)] : []),
  ].join('\n');
}

/** An Explanation as a text for people. */
export function explanationText(explanation: UnknownRecord, style: Style): string {
  const [spec, status] = [recordAt(explanation, 'spec'), recordAt(explanation, 'status')];
  const isAllowed = status?.['allowed'] === true;
  const action = recordAt(spec, 'resourceAttributes') ?? recordAt(spec, 'nonResourceAttributes');
  const who = plain(stringAt(spec, 'user') || 'you');
  return [
    `${isAllowed ? `${style.good('yes')}  ${who} may` : `${style.bad('no')}  ${who} may not`} ${actionText(action)}`,
    ...authorizationText(status, style),
  ].join('\n');
}
