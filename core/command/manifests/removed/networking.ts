import { isRecord, recordsAt, type UnknownRecord } from '../../../model/record.js';
import { ensure, fill, type Rewrite, rename, Unconvertible } from './rewrite.js';

/** A backend of a version before v1: `serviceName` and `servicePort`, or a resource. */
function rewriteBackend(backend: unknown): void {
  if (!isRecord(backend) || backend['serviceName'] === undefined) return;
  const { serviceName: name, servicePort: port } = backend;
  delete backend['serviceName'];
  delete backend['servicePort'];
  const isNumber = typeof port === 'number' || /^\d+$/.test(String(port));
  backend['service'] = {
    name,
    ...(port === undefined ? {} : { port: isNumber ? { number: Number(port) } : { name: port } }),
  };
}

/** Ingress of the groups extensions and networking. */
export const ingress: Rewrite = object => {
  const spec = ensure(object, 'spec');
  rename(spec, 'backend', 'defaultBackend');
  rewriteBackend(spec['defaultBackend']);
  for (const rule of recordsAt(spec, 'rules'))
    for (const path of recordsAt(rule, 'http', 'paths')) {
      fill(path, 'pathType', 'ImplementationSpecific');
      rewriteBackend(path['backend']);
    }
};

/** The members of endpoints that replace keys of their topology, in neutral names. */
const TOPOLOGY: readonly (readonly [key: string, member: string])[] = [
  ['orchestrator.io/hostname', 'nodeName'],
  ['topology.orchestrator.io/zone', 'zone'],
];

/** EndpointSlice. Keys of the topology that have no member cannot be written any more. */
export const endpointSlice: Rewrite = (object, naming) => {
  for (const [i, endpoint] of recordsAt(object, 'endpoints').entries()) {
    const topology = endpoint['topology'];
    delete endpoint['topology'];
    if (!isRecord(topology)) continue;
    const left: UnknownRecord = { ...topology };
    for (const [key, member] of TOPOLOGY) {
      const name = naming.label(key);
      if (left[name] !== undefined) fill(endpoint, member, left[name]);
      delete left[name];
    }
    const [key] = Object.keys(left);
    if (key !== undefined)
      throw new Unconvertible(
        `endpoints[${i}].topology[${key}]`,
        'has no place in v1, which knows nodeName and zone: remove it',
      );
  }
};
