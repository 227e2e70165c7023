import { ConfigError } from '../../../../core/api/point.js';
import { isRecord, type UnknownRecord } from '../../../../core/model/record.js';
import { readWebhookFile } from '../../../../core/services/webhooks/kubeconfig.js';
import { recordOf } from '../../configuration.js';

/** The configuration of the plugin. Times are in milliseconds. */
export interface ImagePolicyConfig {
  /** The kubeconfig of the webhook. */
  readonly file: string;
  /** How long an answer that allows is used again, and how long any other answer is. */
  readonly allowMs: number;
  readonly denyMs: number;
  /** The pause before a call that failed is made again. */
  readonly backoffMs: number;
  /** Whether pods are allowed if the webhook fails. */
  readonly allowsOnFailure: boolean;
}

const ROOT = 'imagePolicy';
/** Upstream's limits and defaults. */
const SECOND = 1000;
const TTL = { least: SECOND, most: 30 * 60 * SECOND, default: 5 * 60 * SECOND };
const BACKOFF = { least: 1, most: 5 * 60 * SECOND, default: 500 };
/** Stands for a time of 0, since 0 stands for the default. */
const NONE = -1;

/** A time in units of `unit` milliseconds. As in upstream, 0 is the default, and -1 is none. */
function timeAt(config: UnknownRecord, key: string, unit: number, limits: typeof TTL): number {
  const { [key]: value = 0 } = config;
  const path = `${ROOT}.${key}`;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new ConfigError(path, 'must be an integer');
  if (value === 0) return limits.default;
  if (value === NONE) return 0;
  const time = value * unit;
  if (time < limits.least || time > limits.most)
    throw new ConfigError(
      path,
      `Invalid value: ${value}: must be between ${limits.least / unit} and ${limits.most / unit}, 0 for ` +
        `${limits.default / unit}, or -1 for none`,
    );
  return time;
}

/** Reads the configuration of the plugin, and checks the kubeconfig that it names. Throws ConfigError. */
export function parseConfig(config: unknown): ImagePolicyConfig {
  if (config === undefined || config === null)
    throw new ConfigError(
      `${ROOT}.kubeConfigFile`,
      'no config specified: configure ImagePolicyWebhook in --admission-control-config-file',
    );
  const whole = recordOf(config, '', [ROOT]);
  const { [ROOT]: given = {} } = whole;
  if (!isRecord(given)) throw new ConfigError(ROOT, 'must be an object');
  const policy = recordOf(given, ROOT, ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow']);
  const { kubeConfigFile: file, defaultAllow = false } = policy;
  if (typeof file !== 'string' || file === '')
    throw new ConfigError(`${ROOT}.kubeConfigFile`, 'must be the path of a kubeconfig');
  if (typeof defaultAllow !== 'boolean') throw new ConfigError(`${ROOT}.defaultAllow`, 'must be true or false');
  readWebhookFile(file, { allowsHttp: true });
  return {
    file,
    backoffMs: timeAt(policy, 'retryBackoff', 1, BACKOFF),
    allowMs: timeAt(policy, 'allowTTL', SECOND, TTL),
    denyMs: timeAt(policy, 'denyTTL', SECOND, TTL),
    allowsOnFailure: defaultAllow,
  };
}
