import type { Change, ServedKind } from '../../../core/api/admission.js';
import type { Host, Informer, StoredKind } from '../../../core/api/host.js';
import type { ApiObject } from '../../../core/model/object.js';
import { Refusal } from '../../../core/model/refusal.js';
import { matchConstraints } from '../rules/matching.js';
import type { Shown } from '../rules/shown.js';
import { collectParams, ParamsError, paramKindOf } from './params.js';
import type { ActivePolicy, Binding } from './source.js';

/** A policy to evaluate with one object of parameters, or that cannot be evaluated. */
export type Invocation<Compiled> =
  | {
      readonly is: 'evaluate';
      readonly policy: ActivePolicy<Compiled>;
      readonly binding: Binding;
      readonly matched: ServedKind;
      readonly params: ApiObject | null;
    }
  | {
      readonly is: 'misconfigured';
      readonly policy: ActivePolicy<Compiled>;
      readonly binding: Binding | undefined;
      readonly message: string;
    };

/** The attributes of a change that rules are matched with. */
interface Matching {
  readonly host: Host<'pool'>;
  readonly change: Change;
  readonly shown: Shown;
  readonly namespaces: Informer;
}

/** The invocations of the policies that match a change, in order; errors that a policy ignores are left out. */
export async function invocationsOf<Compiled>(
  matching: Matching,
  policies: readonly ActivePolicy<Compiled>[],
): Promise<readonly Invocation<Compiled>[]> {
  const found: Invocation<Compiled>[] = [];
  for (const policy of policies) found.push(...(await invocationsOfPolicy(matching, policy)));
  return found;
}

async function invocationsOfPolicy<Compiled>(
  { host, change, shown, namespaces }: Matching,
  policy: ActivePolicy<Compiled>,
): Promise<readonly Invocation<Compiled>[]> {
  const found: Invocation<Compiled>[] = [];
  const fail = (binding: Binding | undefined, error: unknown): void => {
    if (!(error instanceof ParamsError || error instanceof Refusal)) throw error;
    const message = `failed to configure ${binding ? 'binding' : 'policy'}: ${error.message}`;
    if (policy.failurePolicy !== 'Ignore') found.push({ is: 'misconfigured', policy, binding, message });
  };
  let matched: ServedKind | undefined;
  let kind: StoredKind | undefined;
  try {
    matched = matchConstraints(policy.constraints, change, shown, namespaces);
    if (!matched) return found;
    kind = policy.paramKind && paramKindOf(host, policy.paramKind);
  } catch (error) {
    fail(undefined, error);
    return found;
  }
  for (const binding of policy.bindings) {
    try {
      if (binding.constraints && !matchConstraints(binding.constraints, change, shown, namespaces)) continue;
      const all = await collectParams(host, kind, binding.paramRef, change.target.namespace);
      for (const params of all) found.push({ is: 'evaluate', policy, binding, matched, params });
    } catch (error) {
      fail(binding, error);
    }
  }
  return found;
}

/** The namespace of the object of a change; a Namespace has none. */
export function namespaceObjectOf({ target, view }: Change, namespaces: Informer): ApiObject | null {
  if (target.namespace === '' || (view.kind.kind === 'Namespace' && view.kind.group === '')) return null;
  return namespaces.get('', target.namespace) ?? null;
}
