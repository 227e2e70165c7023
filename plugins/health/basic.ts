import { definePlugin, type HealthCheck, healthCheck, type Log, type Plugin } from '../../core/api/index.js';

const ALL = ['livez', 'readyz', 'healthz'] as const;

/** `ping`: the event loop answers. */
export const ping: HealthCheck = { name: 'ping', of: ALL, check: () => {} };

/** `log`: the log takes a line. */
export const logCheck = (log: Log): HealthCheck => ({
  name: 'log',
  of: ALL,
  check: () => log.debug({ check: 'log' }, 'health check'),
});

/** The checks that need nothing but the process. */
export default definePlugin({
  name: 'basic-health',
  parse: () => null,
  contribute: () => [healthCheck.of(() => ping), healthCheck.of(host => logCheck(host.log))],
}) satisfies Plugin<null>;
