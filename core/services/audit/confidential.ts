import type { Route } from '../../request/route.js';

/** Whether the bodies of a route have credentials: neither audit events nor records of decisions repeat them. */
export const isConfidential = ({ target, resource }: Route): boolean =>
  target.is === 'resource' && (resource?.strategy.confidential?.includes(target.subresource) ?? false);
