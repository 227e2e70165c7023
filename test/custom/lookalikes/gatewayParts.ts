import { int32, type Shape, text } from './shapes.js';

/* Parts of several definitions of gateways. */

export const GROUP = 'gateway.networking.k8s.io';
/** The approval annotation, which groups that end in `k8s.io` need. */
export const APPROVED = { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/3328' };
export const EPOCH = '1970-01-01T00:00:00Z';

export const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
export const DOMAIN = `${LABEL}(\\.${LABEL})*`;
export const HEADER = "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$";
export const DURATION = '^([0-9]{1,5}(h|m|s|ms)){1,4}$';

export const hostname = (about: string): Shape =>
  text(about, { minLength: 1, maxLength: 253, pattern: `^(\\*\\.)?${DOMAIN}$` });
export const sectionName = (about: string): Shape =>
  text(about, { minLength: 1, maxLength: 253, pattern: `^${DOMAIN}$` });
export const group = (value?: string): Shape =>
  text('A group.', { maxLength: 253, pattern: `^$|^${DOMAIN}$`, ...(value === undefined ? {} : { default: value }) });
export const kind = (value?: string): Shape =>
  text('A kind.', {
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
    ...(value === undefined ? {} : { default: value }),
  });
export const objectName = text('A name.', { minLength: 1, maxLength: 253 });
export const namespace = text('A namespace.', { minLength: 1, maxLength: 63, pattern: `^${LABEL}$` });
export const port = int32('A port.', { minimum: 1, maximum: 65_535 });
export const controllerName = text('Who is in charge.', {
  minLength: 1,
  maxLength: 253,
  pattern: `^${DOMAIN}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
});
export const waiting = (type: string): Shape => ({
  type,
  status: 'Unknown',
  reason: 'Pending',
  message: 'Waiting for controller',
  lastTransitionTime: EPOCH,
});
