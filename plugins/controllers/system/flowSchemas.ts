import { reconciler, timestamp, withCondition } from '../../../core/api/index.js';

const SCHEMAS = 'flowcontrol.apiserver.orchestrator.io/flowschemas';
const LEVELS = 'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations';

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
  async reconcile(key, { object: schema, get, client, now }) {
    if (!schema || schema.metadata.deletionTimestamp) return;
    const level = schema.spec.priorityLevelConfiguration.name;
    const found = get(LEVELS, { name: level }) !== undefined;
    const current = schema.status?.conditions ?? [];
    const update = {
      type: 'Dangling',
      status: found ? 'False' : 'True',
      reason: found ? 'Found' : 'NotFound',
      message:
        `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ` +
        (found ? 'and it exists' : 'but there is no such object'),
    };
    const conditions = withCondition(current, update, timestamp(now()));
    if (conditions === current) return;
    const patch = { metadata: { uid: schema.metadata.uid }, status: { conditions } };
    await client.resource(SCHEMAS).patch(key, patch, { subresource: 'status' });
  },
});
