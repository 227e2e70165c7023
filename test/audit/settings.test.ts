import { expect, test } from 'vitest';
import { loadSettings } from '../../core/command/config.js';
import { checkAudit } from '../../core/server/audit.js';

const check = (...flags: string[]) => checkAudit(loadSettings(flags));

test.each(['--audit-log', '--audit-webhook'])('contradictory limits of a sink are refused: %s', sink => {
  const throttled = [`${sink}-mode=batch`, `${sink}-batch-throttle-enable`];
  expect(() => check(...throttled, `${sink}-batch-throttle-qps=0`)).toThrow(
    `${sink}-batch-throttle-qps: must be positive with ${sink}-batch-throttle-enable`,
  );
  expect(() => check(...throttled, `${sink}-batch-throttle-qps=1`, `${sink}-batch-throttle-burst=0`)).toThrow(
    `${sink}-batch-throttle-burst: must be positive with ${sink}-batch-throttle-enable`,
  );
  // Upstream also refuses these if events are not truncated.
  for (const more of [[], [`${sink}-truncate-enabled`]])
    expect(() => check(...more, `${sink}-truncate-max-batch-size=5`, `${sink}-truncate-max-event-size=6`)).toThrow(
      `${sink}-truncate-max-batch-size: must be at least ${sink}-truncate-max-event-size, which is 6`,
    );
});

test.each([
  ['--audit-log-mode=x', '--audit-log-mode'],
  ['--audit-log-format=x', '--audit-log-format'],
  ['--audit-log-maxage=-1', '--audit-log-maxage'],
  ['--audit-log-version=audit.k8s.io/v1beta1', '--audit-log-version'],
  ['--audit-webhook-batch-buffer-size=0', '--audit-webhook-batch-buffer-size'],
  ['--audit-webhook-config-file=/none', '--audit-webhook-config-file'],
])('%s is refused', (flag, named) => {
  expect(() => check(flag)).toThrow(named);
});
