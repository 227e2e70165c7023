export { aggregateAll, aggregatedRules } from './aggregate.js';
export { bootstrapObjects } from './objects.js';
export { type Reconciliation, reconcileBootstrap } from './reconcile.js';
