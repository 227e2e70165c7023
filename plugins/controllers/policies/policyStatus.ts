import { monotonicTime } from '../../../core/runtime/clock.js';
import type { ValidatingAdmissionPolicy } from '../../../kinds/admissionregistration/v1.js';
import type { APIResourceList } from '../../../kinds/meta/v1.js';
import { type Client, controller, definePlugin, type Frozen, reconciler } from '../../../core/api/index.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';
import { checkTypes, type PublishedDocument, type PublishedKinds } from './policyTypes.js';
import { unlessRefused, versionPath } from '../requests.js';

const NAME = 'validatingadmissionpolicy-status-controller';
const POLICIES = 'admissionregistration.orchestrator.io/validatingadmissionpolicies';
/** The manager of the fields of the status. */
const MANAGER = 'validatingadmissionpolicy-status';

/**
 * How long a policy must be unchanged before it is checked, in milliseconds: a client that changes a policy right after
 * it has created it does not conflict with a write of the status, and a burst of changes is checked once.
 */
const SETTLED_MS = 2000;

/** How long a policy that changes all the time may wait for its check, in milliseconds. */
const LONGEST_WAIT_MS = 10_000;

/** A changed policy that waits for its check. Times are in milliseconds, on the clock of `monotonicTime`. */
interface Unsettled {
  /** Generation and version that were seen last, since `changed`. */
  readonly version: string;
  readonly changed: number;
  /** When it began to wait. */
  readonly since: number;
}

const needsCheck = (policy: Frozen<ValidatingAdmissionPolicy>): boolean =>
  (policy.metadata.generation ?? 0) > (policy.status?.observedGeneration ?? 0);

/** The policies that wait for their checks, by name. */
class UnsettledPolicies {
  readonly #policies = new Map<string, Unsettled>();

  /** How long a policy must still wait, in milliseconds. If that is 0, it must be checked now, and is forgotten. */
  waitFor(name: string, policy: Frozen<ValidatingAdmissionPolicy>): number {
    const now = monotonicTime();
    const { generation, resourceVersion } = policy.metadata;
    const version = `${generation} ${resourceVersion}`;
    const known = this.#policies.get(name) ?? { version, changed: now, since: now };
    const changed = known.version === version ? known.changed : now;
    const left = Math.ceil(Math.min(changed + SETTLED_MS, known.since + LONGEST_WAIT_MS) - now);
    if (left > 0) this.#policies.set(name, { version, changed, since: known.since });
    else this.#policies.delete(name);
    return Math.max(0, left);
  }

  forget(name: string): void {
    this.#policies.delete(name);
  }
}

/** The kinds of this server, each version asked for once. */
function publishedKinds(client: Client): PublishedKinds {
  const known = new Map<string, Promise<object | undefined>>();
  const ask = <T extends object>(path: string): Promise<T | undefined> => {
    const answer = known.get(path) ?? unlessRefused('NotFound', client.request({ method: 'GET', path }));
    known.set(path, answer);
    return answer as Promise<T | undefined>;
  };
  return {
    async resources(group, version) {
      const path = versionPath(group, version);
      const list = path === undefined ? undefined : await ask<APIResourceList>(path);
      return list && (list.resources ?? []);
    },
    async schemas(group, version) {
      const path = versionPath(group, version);
      return path === undefined ? undefined : (await ask<PublishedDocument>(`/openapi/v3${path}`))?.components?.schemas;
    },
  };
}

/** Checks the types of the expressions of policies, once for each generation, and reports warnings in their status. */
function policyStatusController() {
  const unsettled = new UnsettledPolicies();
  return reconciler({
    name: NAME,
    for: POLICIES,
    async reconcile({ name }, { object: policy, client }) {
      if (!policy || !needsCheck(policy)) return unsettled.forget(name);
      const wait = unsettled.waitFor(name, policy);
      if (wait > 0) return { after: wait };
      const warnings = await checkTypes(
        await loadCel(),
        structuredClone(policy) as ValidatingAdmissionPolicy,
        publishedKinds(client),
      );
      const status = {
        observedGeneration: policy.metadata.generation,
        typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : {},
      };
      const applied = client
        .resource(POLICIES)
        .apply({ metadata: { name }, status }, { fieldManager: MANAGER, subresource: 'status' });
      await unlessRefused('NotFound', applied);
    },
  });
}

/** Type checking of policies. */
export const policyStatus = definePlugin({
  name: 'controllers/policy-status',
  parse: () => undefined,
  contribute: () => [controller.of(policyStatusController())],
});
