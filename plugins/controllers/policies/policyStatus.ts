import type { ValidatingAdmissionPolicy } from '../../../kinds/admissionregistration/v1.js';
import type { APIResourceList } from '../../../kinds/meta/v1.js';
import { type Controller, controller, definePlugin, type Host, type Informer } from '../../../core/api/index.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';
import { pathOf } from '../catalog.js';
import { checkTypes, type PublishedDocument, type PublishedKinds } from './policyTypes.js';
import { WorkQueue } from '../queue.js';
import { Requests } from '../requests.js';

const NAME = 'validatingadmissionpolicy-status-controller';
const POLICIES = 'admissionregistration.orchestrator.io/validatingadmissionpolicies';
/** The manager of the fields of the status. */
const MANAGER = 'validatingadmissionpolicy-status';

/**
 * How long a policy must be unchanged before it is checked, in milliseconds: a client that changes a policy right after
 * it has created it meets no write of the status in between, and a burst of changes is checked once.
 */
const SETTLED_MS = 2000;

/** How long a policy that changes all the time may wait for its check, in milliseconds. */
const LONGEST_WAIT_MS = 10_000;

/** A changed policy that waits for its check. */
interface Unsettled {
  readonly timer: NodeJS.Timeout;
  /** When it began to wait, on the clock of `performance`. */
  readonly since: number;
}

const needsCheck = (policy: ValidatingAdmissionPolicy | undefined): policy is ValidatingAdmissionPolicy =>
  policy !== undefined && (policy.metadata.generation ?? 0) > (policy.status?.observedGeneration ?? 0);

const pathOfVersion = (group: string, version: string): string =>
  group ? `apis/${group}/${version}` : `api/${version}`;

/** Checks the types of the expressions of policies, once for each generation, and reports warnings in their status. */
class PolicyStatus implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  /** By name. */
  readonly #unsettled = new Map<string, Unsettled>();

  constructor(host: Host<'control'>) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 1, handle: name => this.#process(name) });
    host.onClose(() => {
      for (const { timer } of this.#unsettled.values()) clearTimeout(timer);
      this.#queue.close();
    });
  }

  start(): void {
    this.#host.watch(({ storageName, name }) => {
      if (storageName === POLICIES) this.#checkSettled(name);
    });
  }

  #checkSettled(name: string): void {
    const waiting = this.#unsettled.get(name);
    clearTimeout(waiting?.timer);
    this.#unsettled.delete(name);
    if (!needsCheck(this.#policyOf(name))) return;
    const check = (): void => {
      this.#unsettled.delete(name);
      this.#queue.add(name);
    };
    const since = waiting?.since ?? performance.now();
    const left = since + LONGEST_WAIT_MS - performance.now();
    this.#unsettled.set(name, { timer: setTimeout(check, Math.max(0, Math.min(SETTLED_MS, left))), since });
  }

  #policyOf(name: string): ValidatingAdmissionPolicy | undefined {
    return (this.#host.informer(POLICIES) as Informer<ValidatingAdmissionPolicy>).get('', name);
  }

  async #process(name: string): Promise<void> {
    const policy = this.#policyOf(name);
    if (!needsCheck(policy)) return;
    const { generation } = policy.metadata;
    const warnings = await checkTypes(await loadCel(), policy, this.#published());
    const apiVersion = this.#host.naming.apiVersion('admissionregistration.orchestrator.io/v1');
    const path = pathOf({ apiVersion, plural: 'validatingadmissionpolicies' }, '', name);
    await this.#requests.apply(`${path}/status`, MANAGER, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      status: {
        observedGeneration: generation,
        typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : {},
      },
    });
  }

  /** The kinds of this server, each version asked for once. */
  #published(): PublishedKinds {
    const known = new Map<string, Promise<object | undefined>>();
    const ask = <T extends object>(path: string): Promise<T | undefined> => {
      const answer = known.get(path) ?? this.#requests.get(path);
      known.set(path, answer);
      return answer as Promise<T | undefined>;
    };
    return {
      async resources(group, version) {
        const list = await ask<APIResourceList>(`/${pathOfVersion(group, version)}`);
        return list && (list.resources ?? []);
      },
      schemas: async (group, version) =>
        (await ask<PublishedDocument>(`/openapi/v3/${pathOfVersion(group, version)}`))?.components?.schemas,
    };
  }
}

/** Type checking of policies. */
export const policyStatus = definePlugin({
  name: 'controllers/policy-status',
  parse: () => undefined,
  contribute: () => [controller.of(host => new PolicyStatus(host))],
});
