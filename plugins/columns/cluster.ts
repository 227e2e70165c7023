import type { Column } from '../../core/api/strategy.js';
import type { Naming } from '../../core/naming.js';
import {
  AGE,
  at,
  type Cell,
  column,
  condition,
  count,
  entries,
  humanDuration,
  integer,
  list,
  member,
  NAME,
  num,
  shortList,
  since,
  str,
  text,
  wide,
} from './cells.js';

const nodeStatus: Cell = node => {
  const ready = condition(node, 'Ready');
  const state = ready === undefined ? 'Unknown' : member(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${state},SchedulingDisabled` : state;
};

/** Roles by both conventions of labelling them. */
const nodeRoles = (naming: Naming): Cell => {
  const prefix = naming.label('node-role.orchestrator.io/role').replace(/role$/, '');
  const single = naming.label('orchestrator.io/role');
  return node => {
    const roles = new Set<string>();
    for (const [key, value] of entries(node.metadata.labels)) {
      if (key.startsWith(prefix) && key.length > prefix.length) roles.add(key.slice(prefix.length));
      else if (key === single && str(value) !== '') roles.add(str(value));
    }
    return [...roles].sort().join(',') || '<none>';
  };
};

const nodeAddress =
  (type: string): Cell =>
  node =>
    str(
      member(
        list(at(node, 'status', 'addresses')).find(address => member(address, 'type') === type),
        'address',
      ),
    ) || '<none>';

const eventObject: Cell = event => {
  const about = member(event, 'involvedObject') ?? member(event, 'regarding');
  const kind = str(member(about, 'kind')).toLowerCase();
  const name = str(member(about, 'name'));
  return name === '' ? kind : `${kind}/${name}`;
};

const eventSource: Cell = event => {
  const source = member(event, 'source') ?? member(event, 'deprecatedSource');
  const component =
    str(member(source, 'component')) ||
    str(member(event, 'reportingComponent')) ||
    str(member(event, 'reportingController'));
  const host = str(member(source, 'host')) || str(member(event, 'reportingInstance'));
  return host === '' ? component : `${component}, ${host}`;
};

const firstOf = (event: unknown, ...names: readonly string[]): unknown =>
  names.map(name => member(event, name)).find(value => value !== undefined && value !== null && value !== '');

/** A series of events goes before what the event itself says. */
const seriesOf = (event: unknown): unknown => member(event, 'series') ?? undefined;

const lastSeen: Cell = (event, now) =>
  since(
    seriesOf(event) === undefined
      ? firstOf(
          event,
          'lastTimestamp',
          'deprecatedLastTimestamp',
          'firstTimestamp',
          'deprecatedFirstTimestamp',
          'eventTime',
        )
      : at(event, 'series', 'lastObservedTime'),
    now,
  );

const eventCount: Cell = event =>
  seriesOf(event) === undefined
    ? num(firstOf(event, 'count', 'deprecatedCount')) || 1
    : num(at(event, 'series', 'count'));

const EVENTS: readonly Column[] = [
  column('Last Seen', lastSeen),
  column('Type', text('type')),
  column('Reason', text('reason')),
  column('Object', eventObject),
  wide('Subobject', event => str(at(event, 'involvedObject', 'fieldPath') ?? at(event, 'regarding', 'fieldPath'))),
  wide('Source', eventSource),
  column('Message', event => str(firstOf(event, 'message', 'note')).trim()),
  wide('First Seen', (event, now) =>
    since(firstOf(event, 'firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime'), now),
  ),
  wide('Count', eventCount),
  column('Name', text('metadata.name'), { format: 'name', wide: true, description: NAME.description }),
];

const roleRef: Cell = binding => `${str(at(binding, 'roleRef', 'kind'))}/${str(at(binding, 'roleRef', 'name'))}`;

const subjects =
  (kind: string): Cell =>
  binding =>
    list(member(binding, 'subjects'))
      .filter(subject => member(subject, 'kind') === kind)
      .map(subject => {
        const name = str(member(subject, 'name'));
        return kind === 'ServiceAccount' ? `${str(member(subject, 'namespace'))}/${name}` : name;
      })
      .join(', ');

const BINDINGS: readonly Column[] = [
  NAME,
  column('Role', roleRef),
  AGE,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

const requestCondition: Cell = request => {
  const decided = ['Denied', 'Approved'].find(type => condition(request, type) !== undefined) ?? 'Pending';
  const failed = condition(request, 'Failed') === undefined ? '' : ',Failed';
  return `${decided}${failed}${str(at(request, 'status', 'certificate')) === '' ? '' : ',Issued'}`;
};

const requestedDuration: Cell = request => {
  const seconds = at(request, 'spec', 'expirationSeconds');
  return typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>';
};

const healthy =
  (name: string): Cell =>
  (component: unknown) =>
    str(
      member(
        list(member(component, 'conditions')).find(entry => member(entry, 'type') === 'Healthy'),
        name,
      ),
    );

const componentStatus: Cell = (component, now) => {
  const status = healthy('status')(component, now);
  if (status === '') return 'Unknown';
  return status === 'True' ? 'Healthy' : 'Unhealthy';
};

const serviceTarget: Cell = service => {
  const target = at(service, 'spec', 'service');
  return target === undefined || target === null
    ? 'Local'
    : `${str(member(target, 'namespace'))}/${str(member(target, 'name'))}`;
};

const serviceAvailable: Cell = service => {
  const available = condition(service, 'Available');
  if (available === undefined) return 'Unknown';
  const status = str(member(available, 'status'));
  const reason = str(member(available, 'reason'));
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
};

const paramKind: Cell = policy => {
  const kind = at(policy, 'spec', 'paramKind');
  return kind === undefined || kind === null
    ? '<unset>'
    : `${str(member(kind, 'apiVersion'))}/${str(member(kind, 'kind'))}`;
};

/**
 * A LabelSelector in the notation that Go's generated types print themselves in, which is what clients of this column
 * see.
 */
function selectorDump(selector: unknown): string {
  const labels = entries(member(selector, 'matchLabels')).map(([key, value]) => `${key}: ${str(value)},`);
  const expressions = list(member(selector, 'matchExpressions')).map(expression => {
    const [key, operator] = ['key', 'operator'].map(name => str(member(expression, name)));
    const values = list(member(expression, 'values')).map(str).join(' ');
    return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

const paramRef: Cell = binding => {
  const reference = at(binding, 'spec', 'paramRef');
  if (reference === undefined || reference === null) return '<unset>';
  const namespace = str(member(reference, 'namespace'));
  const name = str(member(reference, 'name'));
  // Whether the parameter has a namespace is not known here.
  if (name !== '') return `${namespace || '*'}/${name}`;
  return member(reference, 'selector') === undefined ? '<unset>' : selectorDump(member(reference, 'selector'));
};

const shares: Cell = level => {
  const given =
    at(level, 'spec', 'limited', 'nominalConcurrencyShares') ?? at(level, 'spec', 'exempt', 'nominalConcurrencyShares');
  return at(level, 'spec', 'type') === 'Limited' && typeof given === 'number' ? given : '<none>';
};

const queuing = (name: string): Cell => integer(`spec.limited.limitResponse.queuing.${name}`, '<none>');

const storageVersions: Cell = object =>
  shortList(
    list(at(object, 'status', 'storageVersions')).map(
      entry => `${str(member(entry, 'apiServerID'))}=${str(member(entry, 'encodingVersion'))}`,
    ),
    3,
    '<unset>',
  );

const counted = (name: string, path: string): Column => column(name, count(path), { type: 'integer' });

const admission = (of: string, path: string): readonly Column[] => [
  NAME,
  counted(of, path),
  column('ParamKind', paramKind),
  AGE,
];

const ADMISSION_BINDINGS: readonly Column[] = [
  NAME,
  column('PolicyName', text('spec.policyName')),
  column('ParamRef', paramRef),
  AGE,
];

const FLOW_SCHEMAS: readonly Column[] = [
  NAME,
  column('PriorityLevel', text('spec.priorityLevelConfiguration.name')),
  column('MatchingPrecedence', integer('spec.matchingPrecedence')),
  column('DistinguisherMethod', text('spec.distinguisherMethod.type', '<none>')),
  AGE,
  column('MissingPL', object => str(member(condition(object, 'Dangling'), 'status')) || '?'),
];

const PRIORITY_LEVELS: readonly Column[] = [
  NAME,
  column('Type', text('spec.type')),
  column('NominalConcurrencyShares', shares),
  column('Queues', queuing('queues')),
  column('HandSize', queuing('handSize')),
  column('QueueLengthLimit', queuing('queueLengthLimit')),
  AGE,
];

/** Columns of kinds of the cluster itself, by storage name. Labels are read in the server's naming. */
export const clusterColumns = (naming: Naming): ReadonlyMap<string, readonly Column[]> =>
  new Map<string, readonly Column[]>([
    [
      'core/nodes',
      [
        NAME,
        column('Status', nodeStatus),
        column('Roles', nodeRoles(naming)),
        AGE,
        column('Version', text('status.nodeInfo.kubeletVersion')),
        wide('Internal-IP', nodeAddress('InternalIP')),
        wide('External-IP', nodeAddress('ExternalIP')),
        wide('OS-Image', text('status.nodeInfo.osImage', '<unknown>')),
        wide('Kernel-Version', text('status.nodeInfo.kernelVersion', '<unknown>')),
        wide('Container-Runtime', text('status.nodeInfo.containerRuntimeVersion', '<unknown>')),
      ],
    ],
    ['core/namespaces', [NAME, column('Status', text('status.phase')), AGE]],
    ['core/configmaps', [NAME, column('Data', count('data', 'binaryData')), AGE]],
    ['core/secrets', [NAME, column('Type', text('type')), column('Data', count('data')), AGE]],
    ['core/serviceaccounts', [NAME, column('Secrets', count('secrets')), AGE]],
    ['core/events', EVENTS],
    [
      'core/componentstatuses',
      [
        NAME,
        column('Status', componentStatus),
        column('Message', healthy('message')),
        column('Error', healthy('error')),
      ],
    ],
    ['rbac.authorization.orchestrator.io/rolebindings', BINDINGS],
    ['rbac.authorization.orchestrator.io/clusterrolebindings', BINDINGS],
    [
      'certificates.orchestrator.io/certificatesigningrequests',
      [
        NAME,
        AGE,
        column('SignerName', text('spec.signerName', '<none>')),
        column('Requestor', text('spec.username')),
        column('RequestedDuration', requestedDuration),
        column('Condition', requestCondition),
      ],
    ],
    [
      'certificates.orchestrator.io/clustertrustbundles',
      [NAME, column('SignerName', text('spec.signerName', '<none>'))],
    ],
    [
      'apiregistration.orchestrator.io/apiservices',
      [NAME, column('Service', serviceTarget), column('Available', serviceAvailable), AGE],
    ],
    [
      'admissionregistration.orchestrator.io/mutatingwebhookconfigurations',
      [NAME, counted('Webhooks', 'webhooks'), AGE],
    ],
    [
      'admissionregistration.orchestrator.io/validatingwebhookconfigurations',
      [NAME, counted('Webhooks', 'webhooks'), AGE],
    ],
    ['admissionregistration.orchestrator.io/validatingadmissionpolicies', admission('Validations', 'spec.validations')],
    ['admissionregistration.orchestrator.io/mutatingadmissionpolicies', admission('Mutations', 'spec.mutations')],
    ['admissionregistration.orchestrator.io/validatingadmissionpolicybindings', ADMISSION_BINDINGS],
    ['admissionregistration.orchestrator.io/mutatingadmissionpolicybindings', ADMISSION_BINDINGS],
    ['coordination.orchestrator.io/leases', [NAME, column('Holder', text('spec.holderIdentity')), AGE]],
    [
      'coordination.orchestrator.io/leasecandidates',
      [
        NAME,
        column('LeaseName', text('spec.leaseName')),
        column('BinaryVersion', text('spec.binaryVersion')),
        column('EmulationVersion', text('spec.emulationVersion')),
        column('PreferredStrategy', text('spec.strategy')),
        AGE,
      ],
    ],
    ['node.orchestrator.io/runtimeclasses', [NAME, column('Handler', text('handler')), AGE]],
    // The group has two neutral spellings: its own and the one derived from the upstream name.
    ...['flowcontrol.orchestrator.io', 'flowcontrol.apiserver.orchestrator.io'].flatMap(
      (group): [string, readonly Column[]][] => [
        [`${group}/flowschemas`, FLOW_SCHEMAS],
        [`${group}/prioritylevelconfigurations`, PRIORITY_LEVELS],
      ],
    ),
    [
      'internal.apiserver.orchestrator.io/storageversions',
      [
        NAME,
        column('CommonEncodingVersion', text('status.commonEncodingVersion', '<unset>')),
        column('StorageVersions', storageVersions),
        AGE,
      ],
    ],
  ]);
