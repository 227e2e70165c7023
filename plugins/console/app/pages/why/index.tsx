import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { decisionKind } from '../../api/decisions.js';
import { sendJson } from '../../api/http.js';
import { type Kind, kinds, pathOf } from '../../api/kinds.js';
import type { ApiList } from '../../api/objects.js';
import { ageOf } from '../../list/liveList.js';
import type { PageProps } from '../../pages.js';
import { Failure } from '../../parts/failure.js';
import { hrefOf, setQuery } from '../../router.js';
import { type Decision, requestText } from './decision.js';
import { DecisionView } from './decisionView.js';

/** Number of decisions that are read, and milliseconds until they are read again. */
const MOST = 500;
const PAUSE_MS = 4000;

const timeOf = ({ metadata }: Decision): number => Date.parse(metadata.creationTimestamp ?? '');

/** Reads a path repeatedly while the page is visible. */
function useReadings<T>(path: string, query: Readonly<Record<string, number>>, pause: number) {
  const found = useSignal<T | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    let timer = 0;
    const aborter = new AbortController();
    const read = async (): Promise<void> => {
      try {
        if (!document.hidden || found.peek() === undefined)
          found.value = await sendJson<T>('GET', path, { query, signal: aborter.signal });
        error.value = undefined;
      } catch (thrown) {
        if (!aborter.signal.aborted) error.value = thrown;
      }
      if (pause > 0 && !aborter.signal.aborted) timer = window.setTimeout(() => void read(), pause);
    };
    void read();
    return () => (aborter.abort(), clearTimeout(timer));
  }, [path]);
  return { found, error };
}

function Line({ decision, now }: { readonly decision: Decision; readonly now: number }) {
  const { metadata, outcome, sender, request } = decision;
  const isRefused = outcome.code >= 400;
  return (
    <li>
      <a class="decision-line" href={hrefOf(`/why/${encodeURIComponent(metadata.name ?? '')}`)}>
        <span class={`chip ${isRefused ? 'bad' : 'good'}`}>{outcome.code}</span>
        <span class="decision-what">
          <strong>{requestText(request)}</strong>
          {request.namespace && <span class="soft"> in {request.namespace}</span>}
          <span class="soft small decision-message">{outcome.message ?? ''}</span>
        </span>
        <span class="soft small">
          {sender?.username ?? 'unknown sender'}, {ageOf(timeOf(decision), now)} ago
        </span>
      </a>
    </li>
  );
}

function Decisions({ kind, query }: { readonly kind: Kind; readonly query: URLSearchParams }) {
  const { found, error } = useReadings<ApiList<Decision>>(pathOf(kind), { limit: MOST }, PAUSE_MS);
  const isRefusals = query.get('show') !== 'all';
  const text = (query.get('text') ?? '').toLowerCase();
  const all = [...(found.value?.items ?? [])].sort((a, b) => timeOf(b) - timeOf(a));
  const isShown = ({ outcome, request, sender }: Decision): boolean =>
    (!isRefusals || outcome.code >= 400) &&
    [requestText(request), sender?.username, request.namespace, outcome.message].join(' ').toLowerCase().includes(text);
  const shown = all.filter(isShown);
  const now = Date.now();
  return (
    <section class="stack">
      <div class="row">
        <h1>Why</h1>
        <span class="soft small">What the server refused and changed lately, and why.</span>
      </div>
      <div class="row" role="search">
        <input
          class="field grow"
          type="search"
          aria-label="Decisions contain"
          placeholder="User, resource, namespace, message"
          value={query.get('text') ?? ''}
          onInput={event => setQuery({ text: event.currentTarget.value }, { replace: true })}
        />
        <select
          class="select"
          aria-label="Which decisions"
          value={isRefusals ? '' : 'all'}
          onChange={event => setQuery({ show: event.currentTarget.value }, { replace: true })}
        >
          <option value="">Refusals</option>
          <option value="all">Refusals and writes</option>
        </select>
      </div>
      {error.value !== undefined && <Failure error={error.value} doing="listing decisions" />}
      {found.value && shown.length === 0 && <p class="notice">There are no such decisions.</p>}
      {shown.length > 0 && (
        <ul class="decisions" aria-label="Decisions">
          {shown.map(decision => (
            <Line key={decision.metadata.name} decision={decision} now={now} />
          ))}
        </ul>
      )}
    </section>
  );
}

function OneDecision({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const { found, error } = useReadings<Decision>(pathOf(kind, '', id), {}, 0);
  return (
    <section class="stack">
      <p class="small soft">
        <a href={hrefOf('/why')}>Why</a> / <code>{id}</code>
      </p>
      {error.value !== undefined && <Failure error={error.value} doing="reading the decision" />}
      {!found.value && error.value === undefined && <p class="soft">Loading …</p>}
      {found.value && <DecisionView decision={found.value} />}
    </section>
  );
}

/** Shows why the server refused a request, or what it changed in it: recent decisions, or one of them. */
export default function WhyPage({ params, query }: PageProps) {
  const kind = decisionKind();
  if (!kind)
    return kinds.value === undefined ? (
      <p class="soft">Loading …</p>
    ) : (
      <p class="notice">This server does not say why.</p>
    );
  const { id } = params;
  return id === undefined ? <Decisions kind={kind} query={query} /> : <OneDecision kind={kind} id={id} />;
}
