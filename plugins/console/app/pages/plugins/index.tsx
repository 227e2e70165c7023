import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { sendJson } from '../../api/http.js';
import { type Kind, kinds, pathOf } from '../../api/kinds.js';
import type { ApiList, ApiObject } from '../../api/objects.js';
import { systemGroup } from '../../api/session.js';
import { objectPage } from '../../links.js';
import { Failure } from '../../parts/failure.js';
import { ScrollRegion } from '../../parts/scrollRegion.js';
import { hrefOf } from '../../router.js';
import { useMetrics } from '../metrics/scraper.js';
import type { Snapshot } from '../metrics/snapshot.js';
import { type Measure, pluginsIn, policyIn, timeText, webhookIn } from './measures.js';

/** Largest number of objects of one kind that are listed. */
const MOST = 500;

interface Admission extends ApiObject {
  readonly spec?: { readonly failurePolicy?: string; readonly policyName?: string };
  readonly webhooks?: readonly {
    readonly name: string;
    readonly failurePolicy?: string;
    readonly timeoutSeconds?: number;
    readonly clientConfig?: { readonly url?: string; readonly service?: { name: string; namespace: string } };
  }[];
}

const RESOURCES = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
] as const;
type Resource = (typeof RESOURCES)[number];

/** The configured policies and webhooks. Kinds that the server does not serve, or the user may not list, are absent. */
type Configured = ReadonlyMap<Resource, { readonly kind: Kind; readonly items: readonly Admission[] }>;

async function readConfigured(all: readonly Kind[]): Promise<Configured> {
  const group = systemGroup('admissionregistration');
  const found = await Promise.all(
    RESOURCES.map(async resource => {
      const kind = all.find(of => of.group === group && of.resource === resource);
      if (!kind) return undefined;
      const query = { limit: MOST };
      const list = await sendJson<ApiList<Admission>>('GET', pathOf(kind), { query }).catch(() => undefined);
      return list && ([resource, { kind, items: list.items ?? [] }] as const);
    }),
  );
  return new Map(found.filter(entry => entry !== undefined));
}

const pageOf = (kind: Kind, name: string): string => hrefOf(objectPage(kind, '', name));

function Times(props: {
  readonly head: readonly string[];
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const { head, label, children } = props;
  return (
    <ScrollRegion class="times" label={label}>
      <table>
        <thead>
          <tr>
            {head.map((text, i) => (
              <th key={text} scope="col" class={i > 1 ? 'right' : ''}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </ScrollRegion>
  );
}

const numbers = new Intl.NumberFormat('en');

function MeasureCells({ measure }: { readonly measure: Measure | undefined }) {
  return (
    <>
      <td class="right">{measure ? numbers.format(measure.count) : '–'}</td>
      <td class="right">{timeText(measure?.mean)}</td>
      <td class="right">{timeText(measure?.slow)}</td>
      <td class="right">
        {measure && measure.refused > 0 ? <span class="chip warn">{numbers.format(measure.refused)}</span> : '0'}
      </td>
    </>
  );
}

function Plugins({ snapshot }: { readonly snapshot: Snapshot }) {
  return (
    <section class="stack">
      <h2>Plugins</h2>
      <Times label="Plugins" head={['Plugin', 'Point', 'Calls', 'Mean', '99 %', 'Errors']}>
        {pluginsIn(snapshot).map(measure => (
          <tr key={`${measure.plugin} ${measure.point}`}>
            <th scope="row">{measure.plugin}</th>
            <td>
              {measure.point}
              {measure.timeouts > 0 && <span class="chip bad">{numbers.format(measure.timeouts)} timed out</span>}
            </td>
            <MeasureCells measure={measure} />
          </tr>
        ))}
      </Times>
    </section>
  );
}

/** A policy or a webhook with its measure. */
interface AdmissionRow {
  readonly rules: 'validating' | 'mutating';
  readonly name: string;
  readonly page: string;
  readonly note: string;
  /** Whether it has no binding, and therefore no effect. */
  readonly isIdle?: boolean;
  readonly measure: Measure | undefined;
}

function AdmissionTable(props: {
  readonly title: string;
  readonly head: readonly [one: string, calls: string];
  readonly rows: readonly AdmissionRow[];
}) {
  const { title, head, rows } = props;
  const [one, calls] = head;
  return (
    <section class="stack">
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="notice">There are no {title.toLowerCase()} that you may see.</p>
      ) : (
        <Times label={title} head={[one, 'Kind', calls, 'Mean', '99 %', 'Refused']}>
          {rows.map(({ rules, name, page, note, isIdle, measure }) => (
            <tr key={`${rules} ${page} ${name}`}>
              <th scope="row">
                <a href={page}>{name}</a>
              </th>
              <td>
                {rules} <span class="soft small">{note}</span> {isIdle && <span class="chip warn">not bound</span>}
              </td>
              <MeasureCells measure={measure} />
            </tr>
          ))}
        </Times>
      )}
    </section>
  );
}

const RULES = ['validating', 'mutating'] as const;

const policyRows = (configured: Configured, snapshot: Snapshot | undefined): AdmissionRow[] =>
  RULES.flatMap(rules => {
    const policies = configured.get(`${rules}admissionpolicies`);
    const bindings = configured.get(`${rules}admissionpolicybindings`)?.items ?? [];
    return (policies?.items ?? []).map(({ metadata: { name = '' }, spec }) => {
      const bound = bindings.filter(binding => binding.spec?.policyName === name).length;
      return {
        rules,
        name,
        page: pageOf(policies!.kind, name),
        note: `${bound} ${bound === 1 ? 'binding' : 'bindings'}, failures: ${spec?.failurePolicy ?? 'Fail'}`,
        isIdle: bound === 0,
        measure: snapshot && policyIn(snapshot, rules, name),
      };
    });
  });

const webhookRows = (configured: Configured, snapshot: Snapshot | undefined): AdmissionRow[] =>
  RULES.flatMap(rules => {
    const configurations = configured.get(`${rules}webhookconfigurations`);
    return (configurations?.items ?? []).flatMap(({ metadata: { name: of = '' }, webhooks = [] }) =>
      webhooks.map(({ name, failurePolicy = 'Fail', timeoutSeconds = 10, clientConfig: { url, service } = {} }) => ({
        rules,
        name,
        page: pageOf(configurations!.kind, of),
        note: `${url ?? `${service?.namespace}/${service?.name}`}, ${timeoutSeconds} s, failures: ${failurePolicy}`,
        measure: snapshot && webhookIn(snapshot, name, rules === 'validating' ? 'validating' : 'admit'),
      })),
    );
  });

/** Plugins, policies and webhooks, with the number and duration of their calls. */
export default function PluginsPage() {
  const metrics = useMetrics();
  const configured = useSignal<Configured>(new Map());
  const snapshot = metrics.snapshots.value.at(-1);
  const all = kinds.value;
  useEffect(() => {
    if (all) void readConfigured(all).then(found => (configured.value = found));
  }, [all]);
  const error = metrics.error.value;
  return (
    <section class="stack plugins-page">
      <div class="row">
        <h1>Plugins</h1>
        <span class="soft small">Counted since the start of the server.</span>
      </div>
      {error !== undefined && <Failure error={error} doing="reading metrics" />}
      <AdmissionTable title="Policies" head={['Policy', 'Checks']} rows={policyRows(configured.value, snapshot)} />
      <AdmissionTable title="Webhooks" head={['Webhook', 'Calls']} rows={webhookRows(configured.value, snapshot)} />
      {snapshot && <Plugins snapshot={snapshot} />}
    </section>
  );
}
