import type { HealthCheck } from '../../api/control.js';
import type { Awaitable } from '../../api/point.js';

const ALL = ['livez', 'readyz', 'healthz'] as const;

/**
 * The check `etcd`: passes if the store responds. Monitoring expects this name for any backend. `remote`: the store is
 * another process, and its failure also makes the server unready.
 */
export const storeCheck = (ping: () => Awaitable<void>, remote = false): HealthCheck => ({
  name: 'etcd',
  of: remote ? ALL : ['livez', 'healthz'],
  check: ping,
});

/** The check `autoregister-completion`: passes if all built-in groups and versions are served. */
export function registrationCheck(complete: () => boolean): HealthCheck {
  return {
    name: 'autoregister-completion',
    of: ALL,
    check() {
      if (!complete()) throw new Error('groups and versions are still being registered');
    },
  };
}

/** The check `shutdown`: fails once the server drains, so that load balancers send requests elsewhere. */
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
export interface StartCheck {
  readonly check: HealthCheck;
  done(): void;
}

/** Makes the check of a task that runs after the server has started to listen. */
export function startCheck(name: string): StartCheck {
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
