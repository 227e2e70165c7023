import type { PersistentVolumeClaim, Service } from '../../../../kinds/v1.js';
import type { Frozen } from '../../../../core/model/object.js';
import { compareQuantities, type Quantity, quantityOf } from '../../../../core/model/quantity.js';
import { ownValue } from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import type { Amounts } from '../../limitRanger/amounts.js';
import { countOf, type Evaluator, objectCount } from './evaluator.js';

const isWritten: Evaluator['isCharged'] = operation => operation === 'CREATE' || operation === 'UPDATE';

const SERVICES = 'services';
const NODE_PORTS = 'services.nodeports';
const LOAD_BALANCERS = 'services.loadbalancers';
const SERVICE_RESOURCES = [objectCount('', SERVICES), SERVICES, NODE_PORTS, LOAD_BALANCERS];

/** The node ports that a service has or will get. */
function nodePortsOf({ spec }: Frozen<Service>): number {
  const ports = spec.ports ?? [];
  if (spec.type === 'NodePort') return ports.length;
  if (spec.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false
    ? ports.filter(({ nodePort }) => Boolean(nodePort)).length
    : ports.length;
}

/** Services: their number, and their node ports and load balancers. */
export const serviceEvaluator: Evaluator = {
  counts: resource => SERVICE_RESOURCES.includes(resource),
  isCharged: isWritten,
  usage(object) {
    const service = object as Frozen<Service>;
    return new Map([
      [SERVICE_RESOURCES[0]!, countOf(1)],
      [SERVICES, countOf(1)],
      [NODE_PORTS, countOf(nodePortsOf(service))],
      [LOAD_BALANCERS, countOf(service.spec.type === 'LoadBalancer' ? 1 : 0)],
    ]);
  },
  isInScope: () => false,
  missing: () => undefined,
};

const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
const CLAIM_RESOURCES = [objectCount('', CLAIMS), CLAIMS, STORAGE];
const NANO = 1_000_000_000n;

/** Whole bytes, rounded up. */
const wholeBytes = (quantity: Quantity): Quantity => ({
  ...quantity,
  nano: ((quantity.nano + NANO - 1n) / NANO) * NANO,
});

/** The storage that a claim requests, or has been given if that is more: a resize may be under way. */
function storageOf({ spec, status }: Frozen<PersistentVolumeClaim>): Quantity | undefined {
  const text = ownValue(spec.resources.requests, 'storage');
  if (text === undefined) return undefined;
  const requested = wholeBytes(quantityOf(text));
  const allocated = quantityOf(ownValue(status?.allocatedResources, 'storage'));
  return compareQuantities(allocated, requested) > 0 ? allocated : requested;
}

/** Claims: their number and storage, also by the class of storage. */
export function claimEvaluator({ group, label }: Naming): Evaluator {
  const infix = `.storageclass.${group('storage.orchestrator.io')}/`;
  const annotation = label('volume.beta.orchestrator.io/storage-class');
  return {
    counts: resource =>
      CLAIM_RESOURCES.includes(resource) || [CLAIMS, STORAGE].some(name => resource.endsWith(infix + name)),
    isCharged: isWritten,
    usage(object): Amounts {
      const claim = object as Frozen<PersistentVolumeClaim>;
      const storage = storageOf(claim);
      const own: (readonly [string, Quantity])[] = [
        [CLAIMS, countOf(1)],
        ...(storage ? [[STORAGE, storage] as const] : []),
      ];
      const storageClass = ownValue(claim.metadata.annotations, annotation) ?? claim.spec.storageClassName ?? '';
      const ofClass =
        storageClass === '' ? [] : own.map(([name, amount]) => [storageClass + infix + name, amount] as const);
      return new Map([[CLAIM_RESOURCES[0]!, countOf(1)], ...own, ...ofClass]);
    },
    isInScope: () => false,
    missing: () => undefined,
  };
}
