import type { HealthCheck } from '../api/control.js';
import type { Awaitable } from '../api/point.js';

const ALL = ['livez', 'readyz', 'healthz'] as const;

/**
 * `etcd`: the store answers, whichever backend it is; the name is the one that probes and dashboards know. A store that
 * others share can be away while they are fine: then `remote`, it decides about readiness too.
 */
export const storeCheck = (ping: () => Awaitable<void>, remote = false): HealthCheck => ({
  name: 'etcd',
  of: remote ? ALL : ['livez', 'healthz'],
  check: ping,
});

/** `autoregister-completion`: all built-in groups and versions are served. */
export function registrationCheck(complete: () => boolean): HealthCheck {
  return {
    name: 'autoregister-completion',
    of: ALL,
    check() {
      if (!complete()) throw new Error('groups and versions are still being registered');
    },
  };
}

/** `shutdown`: fails from the moment the server begins to drain, so that load balancers send requests elsewhere. */
export function shutdownCheck(draining: () => boolean): HealthCheck {
  return {
    name: 'shutdown',
    of: ['readyz'],
    check() {
      if (draining()) throw new Error('process is shutting down');
    },
  };
}

/** A `poststarthook/<name>` check that fails until `done` is called. */
export interface PostStartHook {
  readonly check: HealthCheck;
  done(): void;
}

/** Makes the check of a piece of work that the server does after it began to listen. */
export function postStartHook(name: string): PostStartHook {
  let finished = false;
  return {
    check: {
      name: `poststarthook/${name}`,
      of: ALL,
      check() {
        if (!finished) throw new Error('not finished');
      },
    },
    done() {
      finished = true;
    },
  };
}
