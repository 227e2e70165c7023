import {
  type ApiObject,
  type Controller,
  controller,
  definePlugin,
  type Host,
  Refusal,
  type ResourceEvent,
} from '../../core/api/index.js';
import { type Condition, withCondition } from './conditions.js';
import { type AcceptedNames, judgeNames } from './customResourceNames.js';
import { DEFINITIONS, pathOf } from './catalog.js';
import { WorkQueue } from './queue.js';
import { Requests, timestamp } from './requests.js';

const NAME = 'customresource-definition-controller';

/** A definition as this controller reads it. */
interface Definition extends ApiObject {
  spec: {
    group: string;
    scope: string;
    names: AcceptedNames;
    versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
  };
  status?: { conditions?: readonly Condition[] | null; acceptedNames?: AcceptedNames; storedVersions?: string[] };
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Settles the names of definitions, and empties those that are deleted (spec, "Deletion lifecycle": finalizers). */
class CustomResourceDefinitions implements Controller {
  readonly name = NAME;
  readonly #host: Host;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  readonly #finalizer: string;
  readonly #root: { readonly apiVersion: string; readonly plural: string };
  /** Definitions that wait for their objects to go, by the storage name of these. */
  readonly #emptying = new Map<string, string>();

  constructor(host: Host) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#finalizer = host.naming.group('customresourcecleanup.apiextensions.orchestrator.io');
    this.#root = {
      apiVersion: host.naming.apiVersion('apiextensions.orchestrator.io/v1'),
      plural: 'customresourcedefinitions',
    };
    // One at a time: who comes first has the name.
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 1, handle: name => this.#process(name) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    const waiting = this.#emptying.get(event.storageName);
    if (waiting !== undefined && event.type === 'DELETED') this.#queue.add(waiting);
    if (event.storageName !== DEFINITIONS) return;
    if (event.type !== 'DELETED') {
      this.#queue.add(event.name);
      return;
    }
    // Its names are free: another definition may have waited for them.
    const { group } = (event.object() as Definition).spec;
    for (const other of this.#definitions()) if (other.spec.group === group) this.#queue.add(other.metadata.name!);
  }

  #definitions(): readonly Definition[] {
    return this.#host.informer(DEFINITIONS).list() as readonly Definition[];
  }

  async #process(name: string): Promise<void> {
    const definition = this.#host.informer(DEFINITIONS).get('', name) as Definition | undefined;
    if (!definition) return;
    if (!definition.metadata.deletionTimestamp) await this.#settleNames(definition);
    else if (definition.metadata.finalizers?.includes(this.#finalizer)) await this.#empty(definition);
  }

  async #settleNames(definition: Definition): Promise<void> {
    const { status = {} } = definition;
    const others = this.#definitions().filter(
      other => other.spec.group === definition.spec.group && other.metadata.uid !== definition.metadata.uid,
    );
    const taken = others.flatMap(other => (other.status?.acceptedNames ? [other.status.acceptedNames] : []));
    const judged = judgeNames(
      definition.spec.names,
      status.acceptedNames,
      taken,
      status.conditions ?? [],
      timestamp(this.#host),
    );
    if (sameJson(judged.names, status.acceptedNames) && sameJson(judged.conditions, status.conditions ?? [])) return;
    await this.#report(definition, { ...status, acceptedNames: judged.names, conditions: judged.conditions });
    if (sameJson(judged.names, status.acceptedNames)) return;
    for (const other of others) if (!isTrue(other, 'NamesAccepted')) this.#queue.add(other.metadata.name!);
  }

  async #empty(definition: Definition): Promise<void> {
    const { group, names } = definition.spec;
    const storageName = `${group}/${definition.status?.acceptedNames?.plural || names.plural}`;
    const left = isTrue(definition, 'Established') ? this.#host.informer(storageName).list() : [];
    if (left.length === 0) return this.#finish(definition, storageName);
    this.#emptying.set(storageName, definition.metadata.name!);
    await this.#terminating(definition);
    const { versions } = definition.spec;
    const version = versions.find(one => one.served) ?? versions.find(one => one.storage);
    if (!version) return;
    const resource = { apiVersion: `${group}/${version.name}`, plural: names.plural };
    const staying = left.filter(({ metadata }) => !metadata.deletionTimestamp);
    for (const namespace of new Set(staying.map(({ metadata }) => metadata.namespace ?? '')))
      await this.#requests.delete(pathOf(resource, namespace), { propagationPolicy: 'Background' });
    if (this.#host.informer(storageName).list().length === 0) this.#queue.add(definition.metadata.name!);
  }

  async #finish(definition: Definition, storageName: string): Promise<void> {
    this.#emptying.delete(storageName);
    const finalizers = definition.metadata.finalizers!.filter(finalizer => finalizer !== this.#finalizer);
    const { uid, resourceVersion } = definition.metadata;
    await this.#requests.merge(this.#path(definition), {
      metadata: { uid, resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null },
    });
  }

  async #terminating(definition: Definition): Promise<void> {
    const current = definition.status?.conditions ?? [];
    const finding = {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    };
    const conditions = withCondition(current, finding, timestamp(this.#host));
    if (conditions !== current) await this.#report(definition, { ...definition.status, conditions });
  }

  /** Writes the status; a definition that changed meanwhile comes again with its event. */
  async #report(definition: Definition, status: NonNullable<Definition['status']>): Promise<void> {
    try {
      await this.#requests.replace(`${this.#path(definition)}/status`, { ...definition, status });
    } catch (error) {
      if (!(error instanceof Refusal) || error.reason !== 'Conflict') throw error;
      this.#queue.add(definition.metadata.name!);
    }
  }

  #path(definition: Definition): string {
    return pathOf(this.#root, '', definition.metadata.name);
  }
}

const isTrue = (definition: Definition, type: string): boolean =>
  definition.status?.conditions?.some(condition => condition.type === type && condition.status === 'True') ?? false;

/** Names, conditions and deletion of the definitions of custom resources. */
export const customResources = definePlugin({
  name: 'controllers/custom-resources',
  parse: () => undefined,
  contribute: () => [controller.of(host => new CustomResourceDefinitions(host))],
});
