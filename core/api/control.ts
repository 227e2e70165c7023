import { allValues, type Awaitable, definePoint } from './point.js';

/** A reconciling loop of the control thread. */
export interface Controller {
  readonly name: string;
  /** Begins work; resolves once its first pass over the initial state is done (its `poststarthook` check turns ok). */
  start(): Awaitable<void>;
}

/** One health check. */
export interface HealthCheck {
  readonly name: string;
  /** Endpoints that include it. */
  readonly of: readonly ('livez' | 'readyz' | 'healthz')[];
  /** Throws when unhealthy; the message is shown to nobody but the log. */
  check(): Awaitable<void>;
}

/** Controllers: all of them run. */
export const controller = definePoint<Controller, readonly Controller[]>('controller', ['control'], allValues);
/** Health checks: all of them count. */
export const healthCheck = definePoint<HealthCheck, readonly HealthCheck[]>('health', ['front'], allValues);
