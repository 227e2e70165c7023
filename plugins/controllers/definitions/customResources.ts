import { writeJson } from '../../../core/model/text/jsonText.js';
import { type NamingName, namingOf } from '../../../core/naming.js';
import { isTaken } from '../../../core/schema/registry/takenNames.js';
import {
  type ApiObject,
  type Client,
  type Condition,
  ConfigError,
  type Controller,
  controller,
  customStorageName,
  definePlugin,
  type Host,
  type KeyOf,
  type ReconcileContext,
  reconciler,
  Refusal,
  type ResourceEvent,
  timestamp,
  withCondition,
} from '../../../core/api/index.js';
import { approvalOf } from './customResourceApproval.js';
import { isBundleValid } from './conversionBundle.js';
import { type AcceptedNames, acceptNames } from './customResourceNames.js';
import { DEFINITIONS } from './storageName.js';
import { unlessRefused } from '../requests.js';

const NAME = 'customresource-definition-controller';

/** The parts of a CustomResourceDefinition that this controller uses. */
interface Definition extends ApiObject {
  spec: {
    group: string;
    scope: string;
    names: AcceptedNames;
    versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
    conversion?: { readonly webhook?: { readonly clientConfig?: { readonly caBundle?: string } | null } | null } | null;
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
class CustomResourceDefinitions {
  readonly #host: Host<'control'>;
  readonly #apiVersion: string;
  /** Names of definitions by group, so that other groups need not be read. */
  readonly #groups = new Map<string, Set<string>>();
  /** The end of the last turn of a group that is being processed. */
  readonly #turns = new Map<string, Promise<void>>();
  /** Names of definitions that wait for the deletion of their objects, by the storage name of the objects. */
  readonly #deleting = new Map<string, string>();

  readonly #takenNames: ReadonlySet<string>;
  /** Storage names of the kinds that do not come from definitions. */
  readonly #fixed: ReadonlySet<string>;

  constructor(host: Host<'control'>, takenNames: readonly string[]) {
    this.#host = host;
    this.#takenNames = new Set(takenNames);
    // At this time, no kinds of definitions are served yet.
    this.#fixed = new Set(host.resources.list().map(({ storageName }) => storageName));
    this.#apiVersion = host.naming.apiVersion('apiextensions.orchestrator.io/v1');
  }

  /** The definitions to process after a change of any object. */
  observe(event: ResourceEvent): KeyOf[] {
    const waiting = this.#deleting.get(event.storageName);
    if (waiting !== undefined && event.type === 'DELETED') return [keyOf(waiting)];
    if (event.storageName !== DEFINITIONS) return [];
    const group = groupOf(event.name);
    const names = this.#groups.get(group) ?? new Set();
    if (event.type !== 'DELETED') {
      this.#groups.set(group, names.add(event.name));
      return [keyOf(event.name)];
    }
    names.delete(event.name);
    if (names.size === 0) this.#groups.delete(group);
    // Other definitions may have waited for its names.
    return Array.from(names, keyOf);
  }

  /**
   * Processes a definition after those of its group that came before: a name belongs to the first definition that asks
   * for it.
   */
  async process(name: string, context: ReconcileContext): Promise<void> {
    const group = groupOf(name);
    const before = this.#turns.get(group) ?? Promise.resolve();
    const turn = before.then(() => this.#process(name, context));
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

  async #process(name: string, context: ReconcileContext): Promise<void> {
    const definition = this.#host.informer(DEFINITIONS).get('', name) as Definition | undefined;
    if (!definition) return;
    if (!definition.metadata.deletionTimestamp) await this.#updateStatus(definition, context);
    else if (definition.metadata.finalizers?.some(isCleanup)) await this.#deleteInstances(definition, context);
  }

  async #updateStatus(definition: Definition, context: ReconcileContext): Promise<void> {
    const { status = {} } = definition;
    const others = this.#definitionsOf(definition.spec.group).filter(
      other => other.metadata.uid !== definition.metadata.uid,
    );
    const taken = others.flatMap(other => (other.status?.acceptedNames ? [other.status.acceptedNames] : []));
    if (isTaken(definition.spec, this.#takenNames)) taken.push(definition.spec.names);
    const now = timestamp(this.#host.now());
    const { spec } = definition;
    const conditionsBefore = status.conditions ?? [];
    const isTrusted = isBundleValid(spec.conversion?.webhook?.clientConfig?.caBundle);
    const accepted = acceptNames(spec.names, status.acceptedNames, taken, conditionsBefore, now, isTrusted);
    const approval = approvalOf(definition, this.#host.naming);
    const conditions = approval ? withCondition(accepted.conditions, approval, now) : accepted.conditions;
    if (sameJson(accepted.names, status.acceptedNames) && sameJson(conditions, status.conditions ?? [])) return;
    await this.#report(definition, { ...status, acceptedNames: accepted.names, conditions }, context);
    if (sameJson(accepted.names, status.acceptedNames)) return;
    for (const other of others) if (!isTrue(other, 'NamesAccepted')) context.add(keyOf(other.metadata.name!));
  }

  async #deleteInstances(definition: Definition, context: ReconcileContext): Promise<void> {
    const { group, names } = definition.spec;
    const storageName = customStorageName({ group, plural: names.plural });
    const hasObjects = isTrue(definition, 'Established') && !this.#fixed.has(storageName);
    const instances = hasObjects ? this.#host.informer(storageName).list() : [];
    if (instances.length === 0) return this.#removeFinalizer(definition, storageName, context);
    this.#deleting.set(storageName, definition.metadata.name!);
    if (isTaken(definition.spec, this.#takenNames)) return this.#reportTerminating(definition, NOT_SERVED, context);
    await this.#reportTerminating(definition, IN_PROGRESS, context);
    const notDeleting = instances.filter(({ metadata }) => !metadata.deletionTimestamp);
    for (const namespace of new Set(notDeleting.map(({ metadata }) => metadata.namespace ?? '')))
      await deleteCollection(definition, namespace, context.client);
    if (this.#host.informer(storageName).list().length === 0) context.add(keyOf(definition.metadata.name!));
  }

  async #removeFinalizer(definition: Definition, storageName: string, { client }: ReconcileContext): Promise<void> {
    this.#deleting.delete(storageName);
    const finalizers = definition.metadata.finalizers!.filter(finalizer => !isCleanup(finalizer));
    const { uid, resourceVersion } = definition.metadata;
    const metadata = { uid, resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null };
    await unlessRefused('NotFound', client.resource(DEFINITIONS).patch(definition.metadata, { metadata }));
  }

  async #reportTerminating(definition: Definition, why: typeof IN_PROGRESS, context: ReconcileContext): Promise<void> {
    const current = definition.status?.conditions ?? [];
    const update = { type: 'Terminating', status: 'True', ...why };
    const conditions = withCondition(current, update, timestamp(this.#host.now()));
    if (conditions !== current) await this.#report(definition, { ...definition.status, conditions }, context);
  }

  /** Writes the status. After a conflict, the definition is processed again. */
  async #report(
    definition: Definition,
    status: NonNullable<Definition['status']>,
    { client, add }: ReconcileContext,
  ): Promise<void> {
    // In upstream the server writes this itself.
    const fieldManager = this.#host.naming.component('orchestrator-apiserver');
    // The definition may be stored in the other naming.
    const object = { ...definition, apiVersion: this.#apiVersion };
    try {
      await unlessRefused('NotFound', client.resource<string>(DEFINITIONS).setStatus(object, status, { fieldManager }));
    } catch (error) {
      if (!(error instanceof Refusal) || error.reason !== 'Conflict') throw error;
      add(keyOf(definition.metadata.name!));
    }
  }
}

/**
 * Deletes the objects of a definition in a namespace. The paths of a definition that is being deleted can be used for
 * that, even if no version of it is served.
 */
async function deleteCollection({ spec }: Definition, namespace: string, client: Client): Promise<void> {
  const { group, names, versions } = spec;
  const version = versions.find(({ served }) => served) ?? versions.find(({ storage }) => storage);
  if (!version) return;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const path = `/apis/${group}/${version.name}${scope}/${names.plural}`;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
  await unlessRefused('NotFound', client.request({ method: 'DELETE', path, body }));
}

const keyOf = (name: string): KeyOf => ({ resource: DEFINITIONS, name });

const isTrue = (definition: Definition, type: string): boolean =>
  definition.status?.conditions?.some(condition => condition.type === type && condition.status === 'True') ?? false;

/** Configuration: `<plural>.<group>` and `<kind>.<group>` of all kinds that do not come from definitions. */
interface CustomResourcesConfig {
  readonly takenNames: readonly string[];
}

/** Parses the configuration that the server generates from its registry. Throws ConfigError. */
function parse(config: unknown): CustomResourcesConfig {
  const { takenNames } = (config ?? {}) as { takenNames?: unknown };
  if (!Array.isArray(takenNames) || !takenNames.every(name => typeof name === 'string'))
    throw new ConfigError('config.takenNames', 'must be a list of names');
  return { takenNames };
}

function definitionsController(host: Host<'control'>, { takenNames }: CustomResourcesConfig): Controller {
  const definitions = new CustomResourceDefinitions(host, takenNames);
  return reconciler({
    name: NAME,
    watches: [{ resource: '*', keys: event => definitions.observe(event) }],
    concurrency: WORKERS,
    reconcile: ({ name }, context) => definitions.process(name, context),
  })(host);
}

/** The controller of CustomResourceDefinitions: names, conditions and deletion. */
export const customResources = definePlugin({
  name: 'controllers/custom-resources',
  parse,
  contribute: config => [controller.of(host => definitionsController(host, config))],
});
