import { definePlugin, type HealthCheck, healthCheck, type Log, type Plugin } from '../../core/api/index.js';

const ALL = ['livez', 'readyz', 'healthz'] as const;

/** The check `ping`: passes if the event loop runs. */
export const ping: HealthCheck = { name: 'ping', of: ALL, check: () => {} };

/** The check `log`: passes if a line can be logged. */
export const logCheck = (log: Log): HealthCheck => ({
  name: 'log',
  of: ALL,
  check: () => log.debug({ check: 'log' }, 'health check'),
});

/** The checks `ping` and `log`. */
export default definePlugin({
  name: 'basic-health',
  parse: () => null,
  contribute: () => [healthCheck.of(() => ping), healthCheck.of(host => logCheck(host.log))],
}) satisfies Plugin<null>;
