import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../kinds/admissionregistration/v1.js';
import type * as Cel from '../../../core/cel/index.js';
import { type Change, type Validator, validator } from '../../../core/api/admission.js';
import type { Host, Informer } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject } from '../../../core/model/object.js';
import { type Reason, Refusal, REASONS } from '../../../core/model/refusal.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { encodeJson } from '../../../core/schema/json/json.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';
import { RequestValues } from '../rules/activation.js';
import { conditionObserver } from '../rules/conditionMetrics.js';
import { forbiddenByPlugin } from '../rules/forbidden.js';
import { isPolicy } from '../rules/matching.js';
import { Shown } from '../rules/shown.js';
import { compilePolicy, type CompiledPolicy } from './compile.js';
import { type Denial, evaluatePolicy, type Findings } from './evaluate.js';
import { type Invocation, invocationsOf, namespaceObjectOf } from './invocations.js';
import { type ActivePolicy, type Binding, PolicySource } from './source.js';

const GROUP = 'admissionregistration.orchestrator.io';

/** The codes of the reasons that a policy may give. */
const CODES: ReadonlyMap<string, number> = new Map(
  (['Unauthorized', 'Forbidden', 'RequestEntityTooLarge', 'Invalid'] as const).map(name => [name, REASONS[name]]),
);

/** The message of a denial for the record of the decision, with its expression unless the message contains it. */
const withExpression = ({ message, expression }: Denial): string =>
  expression === undefined || message.includes(expression) ? message : `${message} (expression: ${expression})`;

/** Applies ValidatingAdmissionPolicies. */
class PolicyValidator implements Validator {
  readonly on = { subresources: ['*'] };
  readonly #source: PolicySource<ValidatingAdmissionPolicy, CompiledPolicy>;
  readonly #namespaces: Informer;

  constructor(readonly host: Host<'pool'>) {
    this.#source = new PolicySource(
      host.informer(`${GROUP}/validatingadmissionpolicies`) as Informer<ValidatingAdmissionPolicy>,
      host.informer(`${GROUP}/validatingadmissionpolicybindings`) as Informer<ValidatingAdmissionPolicyBinding>,
      compilePolicy,
    );
    this.#namespaces = host.informer('core/namespaces');
  }

  validate(change: Change, after: ApiObject | undefined): readonly [] | Promise<readonly []> {
    const policies = this.#source.current();
    return policies.length === 0 || isPolicy(change) ? [] : this.#validate(policies, change, after);
  }

  async #validate(
    policies: readonly ActivePolicy<CompiledPolicy>[],
    change: Change,
    after: ApiObject | undefined,
  ): Promise<readonly []> {
    const request = new PolicyRequest(this.host, change, after, this.#namespaces);
    await request.apply(policies);
    request.annotate();
    request.throwDenial();
    return [];
  }
}

type Evaluated = Extract<Invocation<CompiledPolicy>, { is: 'evaluate' }>;

/** The policies of one request. */
class PolicyRequest {
  readonly #shown: Shown;
  #values: RequestValues | undefined;
  readonly #annotations = new Map<string, Set<string>>();
  /** The refusal of the first denial. */
  #refusal: Refusal | undefined;

  constructor(
    readonly host: Host<'pool'>,
    readonly change: Change,
    after: ApiObject | undefined,
    readonly namespaces: Informer,
  ) {
    this.#shown = new Shown(change, after);
  }

  /** Adds the annotations of all policies to the audit event: values of the same key in one, without repetitions. */
  annotate(): void {
    for (const [name, values] of this.#annotations) this.change.annotate(name, [...values].join(', '));
  }

  throwDenial(): void {
    if (this.#refusal) throw this.#refusal;
  }

  async apply(policies: readonly ActivePolicy<CompiledPolicy>[]): Promise<void> {
    for (const one of await invocationsOf({ ...this, shown: this.#shown }, policies)) {
      if (one.is === 'misconfigured') this.#deny(one.policy, one.binding, { message: one.message, reason: '' });
      else {
        const began = monotonicTime();
        const findings = await this.#evaluate(one);
        this.#report(one.policy, one.binding, findings, monotonicTime() - began);
        this.#enforce(one.policy, one.binding, findings);
      }
    }
  }

  async #evaluate({ policy, matched, params }: Evaluated): Promise<Findings> {
    const cel: typeof Cel = await loadCel();
    const { change, host } = this;
    this.#values ??= new RequestValues(cel, host, change);
    const values = this.#values.of(matched, await this.#shown.in(matched));
    const activation = { ...values, namespaceObject: namespaceObjectOf(change, this.namespaces), params };
    const labels = { name: policy.name, kind: 'policy', type: 'validate', operation: change.operation };
    const observe = conditionObserver(host, labels);
    return evaluatePolicy(cel, policy.compiled(cel), activation, policy.failurePolicy, observe);
  }

  /** Adds the findings of a policy to the record of the decision. */
  #report({ name }: { readonly name: string }, binding: Binding, findings: Findings, ms: number): void {
    const { denials, annotationErrors, ignored, cost } = findings;
    const found = [...denials, ...annotationErrors, ...ignored];
    const isRefused = annotationErrors.length > 0 || (denials.length > 0 && binding.actions.includes('Deny'));
    const result = isRefused ? 'Refused' : denials.length > 0 ? 'Warned' : ignored.length > 0 ? 'Failed' : 'Passed';
    this.change.report?.({
      part: `policy ${name} with binding ${binding.name}`,
      result,
      ms,
      cost,
      ...(found.length > 0 && { message: found.map(withExpression).join('; ') }),
    });
  }

  #enforce(policy: ActivePolicy<CompiledPolicy>, binding: Binding, findings: Findings): void {
    const { denials, annotationErrors, ignored, annotations } = findings;
    for (const one of ignored) this.#count(policy, binding, one, 'allow');
    for (const denial of denials) {
      for (const action of binding.actions) this.#count(policy, binding, denial, action.toLowerCase());
      if (binding.actions.includes('Deny')) this.#deny(policy, binding, denial);
      if (binding.actions.includes('Audit')) this.#audit(policy, binding, denial);
      if (binding.actions.includes('Warn'))
        this.change.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ` +
            denial.message,
        );
    }
    for (const error of annotationErrors) {
      this.#count(policy, binding, error, 'deny');
      this.#deny(policy, binding, error);
    }
    for (const [key, value] of annotations) {
      const name = `${policy.name}/${key}`;
      this.#annotations.set(name, (this.#annotations.get(name) ?? new Set()).add(value));
    }
  }

  #count({ name }: { readonly name: string }, binding: Binding, denial: Denial, action: string): void {
    const { errorType, seconds } = denial;
    const labels = { policy: name, policy_binding: binding.name, error_type: errorType, enforcement_action: action };
    this.host.observe('apiserver_validating_admission_policy_check_total', labels, 1);
    this.host.observe('apiserver_validating_admission_policy_check_duration_seconds', labels, seconds);
  }

  /** Adds a denial to the audit event. Like upstream, only the first one of a request. */
  #audit({ name }: { readonly name: string }, binding: Binding, { message, index }: Denial): void {
    const failure = {
      message,
      policy: name,
      binding: binding.name,
      expressionIndex: index,
      validationActions: binding.actions,
    };
    const group = this.host.naming.group('validation.policy.admission.orchestrator.io');
    this.change.annotate(`${group}/validation_failure`, encodeJson([failure]));
  }

  #deny(
    { name }: { readonly name: string },
    binding: Binding | undefined,
    { message, reason }: Pick<Denial, 'message' | 'reason'>,
  ): void {
    if (this.#refusal) return;
    const by = `ValidatingAdmissionPolicy '${name}'${binding ? ` with binding '${binding.name}'` : ''}`;
    const why = `${by} denied request: ${message}`;
    const { message: text, details } = forbiddenByPlugin(this.change, this.#shown.object, why);
    const given = (reason || 'Invalid') as Reason;
    const code = CODES.get(given) ?? REASONS.Invalid;
    this.#refusal = new Refusal(given, text, { ...details, causes: [{ message: why }] }, code);
  }
}

/** Applies ValidatingAdmissionPolicies and their bindings. */
export default definePlugin({
  name: 'validating-admission-policy',
  parse: () => null,
  contribute: () => [validator.of(host => new PolicyValidator(host))],
}) satisfies Plugin<null>;
