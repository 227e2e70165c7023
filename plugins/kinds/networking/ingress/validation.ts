import type {
  Ingress,
  IngressTLS,
  IngressRule,
  IngressBackend,
  HTTPIngressPath,
  IngressServiceBackend,
} from '../../../../kinds/networking/v1.js';
import { isIP } from 'node:net';
import { dns1035Label, dns1123Subdomain, wildcardSubdomain } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { invalid, notSupported, required, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { portNameComplaints, portNumberComplaints } from '../../shared/ports.js';
import { validateTypedReference } from '../../shared/references.js';
import {
  toViolations,
  validateEach,
  validateIfSet,
  validatePresent,
  validateRequired,
} from '../../shared/violations.js';

/** Values that an update may keep because the current object has them already. */
export interface Tolerated {
  readonly wildcardHosts: boolean;
  readonly secretNames: boolean;
}

const hostComplaints = (host: string): string[] =>
  host.includes('*') ? wildcardSubdomain(host) : dns1123Subdomain(host);

function validateService(service: IngressServiceBackend, field: string): Violation[] {
  const port = service.port;
  const [name, number] = [port.name ?? '', port.number ?? 0];
  const found = validateRequired(service, 'name', `${field}.service.name`, dns1035Label);
  if (name !== '' && number !== 0) found.push(invalid(field, '', 'cannot set both port name & port number'));
  else if (name !== '') found.push(...toViolations(`${field}.service.port.name`, name, portNameComplaints(name)));
  else if (number !== 0)
    found.push(...toViolations(`${field}.service.port.number`, number, portNumberComplaints(number)));
  else found.push(required(field, 'port name or number is required'));
  return found;
}

function validateBackend(backend: IngressBackend, field: string): Violation[] {
  const [service, resource] = [backend.service, backend.resource];
  if (service && resource) return [invalid(field, '', 'cannot set both resource and service backends')];
  if (resource) return validateTypedReference(resource, `${field}.resource`);
  if (service) return validateService(service, field);
  return [invalid(field, '', 'resource or service backend is required')];
}

const IN_NO_PATH = ['//', '/./', '/../', '%2f', '%2F'];
const AT_NO_END = ['/..', '/.'];

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

function validatePathText(path: string, type: string, field: string): Violation[] {
  const isAbsolute = path.startsWith('/');
  if (type === 'ImplementationSpecific' && (path === '' || isAbsolute)) return [];
  if (!isAbsolute) return [invalid(field, path, 'must be an absolute path')];
  if (type === 'ImplementationSpecific') return [];
  return [
    ...IN_NO_PATH.filter(part => path.includes(part)).map(part => invalid(field, path, `must not contain '${part}'`)),
    ...AT_NO_END.filter(end => path.endsWith(end)).map(end => invalid(field, path, `cannot end with '${end}'`)),
  ];
}

function validatePath(path: HTTPIngressPath, field: string): Violation[] {
  const type = path.pathType;
  if (isAbsent(type)) return [required(`${field}.pathType`, 'pathType must be specified')];
  return [
    ...(PATH_TYPES.includes(String(type))
      ? validatePathText(path.path ?? '', String(type), `${field}.path`)
      : [notSupported(`${field}.pathType`, type, PATH_TYPES)]),
    ...validateBackend(path.backend, `${field}.backend`),
  ];
}

function validateHost(host: string, tolerated: Tolerated, field: string): Violation[] {
  if (host === '') return [];
  const isAllowed = host.includes('*') && tolerated.wildcardHosts;
  return [
    ...(isIP(host) === 0 ? [] : [invalid(field, host, 'must be a DNS name, not an IP address')]),
    ...(isAllowed ? [] : toViolations(field, host, hostComplaints(host))),
  ];
}

function validateRule(rule: IngressRule, tolerated: Tolerated, field: string): Violation[] {
  const http = rule.http;
  const found = validateHost(rule.host ?? '', tolerated, `${field}.host`);
  if (!http) return found;
  if ((http.paths ?? []).length === 0) return [...found, required(`${field}.http.paths`)];
  return [...found, ...validateEach(http, 'paths', `${field}.http.paths`, validatePath)];
}

const validateTls = (tls: IngressTLS, tolerated: Tolerated, field: string): Violation[] => [
  ...validateEach(tls, 'hosts', `${field}.hosts`, (host, at) => toViolations(at, host, hostComplaints(host))),
  ...(tolerated.secretNames ? [] : validateIfSet(tls, 'secretName', `${field}.secretName`, dns1123Subdomain)),
];

/** Violations of the spec of an Ingress. */
export function validateIngressSpec(object: Ingress, tolerated: Tolerated): Violation[] {
  const spec = object.spec;
  const backend = spec.defaultBackend;
  const hasRules = (spec.rules ?? []).length > 0;
  const shown = new Verbatim(`[]networking.IngressRule${isAbsent(spec.rules) ? '(nil)' : '{}'}`);
  return [
    ...(hasRules || backend ? [] : [invalid('spec', shown, 'either `defaultBackend` or `rules` must be specified')]),
    ...(backend ? validateBackend(backend, 'spec.defaultBackend') : []),
    ...validateEach(spec, 'rules', 'spec.rules', (rule, at) => validateRule(rule, tolerated, at)),
    ...validateEach(spec, 'tls', 'spec.tls', (tls, at) => validateTls(tls, tolerated, at)),
    ...validatePresent(spec, 'ingressClassName', 'spec.ingressClassName', dns1123Subdomain),
  ];
}

/** Values that an update of that Ingress may keep. */
export const toleratedIn = (old: Ingress): Tolerated => ({
  wildcardHosts: (old.spec.rules ?? []).some(rule => {
    const host = rule.host ?? '';
    return host.includes('*') && wildcardSubdomain(host).length > 0;
  }),
  secretNames: (old.spec.tls ?? []).some(tls => dns1123Subdomain((tls.secretName ?? '') || 'x').length > 0),
});
