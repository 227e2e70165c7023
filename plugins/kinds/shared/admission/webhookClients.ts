import type { ServiceReference, WebhookClientConfig } from '../../../../kinds/admissionregistration/v1.js';
import { dns1123Subdomain } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { parseGoUrl } from './goUrl.js';
import { portNumberComplaints } from '../ports.js';
import { toViolations } from '../violations.js';

const FORM = '; desired format: https://host[/path]';

/** Checks that a URL has the scheme https, a host, and perhaps a path. */
function validateUrl(given: string, field: string): Violation[] {
  const url = parseGoUrl(given);
  if (typeof url === 'string')
    return [required(field, `url must be a valid URL: parse ${JSON.stringify(given)}: ${url}${FORM}`)];
  const found: Violation[] = [];
  if (url.scheme !== 'https') found.push(invalid(field, url.scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (url.host === '') found.push(invalid(field, url.host, `host must be specified${FORM}`));
  if (url.user !== '') found.push(invalid(field, url.user, 'user information is not permitted in the URL'));
  if (url.fragment !== '') found.push(invalid(field, url.fragment, 'fragments are not permitted in the URL'));
  if (url.query !== '') found.push(invalid(field, url.query, 'query parameters are not permitted in the URL'));
  return found;
}

/** Checks that the segments of a path are DNS-1123 subdomains. */
function validatePath(path: string, field: string): Violation[] {
  if (path === '' || path === '/') return [];
  const found = path.startsWith('/') ? [] : [invalid(field, path, "must start with a '/'")];
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  return [
    ...found,
    ...segments.flatMap((segment, i) =>
      segment === ''
        ? [invalid(field, path, `segment[${i}] may not be empty`)]
        : toViolations(
            field,
            path,
            dns1123Subdomain(segment).map(why => `segment[${i}]: ${why}`),
          ),
    ),
  ];
}

function validateService(service: ServiceReference, field: string): Violation[] {
  const port = service.port ?? 443;
  return [
    // Upstream confuses the two: it reports each when the other one is missing.
    ...(service.namespace === '' ? [required(`${field}.name`, 'service name is required')] : []),
    ...(service.name === '' ? [required(`${field}.namespace`, 'service namespace is required')] : []),
    ...toViolations(
      `${field}.port`,
      port,
      portNumberComplaints(port).map(why => `port is not valid: ${why}`),
    ),
    ...validatePath(service.path ?? '', `${field}.path`),
  ];
}

/** Checks where a webhook is called: at a URL or in a service. */
export function validateClientConfig(client: WebhookClientConfig, field: string): Violation[] {
  const hasUrl = !isAbsent(client.url);
  if (hasUrl === !isAbsent(client.service)) return [required(field, 'exactly one of url or service is required')];
  return client.service
    ? validateService(client.service, `${field}.service`)
    : validateUrl(client.url ?? '', `${field}.url`);
}
