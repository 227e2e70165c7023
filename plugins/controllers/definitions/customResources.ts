import { writeJson } from '../../../core/model/text/jsonText.js';
import { type NamingName, namingOf } from '../../../core/naming.js';
import {
  type ApiObject,
  type Controller,
  controller,
  customStorageName,
  definePlugin,
  type Host,
  Refusal,
  type ResourceEvent,
} from '../../../core/api/index.js';
import { type Condition, withCondition } from '../conditions.js';
import { approvalOf } from './customResourceApproval.js';
import { type AcceptedNames, acceptNames } from './customResourceNames.js';
import { DEFINITIONS, isTaken, parseResources, pathOf, type ResourcesConfig } from '../catalog.js';
import { WorkQueue } from '../queue.js';
import { Requests, timestamp } from '../requests.js';

const NAME = 'customresource-definition-controller';

/** The parts of a CustomResourceDefinition that this controller uses. */
interface Definition extends ApiObject {
  spec: {
    group: string;
    scope: string;
    names: AcceptedNames;
    versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
  };
  status?: { conditions?: readonly Condition[] | null; acceptedNames?: AcceptedNames; storedVersions?: string[] };
}

/** How many groups are processed at the same time. */
const WORKERS = 4;

/** The finalizers of both namings: a definition may have been created under the other one. */
const CLEANUP = (['neutral', 'kubernetes'] satisfies NamingName[]).map(naming =>
  namingOf(naming).group('customresourcecleanup.apiextensions.orchestrator.io'),
);
const isCleanup = (finalizer: string): boolean => CLEANUP.includes(finalizer);

const IN_PROGRESS = { reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' };
/** A store may come from a server with another naming or other kinds, under which the definition was served. */
const NOT_SERVED = {
  reason: 'InstanceDeletionFailed',
  message: 'another kind of the server has its names: its objects can be deleted only by a server without that kind',
};

/** The group of a definition, whose name is that of the resource followed by the group. */
const groupOf = (name: string): string => name.slice(name.indexOf('.') + 1);

const sameJson = (
  a: AcceptedNames | readonly Condition[],
  b: AcceptedNames | readonly Condition[] | undefined,
): boolean => writeJson(a) === writeJson(b);

/** Accepts the names of definitions, and deletes their objects when they are deleted (spec, "Deletion lifecycle"). */
class CustomResourceDefinitions implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  readonly #root: { readonly apiVersion: string; readonly plural: string };
  /** Names of definitions by group, so that other groups need not be read. */
  readonly #groups = new Map<string, Set<string>>();
  /** The end of the last turn of a group that is being processed. */
  readonly #turns = new Map<string, Promise<void>>();
  /** Names of definitions that wait for the deletion of their objects, by the storage name of the objects. */
  readonly #deleting = new Map<string, string>();

  readonly #takenNames: ReadonlySet<string>;
  /** Storage names of the kinds that do not come from definitions. */
  readonly #fixed: ReadonlySet<string>;

  constructor(host: Host<'control'>, { resources, takenNames }: ResourcesConfig) {
    this.#host = host;
    this.#takenNames = new Set(takenNames);
    this.#fixed = new Set(resources.map(({ storageName }) => storageName));
    this.#requests = new Requests(host, NAME);
    this.#root = {
      apiVersion: host.naming.apiVersion('apiextensions.orchestrator.io/v1'),
      plural: 'customresourcedefinitions',
    };
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: WORKERS, handle: name => this.#inTurn(name) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    const waiting = this.#deleting.get(event.storageName);
    if (waiting !== undefined && event.type === 'DELETED') this.#queue.add(waiting);
    if (event.storageName !== DEFINITIONS) return;
    const group = groupOf(event.name);
    const names = this.#groups.get(group) ?? new Set();
    if (event.type !== 'DELETED') {
      this.#groups.set(group, names.add(event.name));
      this.#queue.add(event.name);
      return;
    }
    names.delete(event.name);
    if (names.size === 0) this.#groups.delete(group);
    // Other definitions may have waited for its names.
    for (const name of names) this.#queue.add(name);
  }

  /** Processes a definition after those of its group that came before, because the first one gets a name. */
  async #inTurn(name: string): Promise<void> {
    const group = groupOf(name);
    const before = this.#turns.get(group) ?? Promise.resolve();
    const turn = before.then(() => this.#process(name));
    const end = turn.catch(() => undefined);
    this.#turns.set(group, end);
    try {
      await turn;
    } finally {
      if (this.#turns.get(group) === end) this.#turns.delete(group);
    }
  }

  /** The definitions of a group. */
  #definitionsOf(group: string): readonly Definition[] {
    const informer = this.#host.informer(DEFINITIONS);
    return [...(this.#groups.get(group) ?? [])].flatMap(
      name => (informer.get('', name) as Definition | undefined) ?? [],
    );
  }

  async #process(name: string): Promise<void> {
    const definition = this.#host.informer(DEFINITIONS).get('', name) as Definition | undefined;
    if (!definition) return;
    if (!definition.metadata.deletionTimestamp) await this.#updateStatus(definition);
    else if (definition.metadata.finalizers?.some(isCleanup)) await this.#deleteInstances(definition);
  }

  async #updateStatus(definition: Definition): Promise<void> {
    const { status = {} } = definition;
    const others = this.#definitionsOf(definition.spec.group).filter(
      other => other.metadata.uid !== definition.metadata.uid,
    );
    const taken = others.flatMap(other => (other.status?.acceptedNames ? [other.status.acceptedNames] : []));
    if (isTaken(definition.spec, this.#takenNames)) taken.push(definition.spec.names);
    const now = timestamp(this.#host);
    const accepted = acceptNames(definition.spec.names, status.acceptedNames, taken, status.conditions ?? [], now);
    const approval = approvalOf(definition, this.#host.naming);
    const conditions = approval ? withCondition(accepted.conditions, approval, now) : accepted.conditions;
    if (sameJson(accepted.names, status.acceptedNames) && sameJson(conditions, status.conditions ?? [])) return;
    await this.#report(definition, { ...status, acceptedNames: accepted.names, conditions });
    if (sameJson(accepted.names, status.acceptedNames)) return;
    for (const other of others) if (!isTrue(other, 'NamesAccepted')) this.#queue.add(other.metadata.name!);
  }

  async #deleteInstances(definition: Definition): Promise<void> {
    const { group, names } = definition.spec;
    const storageName = customStorageName({ group, plural: names.plural });
    const hasObjects = isTrue(definition, 'Established') && !this.#fixed.has(storageName);
    const instances = hasObjects ? this.#host.informer(storageName).list() : [];
    if (instances.length === 0) return this.#removeFinalizer(definition, storageName);
    this.#deleting.set(storageName, definition.metadata.name!);
    if (isTaken(definition.spec, this.#takenNames)) return this.#reportTerminating(definition, NOT_SERVED);
    await this.#reportTerminating(definition, IN_PROGRESS);
    const { versions } = definition.spec;
    const version = versions.find(one => one.served) ?? versions.find(one => one.storage);
    if (!version) return;
    const resource = { apiVersion: `${group}/${version.name}`, plural: names.plural };
    const notDeleting = instances.filter(({ metadata }) => !metadata.deletionTimestamp);
    for (const namespace of new Set(notDeleting.map(({ metadata }) => metadata.namespace ?? '')))
      await this.#requests.delete(pathOf(resource, namespace), { propagationPolicy: 'Background' });
    if (this.#host.informer(storageName).list().length === 0) this.#queue.add(definition.metadata.name!);
  }

  async #removeFinalizer(definition: Definition, storageName: string): Promise<void> {
    this.#deleting.delete(storageName);
    const finalizers = definition.metadata.finalizers!.filter(finalizer => !isCleanup(finalizer));
    const { uid, resourceVersion } = definition.metadata;
    await this.#requests.merge(this.#path(definition), {
      metadata: { uid, resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null },
    });
  }

  async #reportTerminating(definition: Definition, why: typeof IN_PROGRESS): Promise<void> {
    const current = definition.status?.conditions ?? [];
    const update = { type: 'Terminating', status: 'True', ...why };
    const conditions = withCondition(current, update, timestamp(this.#host));
    if (conditions !== current) await this.#report(definition, { ...definition.status, conditions });
  }

  /** Writes the status. After a conflict, the definition is processed again. */
  async #report(definition: Definition, status: NonNullable<Definition['status']>): Promise<void> {
    try {
      // As upstream, where the server writes it itself.
      const manager = this.#host.naming.component('orchestrator-apiserver');
      await this.#requests.replace(`${this.#path(definition)}/status?fieldManager=${manager}`, {
        ...definition,
        // It may be stored in the other naming.
        apiVersion: this.#root.apiVersion,
        status,
      });
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

/** The controller of CustomResourceDefinitions: names, conditions and deletion. */
export const customResources = definePlugin({
  name: 'controllers/custom-resources',
  parse: parseResources,
  contribute: config => [controller.of(host => new CustomResourceDefinitions(host, config))],
});
