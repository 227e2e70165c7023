import type { Route } from '../../request/route.js';

/**
 * Whether the bodies of a route contain credentials. Neither audit events nor records of decisions include such bodies.
 */
export const isConfidential = ({ target, resource }: Route): boolean =>
  target.is === 'resource' && (resource?.strategy.confidential?.includes(target.subresource) ?? false);
