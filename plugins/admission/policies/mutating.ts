import { monotonicTime } from '../../../core/runtime/clock.js';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../../kinds/admissionregistration/v1alpha1.js';
import type * as Cel from '../../../core/cel/index.js';
import {
  type Change,
  type Mutator,
  mutator,
  type Validator,
  validator,
  type EquivalentKind,
} from '../../../core/api/admission.js';
import type { Host, Informer } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject } from '../../../core/model/object.js';
import { isDeepEqual } from '../../../core/model/record.js';
import { type Reason, Refusal, REASONS, truncateViolations } from '../../../core/model/refusal.js';
import { Budget, BudgetExhausted } from '../../../core/schema/expressions/budget.js';
import { evaluateConditions } from '../../../core/schema/expressions/conditions.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';
import { variableValues } from '../../../core/schema/expressions/variables.js';
import { conditionValues, RequestValues } from '../rules/activation.js';
import { conditionObserver } from '../rules/conditionMetrics.js';
import { isPolicy } from '../rules/matching.js';
import { Reinvocation } from '../rules/reinvocation.js';
import { Shown } from '../rules/shown.js';
import { type Invocation, invocationsOf, namespaceObjectOf } from './invocations.js';
import { type CompiledMutations, compileMutations, MutationError } from './mutations.js';
import { type ActivePolicy, type Binding, PolicySource } from './source.js';

const GROUP = 'admissionregistration.orchestrator.io';
const FEATURE = 'MutatingAdmissionPolicy';

type Evaluated = Extract<Invocation<CompiledMutations>, { is: 'evaluate' }>;

/** Why a policy refuses a request. */
interface Denial {
  readonly message: string;
  readonly reason: Reason;
}

/** A denial in upstream's words. `binding`: absent for faults of the policy itself. */
function denialOf(
  { name }: { readonly name: string },
  binding: Binding | undefined,
  why: string,
  reason: Reason,
): Denial {
  const by = binding ? `policy '${name}' with binding '${binding.name}'` : `policy ${JSON.stringify(name)}`;
  return { message: `${by} denied request: ${why}`, reason };
}

/**
 * The refusal of a request: its message is the first denial, and its causes are all denials, up to the limit of
 * refusals.
 */
function refusalOf({ view }: Change, object: ApiObject | undefined, denials: readonly Denial[]): Refusal {
  const { group, resource } = view.resource;
  const { name = '', generateName = '' } = object?.metadata ?? {};
  const details = { name: view.name || name || generateName, ...(group ? { group } : {}), kind: resource };
  const [{ message, reason }] = denials as readonly [Denial];
  const causes = truncateViolations(denials, one => one.message.length).map(one => ({ message: one.message }));
  return new Refusal(reason, message, { ...details, causes }, REASONS.Forbidden);
}

/** Applies MutatingAdmissionPolicies, one after the other. */
class PolicyMutator implements Mutator {
  readonly on = { subresources: ['*'] };
  readonly #source: PolicySource<MutatingAdmissionPolicy, CompiledMutations>;
  readonly #namespaces: Informer;
  readonly #reinvocation = new Reinvocation();

  constructor(readonly host: Host<'pool'>) {
    this.#source = new PolicySource(
      host.informer(`${GROUP}/mutatingadmissionpolicies`) as Informer<MutatingAdmissionPolicy>,
      host.informer(`${GROUP}/mutatingadmissionpolicybindings`) as Informer<MutatingAdmissionPolicyBinding>,
      compileMutations,
    );
    this.#namespaces = host.informer('core/namespaces');
  }

  mutate(change: Change, draft: ApiObject, isAgain: boolean): undefined | Promise<'reinvoke' | undefined> {
    const policies = this.#source.current();
    return policies.length === 0 || isPolicy(change) ? undefined : this.#mutate(policies, change, draft, isAgain);
  }

  /** Asks the policies about a connection, whose options they cannot change. */
  async check(change: Change): Promise<readonly []> {
    const policies = this.#source.current();
    const options = change.view.show(undefined);
    if (policies.length > 0 && options) await this.#mutate(policies, change, options, false);
    return [];
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
    const denials: Denial[] = [];
    for (const one of await invocationsOf(matching, policies)) {
      const { policy, binding } = one;
      if (one.is === 'misconfigured') {
        denials.push(denialOf(policy, binding, one.message, 'Forbidden'));
        continue;
      }
      const id = `${policy.name}/${one.binding.name}/${one.params?.metadata.namespace}/${one.params?.metadata.name}`;
      if (!run.includes(id)) continue;
      const began = monotonicTime();
      const before = denials.length;
      const isChanged = await this.#apply(one, change, draft, shown, denials);
      const message = denials
        .slice(before)
        .map(denial => denial.message)
        .join('; ');
      change.report?.({
        part: `policy ${policy.name} with binding ${one.binding.name}`,
        result: message !== '' ? 'Refused' : isChanged ? 'Changed' : 'Passed',
        ms: monotonicTime() - began,
        ...(message !== '' && { message }),
      });
      run.ran(id, isChanged, policy.reinvocationPolicy === 'IfNeeded');
      if (isChanged) shown = new Shown(change, draft);
    }
    if (denials.length > 0) throw refusalOf(change, shown.object, denials);
    return this.#reinvocation.end(draft, run, shown.object);
  }

  /**
   * Applies the mutations of a policy, and continues after one that cannot be applied. Returns whether anything has
   * changed. Adds the refusals of the request to `denials`.
   */
  async #apply(one: Evaluated, change: Change, draft: ApiObject, shown: Shown, denials: Denial[]): Promise<boolean> {
    const { policy, binding } = one;
    const began = monotonicTime();
    const count = (errorType: string): void => {
      const labels = {
        policy: policy.name,
        policy_binding: binding.name,
        error_type: errorType,
        enforcement_action: errorType === 'no_error' || policy.failurePolicy === 'Ignore' ? 'allow' : 'deny',
      };
      this.host.observe('apiserver_mutating_admission_policy_check_total', labels, 1);
      const seconds = (monotonicTime() - began) / 1000;
      this.host.observe('apiserver_mutating_admission_policy_check_duration_seconds', labels, seconds);
    };
    const fail = (error: unknown): void => {
      if (!(error instanceof MutationError || error instanceof BudgetExhausted)) throw error;
      count(error instanceof BudgetExhausted ? 'out_of_budget_error' : 'invalid_error');
      if (policy.failurePolicy !== 'Ignore') denials.push(denialOf(policy, binding, error.message, 'Invalid'));
    };
    let hasFailed = false;
    try {
      const isChanged = await this.#evaluate(one, change, draft, shown, error => {
        hasFailed = true;
        fail(error);
      });
      if (!hasFailed) count('no_error');
      return isChanged;
    } catch (error) {
      fail(error);
      return false;
    }
  }

  async #evaluate(
    one: Evaluated,
    change: Change,
    draft: ApiObject,
    shown: Shown,
    fail: (error: unknown) => void,
  ): Promise<boolean> {
    const { policy, matched, params } = one;
    const cel: typeof Cel = await loadCel();
    const { conditions, variables, mutations } = policy.compiled(cel);
    const values = new RequestValues(cel, this.host, change);
    const namespaceObject = namespaceObjectOf(change, this.#namespaces);
    const { object: before, old } = await shown.in(matched);
    const activation = { ...values.of(matched, { object: before, old }), params };
    const labels = { name: policy.name, kind: 'policy', type: 'admit', operation: change.operation };
    const observe = conditionObserver(this.host, labels);
    const included = await evaluateConditions(
      cel,
      conditions,
      conditionValues(activation),
      policy.failurePolicy,
      observe,
    );
    if (included === false) return false;
    if (included !== true) throw new MutationError(included.error);
    const budget = new Budget(cel, cel.REQUEST_BUDGET);
    let object = before!;
    for (const mutation of mutations) {
      const current = { ...activation, ...values.of(matched, { object, old }), namespaceObject, params };
      const computed = variableValues(cel, variables, current);
      const given = variables.length > 0 ? { ...current, variables: computed.value } : current;
      const { value, error } = await budget.evaluate(mutation.expression, given, computed.spent);
      try {
        if (error !== undefined) throw new MutationError(error);
        object = mutation.apply(value ?? null, object, configuration =>
          change.view.merge(matched, object, configuration),
        );
      } catch (thrown) {
        fail(thrown);
      }
    }
    if (isDeepEqual(object, before)) return false;
    const other = 'convertBack' in matched ? (matched as EquivalentKind) : undefined;
    change.view.accept(draft, other ? await other.convertBack(object) : object, 'strict');
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
        host.isEnabled(FEATURE) ? new PolicyMutator(host) : { on: { operations: [] }, mutate: () => undefined },
    ),
    validator.of((host): Validator => {
      if (!host.isEnabled(FEATURE)) return { on: { operations: [] }, validate: () => [] };
      const policies = new PolicyMutator(host);
      return { on: { subresources: ['*'], operations: ['CONNECT'] }, validate: change => policies.check(change) };
    }),
  ],
}) satisfies Plugin<null>;
