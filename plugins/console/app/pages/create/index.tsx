import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { findKind, type Kind, kinds } from '../../api/kinds.js';
import { listPage, objectPage } from '../../links.js';
import type { PageProps } from '../../pages.js';
import { hrefOf, namespace as selected, navigate } from '../../router.js';
import type { Known } from '../object/edit/completion.js';
import { EditPanel } from '../object/edit/editPanel.js';
import { useDraft } from '../object/edit/useDraft.js';
import { canonicalText, parseYaml } from '../object/edit/yamlText.js';
import { FormPanel } from '../object/form/formPanel.js';
import { readSchemas, skeletonOf } from '../object/schema/schema.js';
import { Tabs } from '../object/tabs.js';

const TABS = [
  ['yaml', 'YAML'],
  ['form', 'Form'],
] as const;

/** An object that can be created once its empty fields are filled in. */
function beginning({ group, version, kind, namespaced }: Kind, known: Known | undefined, namespace: string): string {
  const own = known ? (skeletonOf(known.schemas, known.root) as Record<string, unknown>) : {};
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = own;
  const metadata = { name: '', ...(namespaced ? { namespace } : {}) };
  const head = { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata };
  return Object.entries({ ...head, ...fields })
    .map(([name, value]) => canonicalText({ [name]: value }))
    .join('');
}

function CreateView({ kind, query }: { readonly kind: Kind; readonly query: URLSearchParams }) {
  const namespace = kind.namespaced ? selected.value || 'default' : '';
  const draft = useDraft({ kind, namespace, name: '' }, true);
  const known = useSignal<Known | undefined>(undefined);
  useEffect(() => {
    readSchemas(kind)
      .then(schemas => {
        const root = schemas.ofKind(kind);
        if (root) known.value = { schemas, root };
      })
      // Without a schema, an object begins with less.
      .catch(() => undefined)
      .then(() => draft.begin(beginning(kind, known.value, namespace)));
  }, []);
  const saved = (text: string): void => {
    const { metadata } = parseYaml(text) as {
      readonly metadata: { readonly name: string; readonly namespace?: string };
    };
    const page = objectPage(kind, metadata.namespace ?? '', metadata.name);
    navigate(hrefOf(page, { namespace: selected.value }));
  };
  const isForm = query.get('tab') === 'form';
  const list = hrefOf(listPage(kind), { namespace: selected.value });
  return (
    <section class="object-page">
      <div class="object-head">
        <p class="small soft">
          <a href={list}>{kind.kind}</a>
        </p>
        <h1>New {kind.kind}</h1>
      </div>
      <Tabs tabs={TABS} current={isForm ? 'form' : 'yaml'} />
      <EditPanel
        draft={draft}
        known={known}
        object={undefined}
        mayWrite
        saved={saved}
        form={isForm ? <FormPanel draft={draft} known={known.value} isReadOnly={false} /> : undefined}
      />
    </section>
  );
}

/** Creates an object of a kind. */
export default function CreatePage({ params, query }: PageProps) {
  const { group = '', version = '', resource = '' } = params;
  const kind = findKind(group, resource);
  if (kind) return <CreateView kind={{ ...kind, version }} query={query} />;
  if (kinds.value === undefined) return <p class="soft">Loading …</p>;
  return (
    <p class="notice">
      The server serves no {resource} in the group {group}.
    </p>
  );
}
