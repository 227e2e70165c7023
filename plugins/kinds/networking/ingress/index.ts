import type { Ingress } from '../../../../kinds/networking/v1.js';
import { isIP } from 'node:net';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import { dns1123Subdomain } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { invalid, type Violation } from '../../../../core/model/refusal.js';
import { AGE, type Cell, column, MOST_SHOWN, NAME } from '../../shared/columns.js';
import { ipComplaints } from '../../shared/ipAddresses.js';
import { balancerAddresses } from '../../shared/loadBalancers.js';
import { validateIfSet } from '../../shared/violations.js';
import { toleratedIn, validateIngressSpec } from './validation.js';

/** Violations of the status of an Ingress. */
const validateIngressStatus = (object: Ingress): Violation[] =>
  (object.status?.loadBalancer?.ingress ?? []).flatMap((point, i) => {
    const field = `status.loadBalancer.ingress[${i}]`;
    const name = point.hostname ?? '';
    return [
      ...validateIfSet(point, 'ip', `${field}.ip`, ipComplaints),
      ...validateIfSet(point, 'hostname', `${field}.hostname`, dns1123Subdomain),
      ...(isIP(name) === 0 ? [] : [invalid(`${field}.hostname`, name, 'must be a DNS name, not an IP address')]),
    ];
  });

/** The first hosts. The number of further hosts counts all rules, including those without a host. */
const ingressHosts: Cell<Ingress> = object => {
  const hosts = (object.spec.rules ?? []).map(rule => rule.host ?? '');
  const shown: string[] = [];
  for (const host of hosts) {
    if (shown.length === MOST_SHOWN) return `${shown.join(',')} + ${hosts.length - MOST_SHOWN} more...`;
    if (host !== '') shown.push(host);
  }
  return shown.join(',') || '*';
};

const COLUMNS: readonly Column<Ingress>[] = [
  NAME,
  column('Class', object => object.spec.ingressClassName || '<none>'),
  column('Hosts', ingressHosts),
  column('Address', object => balancerAddresses(object).join(',')),
  column('Ports', object => ((object.spec.tls ?? []).length > 0 ? '80, 443' : '80')),
  AGE,
];

/** A new Ingress names its class in the field and in the older annotation only if both agree. */
function validateClasses(object: Ingress, annotation: string): Violation[] {
  const older = object.metadata.annotations?.[annotation] ?? '';
  const name = object.spec.ingressClassName ?? '';
  if (older === '' || isAbsent(object.spec.ingressClassName) || older === name) return [];
  return [invalid(`annotations.${annotation}`, older, 'must match `ingressClassName` when both are specified')];
}

/** Ingress. */
export const ingress = builtInKind<Ingress>('networking.orchestrator.io/ingresses', naming => ({
  revalidatesName: true,
  storePath: 'ingress',
  hasGeneration: true,
  hasStatus: true,
  validateCreate: (object, context) => {
    const annotation = naming.label('orchestrator.io/ingress.class');
    if (Object.hasOwn(object.metadata.annotations ?? {}, annotation))
      context.warn?.(
        `annotation ${JSON.stringify(annotation)} is deprecated, please use 'spec.ingressClassName' instead`,
      );
    return [
      ...validateIngressSpec(object, { wildcardHosts: false, secretNames: false }),
      ...validateClasses(object, annotation),
    ];
  },
  validateUpdate: (object, old) => validateIngressSpec(object, toleratedIn(old)),
  validateStatus: validateIngressStatus,
  columns: COLUMNS,
}));
