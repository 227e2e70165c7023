import type { ServiceSpec } from '../../../../kinds/v1.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';

/** Whether the type has cluster addresses. */
const hasClusterIP = (spec: ServiceSpec | undefined): boolean =>
  ['ClusterIP', 'NodePort', 'LoadBalancer'].includes((spec?.type ?? '') || 'ClusterIP');

/** Whether the Service is a name for something outside of the cluster, and has no addresses. */
export const isNamed = (spec: ServiceSpec): boolean => spec.type === 'ExternalName';

/** Whether the ports can also listen on nodes. */
export const hasNodePorts = (spec: ServiceSpec): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';

/** Whether ports without a node port get one. */
export const allocatesNodePorts = (spec: ServiceSpec): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

/** Whether the Service can be reached from outside the cluster. */
export const isExternal = (spec: ServiceSpec): boolean => {
  const type = spec.type ?? '';
  return (
    type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)
  );
};

/** Whether the Service needs a node port of its own for health checks. */
export const hasHealthPort = (spec: ServiceSpec | undefined): boolean =>
  (spec?.type ?? '') === 'LoadBalancer' && (spec?.externalTrafficPolicy ?? '') === 'Local';

/** Whether the Service has no address: `clusterIP: None`. */
export const isHeadless = ({ clusterIPs }: ServiceSpec): boolean =>
  clusterIPs?.length === 1 && clusterIPs[0] === 'None';

/** Clients may set the address in `clusterIP` or in `clusterIPs`: if only one was set or changed, sets the other. */
export function alignAddresses(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  const [now, nowAll] = [spec.clusterIP ?? '', spec.clusterIPs ?? []];
  if (!old) {
    if (now !== '' && nowAll.length === 0) spec.clusterIPs = [now];
    return;
  }
  const [before, unchanged] = [old.clusterIP ?? '', isSemanticallyEqual(nowAll, old.clusterIPs ?? [])];
  if (before !== '' && now === '' && unchanged) delete spec.clusterIPs;
  else if (now !== before && now !== '' && unchanged) spec.clusterIPs = [now];
  else if (now !== '' && nowAll.length === 0 && now !== before && !isNamed(spec)) spec.clusterIPs = [now];
}

/** Keeps allocated values that an update omits. */
export function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (!isNamed(spec) && !isNamed(old)) {
    if ((spec.clusterIP ?? '') === '') spec.clusterIP = old.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === old.clusterIP)
      spec.clusterIPs = [...(old.clusterIPs ?? [])];
  }
  if (allocatesNodePorts(spec) && allocatesNodePorts(old)) keepNodePorts(spec, old);
  if (hasHealthPort(spec) && hasHealthPort(old) && !spec.healthCheckNodePort)
    spec.healthCheckNodePort = old.healthCheckNodePort;
}

const nodePortsOf = ({ ports }: ServiceSpec): Set<number | undefined> =>
  new Set((ports ?? []).map(port => port.nodePort).filter(port => port));

/** A port without a node port keeps the one that the port of the same name had, unless a port names that one now. */
function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const before = new Map((old.ports ?? []).map(port => [port.name ?? '', port.nodePort]));
  const [now, had] = [nodePortsOf(spec), nodePortsOf(old)];
  const used = new Set([...now].filter(port => had.has(port)));
  for (const port of spec.ports ?? []) {
    const kept = before.get(port.name ?? '');
    if (!port.nodePort && kept && !used.has(kept)) port.nodePort = kept;
  }
}

/**
 * After a change of the type, removes fields that only the old type has, unless the client changed them in the same
 * write.
 */
export function dropFieldsOfOldType(spec: ServiceSpec, old: ServiceSpec): void {
  const drop = (has: (spec: ServiceSpec) => boolean, ...members: (keyof ServiceSpec)[]): void => {
    if (!has(old) || has(spec)) return;
    for (const member of members) {
      const [now, before] = [spec[member], old[member]];
      // An empty text that is sent now differs from no text.
      if (isAbsent(now) === isAbsent(before) && isSemanticallyEqual(now, before)) delete spec[member];
    }
  };
  const isBalancer = (source: ServiceSpec): boolean => (source.type ?? '') === 'LoadBalancer';
  drop(source => !isNamed(source), 'clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy');
  drop(isBalancer, 'allocateLoadBalancerNodePorts', 'loadBalancerClass');
  drop(hasHealthPort, 'healthCheckNodePort');
  drop(isExternal, 'externalTrafficPolicy');
  if (hasNodePorts(old) && !hasNodePorts(spec)) dropNodePorts(spec, old);
}

/** Removes the node ports, unless there is one that the Service did not have. */
function dropNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const before = nodePortsOf(old);
  if ([...nodePortsOf(spec)].every(port => before.has(port))) for (const port of spec.ports ?? []) delete port.nodePort;
}

/** Sets the defaults of the spec of a Service. */
export function setServiceDefaults(spec: ServiceSpec): void {
  if ((spec.sessionAffinity ?? '') === '') spec.sessionAffinity = 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const config = ((spec.sessionAffinityConfig ??= {}).clientIP ??= {});
    if (isAbsent(config.timeoutSeconds)) config.timeoutSeconds = 10800;
  }
  if ((spec.type ?? '') === '') spec.type = 'ClusterIP';
  for (const port of spec.ports ?? []) {
    if ((port.protocol ?? '') === '') port.protocol = 'TCP';
    if (isAbsent(port.targetPort) || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternal(spec) && (spec.externalTrafficPolicy ?? '') === '') spec.externalTrafficPolicy = 'Cluster';
  if (hasClusterIP(spec) && isAbsent(spec.internalTrafficPolicy)) spec.internalTrafficPolicy = 'Cluster';
  if (spec.type === 'LoadBalancer' && isAbsent(spec.allocateLoadBalancerNodePorts))
    spec.allocateLoadBalancerNodePorts = true;
}

/** Removes a valid traffic policy from a Service without a cluster address, which has no use for it. */
export function dropUnusedPolicy(spec: ServiceSpec): void {
  if (spec.type === 'ExternalName' && ['Cluster', 'Local'].includes(spec.internalTrafficPolicy ?? ''))
    delete spec.internalTrafficPolicy;
}
