import type * as Cel from '../../../core/cel/index.js';
import { type Change, type Mutator, mutator } from '../../../core/api/admission.js';
import type { EquivalentKind } from '../../../core/api/admission.js';
import type { Host, Informer } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject } from '../../../core/model/object.js';
import { isDeepEqual } from '../../../core/model/record.js';
import { type Reason, Refusal, REASONS } from '../../../core/model/refusal.js';
import { Budget, BudgetExhausted } from '../../../core/schema/expressions/budget.js';
import { evaluateConditions } from '../../../core/schema/expressions/conditions.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';
import { variableValues } from '../../../core/schema/expressions/variables.js';
import { RequestValues } from '../rules/activation.js';
import { conditionObserver } from '../rules/conditionMetrics.js';
import { isExempt } from '../rules/matching.js';
import { Reinvocation } from '../rules/reinvocation.js';
import { Shown } from '../rules/shown.js';
import { type Invocation, invocationsOf, namespaceObjectOf } from './invocations.js';
import { type CompiledMutations, compileMutations, MutationError } from './mutations.js';
import { type ActivePolicy, type Binding, PolicySource } from './source.js';

const GROUP = 'admissionregistration.orchestrator.io';

type Evaluated = Extract<Invocation<CompiledMutations>, { is: 'evaluate' }>;

/** The refusal of a request by a policy, in upstream's words. */
function refusalOf(
  { view }: Change,
  { name }: { readonly name: string },
  binding: Binding | undefined,
  object: ApiObject | undefined,
  message: string,
  reason: Reason,
): Refusal {
  const why = `policy '${name}'${binding ? ` with binding '${binding.name}'` : ''} denied request: ${message}`;
  const { group, resource } = view.resource;
  const details = { name: view.name || (object?.metadata.name ?? ''), ...(group ? { group } : {}), kind: resource };
  return new Refusal(reason, why, { ...details, causes: [{ message: why }] }, REASONS.Forbidden);
}

/** Applies MutatingAdmissionPolicies, one after the other. */
class PolicyMutator implements Mutator {
  readonly on = { subresources: ['*'] };
  readonly #source: PolicySource<CompiledMutations>;
  readonly #namespaces: Informer;
  readonly #reinvocation = new Reinvocation();

  constructor(readonly host: Host<'request'>) {
    this.#source = new PolicySource(
      host.informer(`${GROUP}/mutatingadmissionpolicies`),
      host.informer(`${GROUP}/mutatingadmissionpolicybindings`),
      compileMutations,
    );
    this.#namespaces = host.informer('core/namespaces');
  }

  mutate(change: Change, draft: ApiObject, isAgain: boolean): undefined | Promise<'reinvoke' | undefined> {
    const policies = this.#source.current();
    return policies.length === 0 || isExempt(change) ? undefined : this.#mutate(policies, change, draft, isAgain);
  }

  async #mutate(
    policies: readonly ActivePolicy<CompiledMutations>[],
    change: Change,
    draft: ApiObject,
    isAgain: boolean,
  ): Promise<'reinvoke' | undefined> {
    const { host } = this;
    let shown = new Shown(change, draft);
    const run = this.#reinvocation.begin(draft, isAgain, shown.object);
    if (!run) return undefined;
    const matching = { host, change, shown, namespaces: this.#namespaces };
    for (const one of await invocationsOf(matching, policies)) {
      const { policy, binding } = one;
      if (one.is === 'misconfigured') throw refusalOf(change, policy, binding, shown.object, one.message, 'Forbidden');
      const id = `${policy.name}/${one.binding.name}/${one.params?.metadata.namespace}/${one.params?.metadata.name}`;
      if (!run.includes(id)) continue;
      const isChanged = await this.#apply(one, change, draft, shown);
      run.ran(id, isChanged, policy.reinvocationPolicy === 'IfNeeded');
      if (isChanged) shown = new Shown(change, draft);
    }
    return this.#reinvocation.end(draft, run, shown.object);
  }

  /** Applies the mutations of a policy. Returns whether that changes anything. Throws 403 for what it cannot apply. */
  async #apply(one: Evaluated, change: Change, draft: ApiObject, shown: Shown): Promise<boolean> {
    const { policy, binding } = one;
    const began = performance.now();
    const count = (errorType: string): void => {
      const labels = {
        policy: policy.name,
        policy_binding: binding.name,
        error_type: errorType,
        enforcement_action: errorType === 'no_error' || policy.failurePolicy === 'Ignore' ? 'allow' : 'deny',
      };
      this.host.observe('apiserver_mutating_admission_policy_check_total', labels, 1);
      const seconds = (performance.now() - began) / 1000;
      this.host.observe('apiserver_mutating_admission_policy_check_duration_seconds', labels, seconds);
    };
    try {
      const isChanged = await this.#evaluate(one, change, draft, shown);
      count('no_error');
      return isChanged;
    } catch (error) {
      if (!(error instanceof MutationError || error instanceof BudgetExhausted)) throw error;
      count(error instanceof BudgetExhausted ? 'out_of_budget_error' : 'invalid_error');
      if (policy.failurePolicy === 'Ignore') return false;
      throw refusalOf(change, policy, binding, shown.object, error.message, 'Invalid');
    }
  }

  async #evaluate(one: Evaluated, change: Change, draft: ApiObject, shown: Shown): Promise<boolean> {
    const { policy, matched, params } = one;
    const cel: typeof Cel = await loadCel();
    const { conditions, variables, mutations } = policy.compiled(cel);
    const values = new RequestValues(cel, this.host, change);
    const namespaceObject = namespaceObjectOf(change, this.#namespaces);
    const { object: before, old } = await shown.in(matched);
    const activation = { ...values.of(matched, { object: before, old }), params };
    const labels = { name: policy.name, kind: 'policy', type: 'admit', operation: change.operation };
    const observe = conditionObserver(this.host, labels);
    const included = await evaluateConditions(cel, conditions, activation, policy.failurePolicy, observe);
    if (included === false) return false;
    if (included !== true) throw new MutationError(included.error);
    const budget = new Budget(cel, cel.REQUEST_BUDGET);
    let object = before!;
    for (const mutation of mutations) {
      const current = { ...activation, ...values.of(matched, { object, old }), namespaceObject, params };
      const computed = variableValues(cel, variables, current);
      const given = variables.length > 0 ? { ...current, variables: computed.value } : current;
      const { value, error } = await budget.evaluate(mutation.expression, given, computed.spent);
      if (error !== undefined) throw new MutationError(error);
      object = mutation.apply(value ?? null, object, configuration =>
        change.view.merge(matched, object, configuration),
      );
    }
    if (isDeepEqual(object, before)) return false;
    const other = 'convertBack' in matched ? (matched as EquivalentKind) : undefined;
    change.view.accept(draft, other ? await other.convertBack(object) : object);
    return !isDeepEqual(shown.object, change.view.show(draft));
  }
}

/** Applies MutatingAdmissionPolicies and their bindings, where their feature gate is on. */
export default definePlugin({
  name: 'mutating-admission-policy',
  parse: () => null,
  contribute: () => [
    mutator.of(
      (host): Mutator =>
        host.isEnabled('MutatingAdmissionPolicy')
          ? new PolicyMutator(host)
          : { on: { operations: [] }, mutate: () => undefined },
    ),
  ],
}) satisfies Plugin<null>;
