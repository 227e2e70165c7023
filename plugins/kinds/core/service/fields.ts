import {
  ensureRecord,
  entriesAt,
  isAbsent,
  isSemanticallyEqual,
  numberAt,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
  valueAt,
} from '../../../../core/model/record.js';

/** Whether the type has cluster addresses. */
export const hasClusterIP = (spec: UnknownRecord | undefined): boolean =>
  ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(stringAt(spec, 'type') || 'ClusterIP');

/** Whether the ports also listen on nodes. */
export const hasNodePorts = (spec: UnknownRecord | undefined): boolean => {
  const type = stringAt(spec, 'type');
  return type === 'NodePort' || (type === 'LoadBalancer' && valueAt(spec, 'allocateLoadBalancerNodePorts') !== false);
};

/** Whether the Service can be reached from outside the cluster. */
export const isExternal = (spec: UnknownRecord | undefined): boolean => {
  const type = stringAt(spec, 'type');
  return (
    type === 'NodePort' ||
    type === 'LoadBalancer' ||
    (type === 'ClusterIP' && stringsAt(spec, 'externalIPs').length > 0)
  );
};

/** Whether the Service needs a node port of its own for health checks. */
export const hasHealthPort = (spec: UnknownRecord | undefined): boolean =>
  stringAt(spec, 'type') === 'LoadBalancer' && stringAt(spec, 'externalTrafficPolicy') === 'Local';

/** Whether the Service has no address: `clusterIP: None`. */
export const isHeadless = (spec: UnknownRecord | undefined): boolean =>
  stringAt(spec, 'clusterIP') === 'None' || stringsAt(spec, 'clusterIPs')[0] === 'None';

/** Clients may set the address in `clusterIP` or in `clusterIPs`: if only one was set or changed, sets the other. */
export function alignAddresses(spec: UnknownRecord, old: UnknownRecord | undefined): void {
  const [now, nowAll] = [stringAt(spec, 'clusterIP'), stringsAt(spec, 'clusterIPs')];
  if (!old) {
    if (now !== '' && nowAll.length === 0) spec.clusterIPs = [now];
    return;
  }
  const [before, unchanged] = [stringAt(old, 'clusterIP'), isSemanticallyEqual(nowAll, stringsAt(old, 'clusterIPs'))];
  if (before !== '' && now === '' && unchanged) delete spec.clusterIPs;
  else if (now !== before && now !== '' && unchanged) spec.clusterIPs = [now];
  else if (now !== '' && nowAll.length === 0 && now !== before) spec.clusterIPs = [now];
}

/** Keeps allocated values that an update omits. */
export function keepAllocated(spec: UnknownRecord, old: UnknownRecord): void {
  if (hasClusterIP(spec) && hasClusterIP(old)) {
    if (stringAt(spec, 'clusterIP') === '') spec.clusterIP = old.clusterIP;
    if (stringsAt(spec, 'clusterIPs').length === 0 && spec.clusterIP === old.clusterIP)
      spec.clusterIPs = old.clusterIPs;
    for (const member of ['ipFamilies', 'ipFamilyPolicy']) if (isAbsent(spec[member])) spec[member] = old[member];
  }
  if (hasNodePorts(spec) && hasNodePorts(old)) keepNodePorts(spec, old);
  if (hasHealthPort(spec) && hasHealthPort(old) && !spec.healthCheckNodePort)
    spec.healthCheckNodePort = old.healthCheckNodePort;
}

const portKey = (port: UnknownRecord): string => `${stringAt(port, 'protocol')}/${String(port.port)}`;

function keepNodePorts(spec: UnknownRecord, old: UnknownRecord): void {
  const before = new Map(recordsAt(old, 'ports').map(port => [portKey(port), numberAt(port, 'nodePort')]));
  const asked = new Set(recordsAt(spec, 'ports').map(port => `${stringAt(port, 'protocol')}/${String(port.nodePort)}`));
  for (const port of recordsAt(spec, 'ports')) {
    const kept = before.get(portKey(port));
    if (!port.nodePort && kept && !asked.has(`${stringAt(port, 'protocol')}/${kept}`)) port.nodePort = kept;
  }
}

/**
 * After a change of the type, removes fields that only the old type has, unless the client changed them in the same
 * write.
 */
export function dropFieldsOfOldType(spec: UnknownRecord, old: UnknownRecord): void {
  const drop = (has: (spec: UnknownRecord) => boolean, ...members: string[]): void => {
    if (!has(old) || has(spec)) return;
    for (const member of members) if (isSemanticallyEqual(spec[member], old[member])) delete spec[member];
  };
  const isBalancer = (source: UnknownRecord): boolean => stringAt(source, 'type') === 'LoadBalancer';
  drop(hasClusterIP, 'clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy');
  drop(isBalancer, 'allocateLoadBalancerNodePorts', 'loadBalancerClass');
  drop(hasHealthPort, 'healthCheckNodePort');
  drop(isExternal, 'externalTrafficPolicy');
  if (hasNodePorts(old) && !hasNodePorts(spec)) dropNodePorts(spec, old);
}

function dropNodePorts(spec: UnknownRecord, old: UnknownRecord): void {
  const before = new Set(recordsAt(old, 'ports').map(port => port.nodePort));
  for (const port of recordsAt(spec, 'ports')) if (before.has(port.nodePort)) delete port.nodePort;
}

/** Sets `ipFamilies` and `ipFamilyPolicy` for an IPv4 cluster. */
export function setFamilies(spec: UnknownRecord): void {
  if (!hasClusterIP(spec)) return;
  const unselected = isHeadless(spec) && entriesAt(spec, 'selector').length === 0;
  if (isAbsent(spec.ipFamilyPolicy)) spec.ipFamilyPolicy = unselected ? 'RequireDualStack' : 'SingleStack';
  const families = stringsAt(spec, 'ipFamilies');
  if (families.length === 0) families.push('IPv4');
  if (unselected && families.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4');
  }
  spec.ipFamilies = families;
}

/** Sets the defaults of the spec of a Service. */
export function setServiceDefaults(spec: UnknownRecord): void {
  if (stringAt(spec, 'sessionAffinity') === '') spec.sessionAffinity = 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const config = ensureRecord(ensureRecord(spec, 'sessionAffinityConfig'), 'clientIP');
    if (isAbsent(config.timeoutSeconds)) config.timeoutSeconds = 10800;
  }
  if (stringAt(spec, 'type') === '') spec.type = 'ClusterIP';
  for (const port of recordsAt(spec, 'ports')) {
    if (stringAt(port, 'protocol') === '') port.protocol = 'TCP';
    if (isAbsent(port.targetPort) || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternal(spec) && stringAt(spec, 'externalTrafficPolicy') === '') spec.externalTrafficPolicy = 'Cluster';
  if (hasClusterIP(spec) && isAbsent(spec.internalTrafficPolicy)) spec.internalTrafficPolicy = 'Cluster';
  if (spec.type === 'LoadBalancer' && isAbsent(spec.allocateLoadBalancerNodePorts))
    spec.allocateLoadBalancerNodePorts = true;
}

/** Removes a valid traffic policy from a new Service without a cluster address, which has no use for it. */
export function dropUnusedPolicy(spec: UnknownRecord): void {
  if (spec.type === 'ExternalName' && ['Cluster', 'Local'].includes(stringAt(spec, 'internalTrafficPolicy')))
    delete spec.internalTrafficPolicy;
}
