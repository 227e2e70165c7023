import { ageOf } from '../../list/liveList.js';
import { timeText } from '../plugins/measures.js';
import { type Decision, type NearRule, requestText } from './decision.js';
import { GrantView } from './grantView.js';

const RESULTS: Readonly<Record<string, string>> = {
  Changed: 'warn',
  Passed: 'good',
  Warned: 'warn',
  Refused: 'bad',
  Failed: 'bad',
};
const WORDS: Readonly<Record<string, readonly [color: string, word: string]>> = {
  Allow: ['good', 'allows'],
  Deny: ['bad', 'denies'],
  NoOpinion: ['', 'says nothing'],
};

function Sender({ decision: { sender } }: { readonly decision: Decision }) {
  if (!sender) return <p>The sender is not known: its credentials were not accepted.</p>;
  const { username, groups = [], authenticator, impersonator } = sender;
  return (
    <dl class="facts">
      <dt>User</dt>
      <dd>
        <strong>{username}</strong>
        {impersonator && <span class="soft"> as whom {impersonator} acted</span>}
      </dd>
      <dt>Groups</dt>
      <dd>{groups.join(', ') || 'none'}</dd>
      <dt>Known by</dt>
      <dd>{authenticator ?? 'no credentials'}</dd>
    </dl>
  );
}

function Rule({ rule: { source, rule, missing = [] } }: { readonly rule: NearRule }) {
  return (
    <li class="stack near">
      <span class="row">
        {source}
        {missing.length === 0 ? (
          <span class="chip good">allows it</span>
        ) : (
          <span class="chip warn">lacks the {missing.join(' and the ')}</span>
        )}
      </span>
      <code class="small">{rule}</code>
    </li>
  );
}

function Authorization({ decision: { authorization } }: { readonly decision: Decision }) {
  if (!authorization) return null;
  const { allowed, authorizers = [], grant, explainedAt } = authorization;
  return (
    <section class="card stack">
      <div class="row">
        <h2>Authorization</h2>
        <span class={`chip ${allowed ? 'good' : 'bad'}`}>{allowed ? 'allowed' : 'not allowed'}</span>
      </div>
      <ul class="authorizers">
        {authorizers.map(({ name, decision, reason, error, rules = [] }) => {
          const [color, word] = WORDS[decision] ?? ['', decision];
          return (
            <li key={name} class="stack">
              <span class="row">
                <strong>{name}</strong>
                <span class={`chip ${color}`}>{word}</span>
                <span class="soft">{error ?? reason}</span>
              </span>
              {rules.length > 0 && (
                <>
                  <span class="soft small">{allowed ? 'By these rules' : 'The nearest rules'}</span>
                  <ul class="by-kind">
                    {rules.map(rule => (
                      <Rule key={`${rule.source} ${rule.rule}`} rule={rule} />
                    ))}
                  </ul>
                </>
              )}
            </li>
          );
        })}
      </ul>
      {grant && <GrantView text={grant} />}
      {explainedAt && !allowed && <p class="soft small">Rules are those of now, not those of then.</p>}
    </section>
  );
}

/** The operations of a JSON Patch, one line for each; the text itself if it is not a patch. */
function operationsIn(patch: string): string[] {
  try {
    return (JSON.parse(patch) as { op: string; path: string; value?: unknown }[]).map(
      ({ op, path, value }) => `${op} ${path}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`,
    );
  } catch {
    return [patch];
  }
}

function Steps({ decision: { steps = [], incomplete } }: { readonly decision: Decision }) {
  if (steps.length === 0 && !incomplete) return null;
  return (
    <section class="card stack">
      <h2>Admission</h2>
      <ol class="steps">
        {steps.map(({ stage, plugin, part, result, message, milliseconds, cost, patch }, i) => (
          // Steps have no identity other than their place.
          <li key={i} class="stack">
            <span class="row">
              <span class={`chip ${RESULTS[result] ?? ''}`}>{result}</span>
              <strong>{plugin}</strong>
              {part && <span>{part}</span>}
              <span class="soft small">
                {stage}
                {milliseconds !== undefined && `, ${timeText(milliseconds / 1000)}`}
                {cost !== undefined && `, cost ${cost}`}
              </span>
            </span>
            {message && <p>{message}</p>}
            {patch && <pre class="patch">{operationsIn(patch).join('\n')}</pre>}
          </li>
        ))}
      </ol>
      {incomplete && <p class="soft small">Incomplete: {incomplete}.</p>}
    </section>
  );
}

/** Shown instead of the message of a refusal or violation, which is empty if it would show credentials. */
const LEFT_OUT = 'The message is left out, as it may have a credential.';

function Violations({ decision: { violations = [], conflicts = [] } }: { readonly decision: Decision }) {
  if (violations.length === 0 && conflicts.length === 0) return null;
  const now = Date.now();
  return (
    <section class="card stack">
      <h2>{conflicts.length > 0 ? 'Conflicts' : 'Violations'}</h2>
      <ul class="by-kind">
        {violations.map(({ field, reason, message, rule }) => (
          <li key={`${field} ${message}`}>
            <code>{field}</code> {message || LEFT_OUT} <span class="soft small">{reason}</span>
            {rule && <pre class="small">{rule}</pre>}
          </li>
        ))}
        {conflicts.map(({ field, manager, operation, since }) => (
          <li key={`${field} ${manager}`}>
            <code>{field.replace(/^\./, '')}</code>{' '}
            {field === '.metadata.resourceVersion' ? 'is not the current one: the last write is of' : 'belongs to'}{' '}
            <strong>{manager}</strong>{' '}
            <span class="soft small">
              by {operation}
              {since && `, since ${ageOf(Date.parse(since), now)} ago`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Everything that the server says about a request. */
export function DecisionView({ decision }: { readonly decision: Decision }) {
  const { outcome, request, metadata, violations = [] } = decision;
  const isRefused = outcome.code >= 400;
  // Without a message, the violations are the reason.
  const message = outcome.message || (isRefused && violations.length === 0 ? LEFT_OUT : '');
  return (
    <>
      <div class="stack decision-head">
        <div class="row">
          <h1>{requestText(request)}</h1>
          <span class={`chip ${isRefused ? 'bad' : 'good'}`}>
            {outcome.code} {outcome.reason}
          </span>
          {request.dryRun && <span class="chip">dry run, nothing stored</span>}
        </div>
        {message && <p class={`notice ${isRefused ? 'bad' : ''}`}>{message}</p>}
        <p class="soft small">
          {metadata.creationTimestamp}, {timeText(outcome.milliseconds / 1000)}, <code>{request.path}</code>
        </p>
      </div>
      <section class="card stack">
        <h2>Sender</h2>
        <Sender decision={decision} />
      </section>
      <Violations decision={decision} />
      <Authorization decision={decision} />
      <Steps decision={decision} />
    </>
  );
}
