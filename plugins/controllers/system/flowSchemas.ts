import { reconciler, timestamp, withCondition } from '../../../core/api/index.js';
import { unlessRefused } from '../requests.js';

const SCHEMAS = 'flowcontrol.apiserver.orchestrator.io/flowschemas';
const LEVELS = 'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations';
/** The manager of the condition, which is upstream's: the part of the server that uses flow schemas. */
const MANAGER = 'api-priority-and-fairness-config-consumer-v1';
const DANGLING = 'Dangling';

/** Maintains the condition Dangling of flow schemas: whether their priority level exists. */
export const flowSchemaStatus = reconciler({
  name: 'flow-schema-status',
  for: SCHEMAS,
  watches: [
    {
      resource: LEVELS,
      keys: ({ type }, { list }) => (type === 'MODIFIED' ? [] : list(SCHEMAS).map(({ metadata }) => metadata)),
    },
  ],
  concurrency: 4,
  async reconcile(_key, { object: schema, get, client, now }) {
    if (!schema || schema.metadata.deletionTimestamp) return;
    const level = schema.spec.priorityLevelConfiguration.name;
    const found = get(LEVELS, { name: level }) !== undefined;
    const current = (schema.status?.conditions ?? []).filter(({ type }) => type === DANGLING);
    const update = {
      type: DANGLING,
      status: found ? 'False' : 'True',
      reason: found ? 'Found' : 'NotFound',
      message:
        `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ` +
        (found ? 'and it exists' : 'but there is no such object'),
    };
    const conditions = withCondition(current, update, timestamp(now()));
    if (conditions === current) return;
    const { name, uid } = schema.metadata;
    const options = { fieldManager: MANAGER, subresource: 'status' };
    await unlessRefused(
      'NotFound',
      client.resource<string>(SCHEMAS).apply({ metadata: { name, uid }, status: { conditions } }, options),
    );
  },
});
