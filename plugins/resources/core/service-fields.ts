import { absent, entries, get, into, list, num, type Rec, same, strings, text } from '../record.js';

/** Types of Services that have cluster addresses. */
export const hasClusterIP = (spec: Rec | undefined): boolean =>
  ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(text(spec, 'type') || 'ClusterIP');

/** Services whose ports also listen on nodes. */
export const hasNodePorts = (spec: Rec | undefined): boolean => {
  const type = text(spec, 'type');
  return type === 'NodePort' || (type === 'LoadBalancer' && get(spec, 'allocateLoadBalancerNodePorts') !== false);
};

/** Services that may be reached from outside the cluster. */
export const isExternal = (spec: Rec | undefined): boolean => {
  const type = text(spec, 'type');
  return (
    type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && strings(spec, 'externalIPs').length > 0)
  );
};

/** Services that need a node port for health checks of their own. */
export const hasHealthPort = (spec: Rec | undefined): boolean =>
  text(spec, 'type') === 'LoadBalancer' && text(spec, 'externalTrafficPolicy') === 'Local';

/** True for `clusterIP: None`. */
export const isHeadless = (spec: Rec | undefined): boolean =>
  text(spec, 'clusterIP') === 'None' || strings(spec, 'clusterIPs')[0] === 'None';

/** Clients may send the one address in either field; both are made to agree where that is what was meant. */
export function agreeOnAddresses(spec: Rec, old: Rec | undefined): void {
  const [now, nowAll] = [text(spec, 'clusterIP'), strings(spec, 'clusterIPs')];
  if (!old) {
    if (now !== '' && nowAll.length === 0) spec.clusterIPs = [now];
    return;
  }
  const [before, unchanged] = [text(old, 'clusterIP'), same(nowAll, strings(old, 'clusterIPs'))];
  if (before !== '' && now === '' && unchanged) delete spec.clusterIPs;
  else if (now !== before && now !== '' && unchanged) spec.clusterIPs = [now];
  else if (now !== '' && nowAll.length === 0 && now !== before) spec.clusterIPs = [now];
}

/** An update that leaves out what was given out keeps it. */
export function keepAllocated(spec: Rec, old: Rec): void {
  if (hasClusterIP(spec) && hasClusterIP(old)) {
    if (text(spec, 'clusterIP') === '') spec.clusterIP = old.clusterIP;
    if (strings(spec, 'clusterIPs').length === 0 && spec.clusterIP === old.clusterIP) spec.clusterIPs = old.clusterIPs;
    for (const member of ['ipFamilies', 'ipFamilyPolicy']) if (absent(spec[member])) spec[member] = old[member];
  }
  if (hasNodePorts(spec) && hasNodePorts(old)) keepNodePorts(spec, old);
  if (hasHealthPort(spec) && hasHealthPort(old) && !spec.healthCheckNodePort)
    spec.healthCheckNodePort = old.healthCheckNodePort;
}

const portKey = (port: Rec): string => `${text(port, 'protocol')}/${String(port.port)}`;

function keepNodePorts(spec: Rec, old: Rec): void {
  const before = new Map(list(old, 'ports').map(port => [portKey(port), num(port, 'nodePort')]));
  const asked = new Set(list(spec, 'ports').map(port => `${text(port, 'protocol')}/${String(port.nodePort)}`));
  for (const port of list(spec, 'ports')) {
    const kept = before.get(portKey(port));
    if (!port.nodePort && kept && !asked.has(`${text(port, 'protocol')}/${kept}`)) port.nodePort = kept;
  }
}

/** After a change of type, what only the old type had is dropped unless the client changed it in the same write. */
export function dropForeignFields(spec: Rec, old: Rec): void {
  const drop = (has: (spec: Rec) => boolean, ...members: string[]): void => {
    if (!has(old) || has(spec)) return;
    for (const member of members) if (same(spec[member], old[member])) delete spec[member];
  };
  const isBalancer = (s: Rec): boolean => text(s, 'type') === 'LoadBalancer';
  drop(hasClusterIP, 'clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy');
  drop(isBalancer, 'allocateLoadBalancerNodePorts', 'loadBalancerClass');
  drop(hasHealthPort, 'healthCheckNodePort');
  drop(isExternal, 'externalTrafficPolicy');
  if (hasNodePorts(old) && !hasNodePorts(spec)) dropNodePorts(spec, old);
}

function dropNodePorts(spec: Rec, old: Rec): void {
  const before = new Set(list(old, 'ports').map(port => port.nodePort));
  for (const port of list(spec, 'ports')) if (before.has(port.nodePort)) delete port.nodePort;
}

/** Fills `ipFamilies` and `ipFamilyPolicy` of a server with IPv4 only. */
export function fillFamilies(spec: Rec): void {
  if (!hasClusterIP(spec)) return;
  const unselected = isHeadless(spec) && entries(spec, 'selector').length === 0;
  if (absent(spec.ipFamilyPolicy)) spec.ipFamilyPolicy = unselected ? 'RequireDualStack' : 'SingleStack';
  const families = strings(spec, 'ipFamilies');
  if (families.length === 0) families.push('IPv4');
  if (unselected && families.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4');
  }
  spec.ipFamilies = families;
}

/** Defaults of a Service's spec (spec, "Service"). */
export function serviceDefaults(spec: Rec): void {
  if (text(spec, 'sessionAffinity') === '') spec.sessionAffinity = 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const config = into(into(spec, 'sessionAffinityConfig'), 'clientIP');
    if (absent(config.timeoutSeconds)) config.timeoutSeconds = 10800;
  }
  if (text(spec, 'type') === '') spec.type = 'ClusterIP';
  for (const port of list(spec, 'ports')) {
    if (text(port, 'protocol') === '') port.protocol = 'TCP';
    if (absent(port.targetPort) || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternal(spec) && text(spec, 'externalTrafficPolicy') === '') spec.externalTrafficPolicy = 'Cluster';
  if (hasClusterIP(spec) && absent(spec.internalTrafficPolicy)) spec.internalTrafficPolicy = 'Cluster';
  if (spec.type === 'LoadBalancer' && absent(spec.allocateLoadBalancerNodePorts))
    spec.allocateLoadBalancerNodePorts = true;
}
