import type { Controller, Host, ResourceEvent } from '../../../core/api/index.js';
import { pathOf } from '../catalog.js';
import { type Condition, withCondition } from '../conditions.js';
import { WorkQueue } from '../queue.js';
import { Requests, timestamp } from '../requests.js';

const NAME = 'flow-schema-status';
const SCHEMAS = 'flowcontrol.apiserver.orchestrator.io/flowschemas';
const LEVELS = 'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations';

/** Maintains the condition Dangling of flow schemas: whether their priority level exists. */
export class FlowSchemaStatus implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  /** The names of all flow schemas. */
  readonly #schemas = new Set<string>();

  constructor(host: Host<'control'>) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 4, handle: name => this.#updateStatus(name) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe({ storageName, type, name }: ResourceEvent): void {
    if (storageName === LEVELS && type !== 'MODIFIED') for (const schema of this.#schemas) this.#queue.add(schema);
    if (storageName !== SCHEMAS) return;
    if (type === 'DELETED') this.#schemas.delete(name);
    else this.#schemas.add(name);
    this.#queue.add(name);
  }

  async #updateStatus(name: string): Promise<void> {
    const schema = this.#host.informer(SCHEMAS).get('', name);
    if (!schema || schema.metadata.deletionTimestamp) return;
    const level = (schema['spec'] as { priorityLevelConfiguration: { name: string } }).priorityLevelConfiguration.name;
    const found = this.#host.informer(LEVELS).get('', level) !== undefined;
    const current = (schema['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
    const update = {
      type: 'Dangling',
      status: found ? 'False' : 'True',
      reason: found ? 'Found' : 'NotFound',
      message:
        `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ` +
        (found ? 'and it exists' : 'but there is no such object'),
    };
    const conditions = withCondition(current, update, timestamp(this.#host));
    if (conditions === current) return;
    const apiVersion = this.#host.naming.apiVersion(schema.apiVersion);
    await this.#requests.merge(`${pathOf({ apiVersion, plural: 'flowschemas' }, '', name)}/status`, {
      metadata: { uid: schema.metadata.uid },
      status: { conditions },
    });
  }
}
