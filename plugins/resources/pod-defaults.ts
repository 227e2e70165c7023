import { absent, at, entries, fill, fillZero, get, into, isRec, list, type Rec, text } from './record.js';

/** The containers of a pod spec by the member that holds them, in the order validation names them. */
export const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** `latest` or no tag pulls always; everything else only when absent (spec, "Container": imagePullPolicy). */
function pullPolicyOf(image: string): string {
  if (image === '' || image.includes('@')) return 'IfNotPresent';
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function probeDefaults(probe: Rec): void {
  fillZero(probe, 'timeoutSeconds', 1);
  fillZero(probe, 'periodSeconds', 10);
  fillZero(probe, 'successThreshold', 1);
  fillZero(probe, 'failureThreshold', 3);
  handlerDefaults(probe);
}

function handlerDefaults(handler: Rec): void {
  const http = at(handler, 'httpGet');
  if (http) {
    fill(http, 'path', '/');
    fill(http, 'scheme', 'HTTP');
  }
  const grpc = at(handler, 'grpc');
  if (grpc && absent(grpc.service)) grpc.service = '';
}

function containerDefaults(container: Rec): void {
  fill(container, 'imagePullPolicy', pullPolicyOf(text(container, 'image')));
  fill(container, 'terminationMessagePath', '/dev/termination-log');
  fill(container, 'terminationMessagePolicy', 'File');
  for (const port of list(container, 'ports')) fill(port, 'protocol', 'TCP');
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const found = at(container, probe);
    if (found) probeDefaults(found);
  }
  for (const hook of ['postStart', 'preStop']) {
    const found = at(container, 'lifecycle', hook);
    if (found) handlerDefaults(found);
  }
  for (const variable of list(container, 'env')) {
    const fieldRef = at(variable, 'valueFrom', 'fieldRef');
    if (fieldRef) fill(fieldRef, 'apiVersion', 'v1');
    const resource = at(variable, 'valueFrom', 'resourceFieldRef');
    if (resource) fill(resource, 'divisor', '0');
  }
}

const VOLUME_DEFAULTS: { readonly [source: string]: (source: Rec) => void } = {
  secret: s => fill(s, 'defaultMode', 420),
  configMap: s => fill(s, 'defaultMode', 420),
  downwardAPI: s => {
    fill(s, 'defaultMode', 420);
    downwardDefaults(s);
  },
  projected: s => {
    fill(s, 'defaultMode', 420);
    for (const source of list(s, 'sources')) {
      const token = at(source, 'serviceAccountToken');
      if (token) fill(token, 'expirationSeconds', 3600);
      const downward = at(source, 'downwardAPI');
      if (downward) downwardDefaults(downward);
    }
  },
  hostPath: s => {
    if (absent(s.type)) s.type = '';
  },
  iscsi: s => fill(s, 'iscsiInterface', 'default'),
  rbd: s => {
    fill(s, 'pool', 'rbd');
    fill(s, 'user', 'admin');
    fill(s, 'keyring', '/etc/ceph/keyring');
  },
  azureDisk: s => {
    fill(s, 'cachingMode', 'ReadWrite');
    fill(s, 'fsType', 'ext4');
    fill(s, 'readOnly', false);
    fill(s, 'kind', 'Shared');
  },
  scaleIO: s => {
    fill(s, 'storageMode', 'ThinProvisioned');
    fill(s, 'fsType', 'xfs');
  },
  ephemeral: s => {
    const claim = at(s, 'volumeClaimTemplate', 'spec');
    if (claim) fill(claim, 'volumeMode', 'Filesystem');
  },
  image: () => undefined,
};

function downwardDefaults(source: Rec): void {
  for (const item of list(source, 'items')) {
    const field = at(item, 'fieldRef');
    if (field) fill(field, 'apiVersion', 'v1');
    const resource = at(item, 'resourceFieldRef');
    if (resource) fill(resource, 'divisor', '0');
  }
}

function imagePullPolicyOfVolume(image: Rec): void {
  fill(image, 'pullPolicy', pullPolicyOf(text(image, 'reference')));
}

/** Fills a source that volumes and persistent volumes share; `member` names it. */
export function volumeSourceDefaults(member: string, source: Rec): void {
  if (member === 'image') imagePullPolicyOfVolume(source);
  else if (Object.hasOwn(VOLUME_DEFAULTS, member)) VOLUME_DEFAULTS[member]?.(source);
}

function volumeDefaults(volume: Rec): void {
  const sources = Object.keys(volume).filter(key => key !== 'name' && isRec(volume[key]));
  if (sources.length === 0) volume.emptyDir = {};
  for (const member of sources) volumeSourceDefaults(member, into(volume, member));
}

/** Defaults of a pod spec, alike in pods and in the templates of workloads. */
export function podSpecDefaults(pod: Rec): void {
  fill(pod, 'dnsPolicy', 'ClusterFirst');
  fill(pod, 'restartPolicy', 'Always');
  fill(pod, 'terminationGracePeriodSeconds', 30);
  fill(pod, 'schedulerName', 'default-scheduler');
  into(pod, 'securityContext');
  serviceAccountAlias(pod);
  for (const member of CONTAINER_LISTS) {
    for (const container of list(pod, member)) {
      containerDefaults(container);
    }
  }
  for (const volume of list(pod, 'volumes')) volumeDefaults(volume);
  for (const spread of list(pod, 'topologySpreadConstraints')) fill(spread, 'whenUnsatisfiable', 'DoNotSchedule');
}

/** `serviceAccount` is the old name of `serviceAccountName`; both are kept equal, the new one wins. */
function serviceAccountAlias(pod: Rec): void {
  const name = text(pod, 'serviceAccountName') || text(pod, 'serviceAccount');
  if (name === '') return;
  pod.serviceAccountName = name;
  pod.serviceAccount = name;
}

function hostPorts(container: Rec): void {
  for (const port of list(container, 'ports')) if (!port.hostPort) port.hostPort = port.containerPort;
}

/**
 * Defaults that only pods get, not templates: service links, ports of the host, and requests that follow the limits.
 */
export function podOnlyDefaults(pod: Rec): void {
  fill(pod, 'enableServiceLinks', true);
  if (pod.hostNetwork === true)
    for (const member of CONTAINER_LISTS) for (const container of list(pod, member)) hostPorts(container);
  for (const member of ['containers', 'initContainers']) {
    for (const container of list(pod, member)) requestsFromLimits(container);
  }
}

function requestsFromLimits(container: Rec): void {
  const limits = entries(get(container, 'resources'), 'limits');
  if (limits.length === 0) return;
  const requests = into(into(container, 'resources'), 'requests');
  for (const [name, amount] of limits) if (!Object.hasOwn(requests, name)) requests[name] = amount;
}

/** Fills the pod spec of a template, if it has one. */
export function templateDefaults(template: Rec | undefined): void {
  if (!template) return;
  podSpecDefaults(into(template, 'spec'));
}

type Amounts = { [resource: string]: unknown };
const isZero = (amount: unknown): boolean => Number.parseFloat(String(amount)) === 0;

/** Quality-of-service class of a pod spec: Guaranteed, Burstable or BestEffort (spec, "Pod": qosClass). */
export function qosClassOf(pod: Rec): string {
  let any = false;
  let guaranteed = true;
  for (const container of [...list(pod, 'containers'), ...list(pod, 'initContainers')]) {
    const requests: Amounts = at(container, 'resources', 'requests') ?? {};
    const limits: Amounts = at(container, 'resources', 'limits') ?? {};
    for (const name of ['cpu', 'memory']) {
      const [request, limit] = [requests[name] ?? limits[name], limits[name]];
      if ((request !== undefined && !isZero(request)) || (limit !== undefined && !isZero(limit))) any = true;
      if (limit === undefined || isZero(limit) || String(request) !== String(limit)) guaranteed = false;
    }
  }
  return any ? (guaranteed ? 'Guaranteed' : 'Burstable') : 'BestEffort';
}
