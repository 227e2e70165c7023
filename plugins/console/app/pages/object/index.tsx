import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { may } from '../../api/access.js';
import { findKind, kinds } from '../../api/kinds.js';
import { listPage } from '../../links.js';
import type { PageProps } from '../../pages.js';
import { Failure } from '../../parts/failure.js';
import { hrefOf, namespace as selected } from '../../router.js';
import type { Known } from './edit/completion.js';
import { EditPanel } from './edit/editPanel.js';
import { useDraft } from './edit/useDraft.js';
import { EventsPanel } from './eventsPanel.js';
import { FormPanel } from './form/formPanel.js';
import { LiveObject, type ObjectAddress } from './liveObject.js';
import { ManagersPanel } from './managers/managersPanel.js';
import { DeletePanel } from './related/deletePanel.js';
import { OwnersPanel } from './related/ownersPanel.js';
import { readSchemas } from './schema/schema.js';
import { Tabs } from './tabs.js';

const STATES = {
  loading: ['', 'Loading'],
  live: ['good', 'Live'],
  reconnecting: ['warn', 'Reconnecting'],
  still: ['', 'Not followed'],
  gone: ['bad', 'Deleted'],
  failed: ['bad', 'Failed'],
} as const;

/** The parts of the page, by their name in the address. */
const TABS = [
  ['yaml', 'YAML'],
  ['form', 'Form'],
  ['managers', 'Managers'],
  ['events', 'Events'],
  ['owners', 'Owners'],
] as const;

function Head({ live, children }: { readonly live: LiveObject; readonly children?: ComponentChildren }) {
  const { kind, namespace, name } = live.address;
  const [color, word] = STATES[live.state.value];
  const list = hrefOf(listPage(kind), { namespace: selected.value });
  const isEnding = live.object.value?.metadata.deletionTimestamp !== undefined && live.state.value !== 'gone';
  return (
    <div class="object-head">
      <p class="small soft">
        <a href={list}>{kind.kind}</a>
        {namespace !== '' && <> in {namespace}</>}
      </p>
      <div class="row">
        <h1>{name}</h1>
        <span class={`chip ${color}`} role="status">
          {word}
        </span>
        {isEnding && <span class="chip warn">Being deleted</span>}
        <span class="grow" />
        {children}
      </div>
    </div>
  );
}

/** Whether the user may change and delete the object; false until it is known. */
function useRights({ kind, namespace, name }: ObjectAddress) {
  const rights = { update: useSignal(false), delete: useSignal(false) };
  useEffect(() => {
    const { group, resource, verbs } = kind;
    for (const verb of ['update', 'delete'] as const)
      if (verbs.includes(verb))
        void may({ verb, group, resource, namespace, name }).then(is => (rights[verb].value = is));
  }, []);
  return rights;
}

/** The schema of the kind; undefined until it is known. Objects can be edited without it. */
function useSchema(kind: ObjectAddress['kind']) {
  const known = useSignal<Known | undefined>(undefined);
  useEffect(() => {
    readSchemas(kind).then(
      schemas => {
        const root = schemas.ofKind(kind);
        if (root) known.value = { schemas, root };
      },
      () => undefined,
    );
  }, []);
  return known;
}

function ObjectView({ address, query }: { readonly address: ObjectAddress; readonly query: URLSearchParams }) {
  const live = useMemo(() => new LiveObject(address), []);
  const draft = useDraft(address);
  const known = useSchema(address.kind);
  const rights = useRights(address);
  const isDeleting = useSignal(false);
  useEffect(() => {
    live.open();
    const end = live.object.subscribe(object => void draft.follow(object?.metadata.resourceVersion));
    return () => (end(), live.close());
  }, []);
  const object = live.object.value;
  const isThere = live.state.value !== 'gone';
  const wanted = query.get('tab') ?? 'yaml';
  const tab = TABS.find(([of]) => of === wanted)?.[0] ?? 'yaml';
  if (!object)
    return (
      <section class="object-page">
        <Head live={live} />
        {live.error.value !== undefined && (
          <Failure error={live.error.value} doing={`reading ${address.kind.singular} ${address.name}`} />
        )}
      </section>
    );
  const mayWrite = rights.update.value && isThere;
  const close = (): void => void (isDeleting.value = false);
  return (
    <section class="object-page">
      <Head live={live}>
        {rights.delete.value && isThere && (
          <button type="button" class="button danger" onClick={() => (isDeleting.value = true)}>
            Delete …
          </button>
        )}
      </Head>
      <Tabs tabs={TABS} current={tab} />
      {(tab === 'yaml' || tab === 'form') && (
        <EditPanel
          draft={draft}
          known={known}
          object={object}
          mayWrite={mayWrite}
          form={tab === 'form' && <FormPanel draft={draft} known={known.value} isReadOnly={!mayWrite} />}
        />
      )}
      {tab === 'managers' && <ManagersPanel object={object} />}
      {tab === 'events' && <EventsPanel object={object} />}
      {tab === 'owners' && <OwnersPanel address={address} object={object} />}
      {isDeleting.value && <DeletePanel address={address} object={object} close={close} />}
    </section>
  );
}

/** An object, with everything that can be done with it. */
export default function ObjectPage({ params, query }: PageProps) {
  const { group = '', version = '', resource = '', namespace = '-', name = '' } = params;
  const kind = findKind(group, resource);
  if (kind) {
    const address = { kind: { ...kind, version }, namespace: namespace === '-' ? '' : namespace, name };
    return <ObjectView address={address} query={query} />;
  }
  if (kinds.value === undefined) return <p class="soft">Loading …</p>;
  return (
    <p class="notice">
      The server serves no {resource} in the group {group}.
    </p>
  );
}
