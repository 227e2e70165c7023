import type { Service } from '../../../../kinds/v1.js';
import { isIP } from 'node:net';
import type { Naming } from '../../../../core/naming.js';
import { systemName } from '../../shared/values/names.js';

/** Warnings about fields of a Service that are ignored for its type, and about addresses that are none. */
export function serviceWarnings(service: Service, naming: Naming): string[] {
  const isName = (service.spec.type ?? '') === 'ExternalName';
  const address = service.spec.loadBalancerIP ?? '';
  const found: string[] = [];
  if (address !== '' && isIP(address) === 0)
    found.push(
      `spec.loadBalancerIP: IP address was accepted, but will be invalid in a future ${systemName(naming)} release: ParseAddr(${JSON.stringify(address)}): unable to parse IP`,
    );
  if (isName && (service.spec.externalIPs ?? []).length > 0)
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isName && (service.spec.externalName ?? '') !== '')
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return found;
}
