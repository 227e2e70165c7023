import { useMemo } from 'preact/hooks';
import type { Known } from '../edit/completion.js';
import type { Draft } from '../edit/draft.js';
import { FormDraft } from './formDraft.js';
import { Field } from './groups.js';

/** An object as a form: the fields that it has, each explained, and those that it could have. */
export function FormPanel(props: {
  readonly draft: Draft;
  readonly known: Known | undefined;
  readonly isReadOnly: boolean;
}) {
  const { draft, known, isReadOnly } = props;
  const form = useMemo(() => new FormDraft(draft), [draft]);
  const value = form.value.value;
  if (!known)
    return <p class="notice">The server describes no fields of this kind. Its objects can be edited as YAML.</p>;
  if (!value) return <p class="notice warn">The text has errors. Correct them in the YAML first.</p>;
  return (
    <div class="form">
      <Field
        form={form}
        known={known}
        schema={known.root}
        path={[]}
        value={value}
        label={draft.address.kind.kind}
        isRequired
        isReadOnly={isReadOnly}
        remove={undefined}
      />
    </div>
  );
}
