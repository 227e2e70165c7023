import { type ApiObject, type Controller, ConfigError, controller, type Host, type Plugin } from '../../core/api/index.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';
import { apiServices, type ServedGroup, systemObjectsOf } from './systemObjectData.js';

const NAME = 'system-objects';
const SCHEMAS = 'flowcontrol.apiserver.orchestrator.io/flowschemas';
const LEVELS = 'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations';
/** Objects written at a time at the start. */
const WORKERS = 16;

const timestamp = (host: Host): string => `${new Date(host.now()).toISOString().slice(0, 19)}Z`;

/** Objects that clients and tools find on every server: priority classes, flow schemas and their levels, the local API services. */
class SystemObjects implements Controller {
  readonly name = NAME;
  readonly #host: Host;
  readonly #requests: Requests;
  readonly #objects: ReadonlyMap<string, ApiObject>;
  readonly #queue: WorkQueue;

  constructor(host: Host, groups: readonly ServedGroup[]) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#objects = new Map(
      [...systemObjectsOf(host.naming), ...apiServices(groups, host.naming, timestamp(host))].map(({ storageName, object }) => [
        `${storageName}/${object.metadata.name}`,
        object,
      ]),
    );
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: WORKERS, handle: key => this.#process(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(({ storageName, type, name }) => {
      const key = `${storageName}/${name}`;
      if (type === 'DELETED' && this.#objects.has(key)) this.#queue.add(key);
      if (storageName === SCHEMAS && type !== 'DELETED') this.#queue.add(key);
      if (storageName === LEVELS && type !== 'MODIFIED') this.#judgeAll();
    });
    for (const key of this.#objects.keys()) this.#queue.add(key);
    await this.#queue.idle();
  }

  #judgeAll(): void {
    for (const schema of this.#host.informer(SCHEMAS).list()) this.#queue.add(`${SCHEMAS}/${schema.metadata.name}`);
  }

  async #process(key: string): Promise<void> {
    const slash = key.lastIndexOf('/');
    const [storageName, name] = [key.slice(0, slash), key.slice(slash + 1)];
    const wanted = this.#objects.get(key);
    if (wanted && !this.#host.informer(storageName).get('', name)) await this.#create(storageName, wanted);
    if (storageName === SCHEMAS) await this.#judge(name);
  }

  async #create(storageName: string, object: ApiObject): Promise<void> {
    const path = this.#path(storageName, object.apiVersion);
    const made = await this.#requests.create(path, object);
    if (made && object['status'])
      await this.#requests.merge(`${path}/${made.metadata.name}/status`, { status: object['status'] });
  }

  /** Says in the status of a flow schema whether the level it names exists. */
  async #judge(name: string): Promise<void> {
    const schema = this.#host.informer(SCHEMAS).get('', name);
    if (!schema || schema.metadata.deletionTimestamp) return;
    const level = (schema['spec'] as { priorityLevelConfiguration: { name: string } }).priorityLevelConfiguration.name;
    const found = this.#host.informer(LEVELS).get('', level) !== undefined;
    const { conditions = [] } = (schema['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
    const status = found ? 'False' : 'True';
    if (conditions.some(condition => condition.type === 'Dangling' && condition.status === status)) return;
    const dangling = {
      type: 'Dangling',
      status,
      reason: found ? 'Found' : 'NotFound',
      message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} and ${found ? 'it exists' : 'there is no such object'}`,
      lastTransitionTime: timestamp(this.#host),
    };
    const others = conditions.filter(condition => condition.type !== 'Dangling');
    await this.#requests.merge(`${this.#path(SCHEMAS, schema.apiVersion)}/${name}/status`, {
      metadata: { uid: schema.metadata.uid },
      status: { conditions: [...others, dangling] },
    });
  }

  #path(storageName: string, apiVersion: string): string {
    return `/apis/${this.#host.naming.apiVersion(apiVersion)}/${storageName.slice(storageName.indexOf('/') + 1)}`;
  }
}

/** Checks `{ groups: [{ group, priority, versions }] }`, which the server fills from its registry. */
function parse(config: unknown): { groups: readonly ServedGroup[] } {
  const groups = (config as { groups?: unknown } | undefined)?.groups;
  if (!Array.isArray(groups)) throw new ConfigError('config.groups', 'must be a list of served groups');
  return { groups };
}

/** Creates the objects of the system at the start, and again when one is deleted. */
export const systemObjects = {
  name: 'controllers/system-objects',
  parse,
  contribute: ({ groups }) => [controller.of(host => new SystemObjects(host, groups))],
} satisfies Plugin<{ groups: readonly ServedGroup[] }>;
