import type { AuditEvent } from '../../../core/api/index.js';
import { goQuote } from '../../../core/model/text/quote.js';

/** A time in RFC 3339 without zeros at the end of its fraction. */
const shortTime = (time: string): string => {
  const [seconds = '', fraction = ''] = time.replace('Z', '').split('.');
  let end = fraction.length;
  while (end > 0 && fraction[end - 1] === '0') end--;
  return `${seconds}${end > 0 ? `.${fraction.slice(0, end)}` : ''}Z`;
};

const quoteAll = (texts: readonly string[]): string => texts.map(goQuote).join(',');

/** An event as a line of text, in the format `legacy` of upstream. */
export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser: impersonated, responseStatus } = event;
  const groups = user.username && user.groups ? quoteAll(user.groups) : '<none>';
  const members: readonly (readonly [string, string])[] = [
    ['id', event.auditID],
    ['stage', event.stage],
    ['ip', event.sourceIPs?.[0] ?? '<unknown>'],
    ['method', event.verb],
    ['user', user.username ?? '<none>'],
    ['groups', groups],
    ['as', impersonated ? (impersonated.username ?? '') : '<self>'],
    ['asgroups', impersonated?.groups ? quoteAll(impersonated.groups) : '<lookup>'],
    ['user-agent', event.userAgent ?? ''],
    ['namespace', event.objectRef?.['namespace'] ?? '<none>'],
    ['uri', event.requestURI],
    ['response', responseStatus ? String(responseStatus.code) : '<deferred>'],
  ];
  const shown = members.map(([name, value]) => `${name}=${goQuote(value)}`);
  return `${shortTime(event.requestReceivedTimestamp)} AUDIT: ${shown.join(' ')}`;
}
