import type {
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../kinds/admissionregistration/v1.js';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../../kinds/admissionregistration/v1alpha1.js';
import type * as Cel from '../../../core/cel/index.js';
import type { Informer } from '../../../core/api/host.js';
import { type Constraints, constraintsOf } from '../rules/matching.js';

/** A policy of either kind. */
type Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;

/** A binding of either kind of policy. */
type PolicyBinding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

/** A binding of a policy. */
export interface Binding {
  readonly name: string;
  /** Absent: it matches the same requests as the policy. */
  readonly constraints?: Constraints;
  readonly paramRef?: ParamRef;
  readonly actions: readonly string[];
}

/** A policy with its bindings. */
export interface ActivePolicy<Compiled> {
  readonly name: string;
  readonly failurePolicy: string;
  /** For mutating policies: whether they are evaluated again after later mutators have changed the object. */
  readonly reinvocationPolicy: string;
  readonly constraints: Constraints;
  readonly paramKind?: ParamKind;
  readonly bindings: readonly Binding[];
  /** Compiles its expressions, at the first call. */
  readonly compiled: (cel: typeof Cel) => Compiled;
}

const bindingOf = ({ metadata, spec }: PolicyBinding): Binding => {
  const matchResources = spec.matchResources;
  const paramRef = spec.paramRef;
  return {
    name: metadata.name!,
    ...(matchResources ? { constraints: constraintsOf(matchResources) } : {}),
    ...(paramRef ? { paramRef } : {}),
    actions: ('validationActions' in spec && spec.validationActions) || [],
  };
};

/** The policies with bindings, as of now, in the order of their names. Each generation is compiled once. */
export class PolicySource<P extends Policy, Compiled> {
  #active: readonly ActivePolicy<Compiled>[] = [];
  /** Revisions of the informers that `#active` was made from. */
  #revisions = [-1, -1];
  /** Compiled policies, by uid and generation. */
  #compiled = new Map<string, Compiled>();

  constructor(
    readonly policies: Informer<P>,
    readonly bindings: Informer<PolicyBinding>,
    readonly compile: (cel: typeof Cel, policy: P) => Compiled,
  ) {}

  /** The active policies. */
  current(): readonly ActivePolicy<Compiled>[] {
    const [policies, bindings] = this.#revisions;
    if (policies !== this.policies.revision || bindings !== this.bindings.revision) this.#rebuild();
    return this.#active;
  }

  #rebuild(): void {
    const byPolicy = new Map<string, Binding[]>();
    for (const binding of this.bindings.list()) {
      const name = binding.spec.policyName ?? '';
      byPolicy.set(name, [...(byPolicy.get(name) ?? []), bindingOf(binding)]);
    }
    const before = this.#compiled;
    this.#compiled = new Map();
    this.#active = this.policies.list().flatMap(policy => {
      const bindings = byPolicy.get(policy.metadata.name!);
      const key = `${policy.metadata.uid}/${policy.metadata.generation}`;
      const known = before.get(key);
      if (known) this.#compiled.set(key, known);
      return bindings ? [this.#activePolicy(policy, bindings, key)] : [];
    });
    this.#revisions = [this.policies.revision, this.bindings.revision];
  }

  #activePolicy(policy: P, bindings: readonly Binding[], key: string): ActivePolicy<Compiled> {
    const { metadata, spec }: Policy = policy;
    const paramKind = spec.paramKind;
    return {
      name: metadata.name!,
      failurePolicy: spec.failurePolicy || 'Fail',
      reinvocationPolicy: ('reinvocationPolicy' in spec && spec.reinvocationPolicy) || 'Never',
      constraints: constraintsOf(spec.matchConstraints),
      ...(paramKind ? { paramKind } : {}),
      bindings,
      compiled: cel => {
        let compiled = this.#compiled.get(key);
        if (!compiled) this.#compiled.set(key, (compiled = this.compile(cel, policy)));
        return compiled;
      },
    };
  }
}
