import { type Controller, controller, definePlugin, type Host } from '../../core/api/index.js';
import { numberAt, recordAt, recordsAt, type UnknownRecord } from '../../core/model/record.js';
import { loadCel } from '../../core/schema/expressions/environment.js';
import { pathOf } from './catalog.js';
import { checkTypes, type PublishedKinds } from './policyTypes.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAME = 'validatingadmissionpolicy-status-controller';
const POLICIES = 'admissionregistration.orchestrator.io/validatingadmissionpolicies';
/** The manager of the fields of the status. */
const MANAGER = 'validatingadmissionpolicy-status';

const pathOfVersion = (group: string, version: string): string =>
  group ? `apis/${group}/${version}` : `api/${version}`;

/** Checks the types of the expressions of policies, once for each generation, and reports warnings in their status. */
class PolicyStatus implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host<'control'>) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 1, handle: name => this.#process(name) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(({ storageName, type, name }) => {
      if (storageName === POLICIES && type !== 'DELETED') this.#queue.add(name);
    });
    await this.#queue.idle();
  }

  async #process(name: string): Promise<void> {
    const policy = this.#host.informer(POLICIES).get('', name);
    const generation = policy?.metadata.generation ?? 0;
    if (!policy || generation <= (numberAt(policy, 'status', 'observedGeneration') ?? 0)) return;
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
    const known = new Map<string, Promise<UnknownRecord | undefined>>();
    const ask = (path: string): Promise<UnknownRecord | undefined> => {
      const answer = known.get(path) ?? (this.#requests.get(path) as Promise<UnknownRecord | undefined>);
      known.set(path, answer);
      return answer;
    };
    return {
      async resources(group, version) {
        const list = await ask(`/${pathOfVersion(group, version)}`);
        return list && recordsAt(list, 'resources');
      },
      schemas: async (group, version) =>
        recordAt(await ask(`/openapi/v3/${pathOfVersion(group, version)}`), 'components', 'schemas'),
    };
  }
}

/** Type checking of policies. */
export const policyStatus = definePlugin({
  name: 'controllers/policy-status',
  parse: () => undefined,
  contribute: () => [controller.of(host => new PolicyStatus(host))],
});
