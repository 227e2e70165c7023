import type { CronJob, Job } from '../../../kinds/batch/v1.js';
import type { Deployment } from '../../../kinds/apps/v1.js';
import type { Namespace, Pod, PodTemplate, PodTemplateSpec } from '../../../kinds/v1.js';
import { type Change, type Validator, validator } from '../../../core/api/admission.js';
import type { Host, Informer } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import { PODS_CHECKED_BYTES } from '../../../core/limits.js';
import type { ApiObject, Frozen } from '../../../core/model/object.js';
import { invalidObject, Refusal, type Violation } from '../../../core/model/refusal.js';
import { type AnyContainer, forbiddenError } from '../podDraft.js';
import { parseConfig, type PodSecurityConfig } from './config.js';
import { checkedPod, detailText, findingsOf } from './evaluate.js';
import { warningsOfPods } from './namespaces.js';
import {
  isEquivalent,
  isPrivileged,
  isSameLevel,
  isStricter,
  levelText,
  type LevelVersion,
  type Mode,
  type Policy,
  policyLabels,
  policyOf,
  type PolicyRead,
  policyText,
} from './policy.js';

/** A pod or a template of pods. */
type PodLike = Pick<Frozen<Pod>, 'metadata' | 'spec'>;

type Annotation = 'enforce-policy' | 'audit-violations' | 'exempt' | 'error';

/** The message of the violations of one or several labels (upstream's aggregate of errors). */
function violationsText(violations: readonly Violation[]): string {
  const texts = [...new Set(violations.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}

/** The common part of the validators of pods, templates and namespaces: configuration, labels, audit annotations. */
class PodSecurity {
  readonly #config: PodSecurityConfig;
  readonly #host: Host<'pool'>;
  readonly #labels;
  readonly #namespaces: Informer<Namespace>;
  readonly #relaxes: boolean;

  constructor(host: Host<'pool'>, config: PodSecurityConfig) {
    this.#host = host;
    this.#config = config;
    this.#labels = policyLabels(host.naming);
    this.#namespaces = host.informer('core/namespaces') as Informer<Namespace>;
    this.#relaxes = host.isEnabled('UserNamespacesPodSecurityStandards');
  }

  policyOf(labels: { readonly [key: string]: string } | undefined): PolicyRead {
    return policyOf(labels, this.#labels, this.#config.defaults);
  }

  /** The policy of the namespace of a change. */
  policyFor({ target }: Change): PolicyRead {
    const namespace = this.#namespaces.get('', target.namespace);
    if (namespace) return this.policyOf(namespace.metadata.labels);
    const why = `failed to lookup namespace "${target.namespace}"`;
    throw new Refusal('InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });
  }

  annotate(change: Change, name: Annotation, value: string): void {
    change.annotate(this.#host.naming.label(`pod-security.orchestrator.io/${name}`), value);
  }

  isNamespaceExempt(namespace: string): boolean {
    return this.#config.exemptions.namespaces.includes(namespace);
  }

  isRuntimeClassExempt({ spec }: PodLike): boolean {
    const { runtimeClassName = '' } = spec;
    return runtimeClassName !== '' && this.#config.exemptions.runtimeClasses.includes(runtimeClassName);
  }

  /** Whether a change is exempt by its namespace or user, which is recorded. */
  isExempt(change: Change): boolean {
    const { target, user } = change;
    const isNamespace = this.isNamespaceExempt(target.namespace);
    if (!isNamespace && !this.#config.exemptions.usernames.includes(user.name)) return false;
    this.annotate(change, 'exempt', isNamespace ? 'namespace' : 'user');
    return true;
  }

  /** The warning about labels that have no effect because their namespace is exempt; undefined if they ask for none. */
  exemptionWarning({ metadata }: Frozen<ApiObject>, policy: Policy): string | undefined {
    if (isPrivileged(policy) || isEquivalent(policy, this.#config.defaults)) return undefined;
    const text = policyText(policy, metadata.labels ?? {}, this.#labels);
    return `namespace "${metadata.name ?? ''}" is exempt from Pod Security, and the policy (${text}) will be ignored`;
  }

  checked({ metadata, spec }: PodLike) {
    return checkedPod(metadata, spec, this.#host.naming, this.#relaxes);
  }

  /** Checks a pod or a template in these modes. Throws 403 for a pod that violates the enforced level. */
  check(change: Change, pod: PodLike, read: PolicyRead, modes: readonly Mode[]): void {
    if (this.isRuntimeClassExempt(pod)) {
      this.annotate(change, 'exempt', 'runtimeClass');
      return;
    }
    const { policy } = read;
    if (read.violations.length > 0)
      this.annotate(change, 'error', `Failed to parse policy: ${violationsText(read.violations)}`);
    const checked = this.checked(pod);
    const violationOf = (level: LevelVersion): string => {
      const findings = findingsOf(level, checked);
      return findings.length === 0 ? '' : `violate PodSecurity "${levelText(level)}": ${detailText(findings)}`;
    };
    const { enforce, audit, warn } = policy;
    const enforced = modes.includes('enforce') ? violationOf(enforce) : '';
    if (modes.includes('enforce')) this.annotate(change, 'enforce-policy', levelText(enforce));
    const audited = violationOf(audit);
    if (audited !== '') this.annotate(change, 'audit-violations', `would ${audited}`);
    if (enforced !== '') {
      const of = { group: '', resource: 'pods' };
      throw forbiddenError(of, change.target.name, enforced.replace(/^violate/, 'violates'));
    }
    const warned = violationOf(warn);
    if (warned !== '') change.warn(`would ${warned}`);
  }
}

/** Whether an update of a pod changes an image, or fields that checks read. Other updates are not checked. */
function isSignificant(pod: Frozen<Pod>, old: Frozen<Pod>, label: (neutral: string) => string): boolean {
  const isAnnotated = (neutral: string): boolean => {
    const key = label(neutral);
    return (pod.metadata.annotations?.[key] ?? '') !== (old.metadata.annotations?.[key] ?? '');
  };
  const isContainerChanged = (container: AnyContainer, before: AnyContainer | undefined): boolean =>
    before === undefined ||
    (container.image ?? '') !== (before.image ?? '') ||
    isAnnotated(`container.seccomp.security.alpha.orchestrator.io/${container.name}`);
  const areChanged = (member: 'containers' | 'initContainers'): boolean => {
    const [now, before] = [pod.spec[member] ?? [], old.spec[member] ?? []];
    return now.length !== before.length || now.some((container, i) => isContainerChanged(container, before[i]));
  };
  const ephemeral = new Map((old.spec.ephemeralContainers ?? []).map(container => [container.name, container]));
  return (
    isAnnotated('seccomp.security.alpha.orchestrator.io/pod') ||
    areChanged('containers') ||
    areChanged('initContainers') ||
    (pod.spec.ephemeralContainers ?? []).some(container => isContainerChanged(container, ephemeral.get(container.name)))
  );
}

/** Refuses pods that violate the level that their namespace enforces; records and warns of violations of the others. */
const checkPods =
  (config: PodSecurityConfig) =>
  (host: Host<'pool'>): Validator => {
    const security = new PodSecurity(host, config);
    return {
      on: {
        groups: [''],
        resources: ['pods'],
        operations: ['CREATE', 'UPDATE'],
        subresources: ['', 'ephemeralcontainers', 'resize'],
      },
      validate(change, object) {
        if (security.isExempt(change)) return [];
        const read = security.policyFor(change);
        if (read.violations.length === 0 && isPrivileged(read.policy)) {
          security.annotate(change, 'enforce-policy', 'privileged:latest');
          return [];
        }
        const [pod, old] = [object as Frozen<Pod>, change.old as Frozen<Pod> | undefined];
        if (old && !isSignificant(pod, old, host.naming.label)) return [];
        security.check(change, pod, read, ['enforce', 'audit', 'warn']);
        return [];
      },
    };
  };

const templateOf = (object: unknown): Frozen<PodTemplateSpec> | undefined =>
  (object as Frozen<Deployment>).spec.template;

/** The pod templates of the kinds that create pods, by group and resource; undefined for an object without one. */
const TEMPLATES: {
  readonly [group: string]: { readonly [resource: string]: (object: unknown) => Frozen<PodTemplateSpec> | undefined };
} = {
  '': {
    podtemplates: object => (object as Frozen<PodTemplate>).template,
    replicationcontrollers: templateOf,
  },
  apps: { replicasets: templateOf, deployments: templateOf, statefulsets: templateOf, daemonsets: templateOf },
  batch: {
    jobs: object => (object as Frozen<Job>).spec.template,
    cronjobs: object => (object as Frozen<CronJob>).spec.jobTemplate.spec.template,
  },
};

/** Records and warns of violations of templates of pods. Those are not refused: their pods are. */
const checkTemplates =
  (config: PodSecurityConfig) =>
  (host: Host<'pool'>): Validator => {
    const security = new PodSecurity(host, config);
    return {
      on: {
        groups: Object.keys(TEMPLATES),
        resources: Object.values(TEMPLATES).flatMap(resources => Object.keys(resources)),
        operations: ['CREATE', 'UPDATE'],
      },
      validate(change, object) {
        const find = TEMPLATES[change.target.group]?.[change.target.resource];
        if (!find || security.isExempt(change)) return [];
        const read = security.policyFor(change);
        const { audit, warn } = read.policy;
        if (read.violations.length === 0 && audit.level === 'privileged' && warn.level === 'privileged') return [];
        const template = find(object);
        if (template) security.check(change, template, read, ['audit', 'warn']);
        return [];
      },
    };
  };

/** Refuses invalid labels, and warns of the pods of a namespace that violate a level which it begins to enforce. */
const checkNamespaces =
  (config: PodSecurityConfig) =>
  (host: Host<'pool'>): Validator => {
    const security = new PodSecurity(host, config);
    const warnOfPods = async (change: Change, name: string, level: LevelVersion): Promise<void> => {
      const informer = await host.dynamicInformer('core/pods');
      const { objects, total } = informer.listFirst(name, PODS_CHECKED_BYTES);
      const toCheck = (pod: Pod) => (security.isRuntimeClassExempt(pod) ? undefined : security.checked(pod));
      for (const warning of warningsOfPods(name, level, { pods: objects as readonly Pod[], total }, toCheck))
        change.warn(warning);
    };
    return {
      on: { groups: [''], resources: ['namespaces'], operations: ['CREATE', 'UPDATE'] },
      async validate(change, object) {
        const { name } = change.target;
        const { policy, violations } = security.policyOf(object!.metadata.labels);
        const old = change.old && security.policyOf(change.old.metadata.labels);
        const isOldProblem = old !== undefined && violationsText(violations) === violationsText(old.violations);
        if (violations.length > 0 && !isOldProblem) throw invalidObject('', 'Namespace', name, violations);
        if (old) {
          const [now, before] = [policy.enforce, old.policy.enforce];
          if (isSameLevel(now, before) || now.level === 'privileged') return [];
          if (now.version === before.version && !isStricter(now.level, before.level)) return [];
        }
        if (security.isNamespaceExempt(name)) {
          const warning = security.exemptionWarning(object!, policy);
          if (warning !== undefined) change.warn(warning);
        } else if (old) await warnOfPods(change, name, policy.enforce);
        return [];
      },
    };
  };

/** The Pod Security Standards: checks pods, and templates of pods, by the labels of their namespaces. */
export default definePlugin<PodSecurityConfig>({
  name: 'pod-security',
  parse: parseConfig,
  contribute: config => [
    validator.of(checkNamespaces(config)),
    validator.of(checkPods(config)),
    validator.of(checkTemplates(config)),
  ],
}) satisfies Plugin<PodSecurityConfig>;
