import { ConfigError } from '../../../../core/api/point.js';
import { EVENT_LIMIT_KEYS } from '../../../../core/limits.js';
import { goQuote } from '../../../../core/model/text/quote.js';
import { checkConfigKind, recordOf } from '../../configuration.js';

const GROUP = 'eventratelimit.admission.orchestrator.io';
const TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
/** Keys that a limit knows at once, where the configuration does not say it; upstream's number. */
const DEFAULT_KEYS = 4096;
const MOST = 2 ** 31 - 1;

/** The criterion by which a limit groups events. */
export type LimitType = (typeof TYPES)[number];

/** A limit of the events per second, for each key of its type. */
export interface EventLimit {
  readonly type: LimitType;
  readonly perSecond: number;
  /** Events at once after a pause. */
  readonly burst: number;
  /** Keys that are known at once: the one that was used least recently is forgotten for another. */
  readonly keys: number;
}

/** A member that is an integer. Throws ConfigError for another value, and for one that `isValid` refuses. */
function integerAt(value: unknown, path: string, isValid: (value: number) => boolean, problem: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > MOST)
    throw new ConfigError(path, 'must be an integer');
  if (!isValid(value)) throw new ConfigError(path, `Invalid value: ${value}: ${problem}`);
  return value;
}

const isPositive = (value: number): boolean => value > 0;

function parseLimit(value: unknown, path: string): EventLimit {
  const limit = recordOf(value, path, ['type', 'qps', 'burst', 'cacheSize']);
  const { type = '', qps = 0, burst = 0, cacheSize = 0 } = limit;
  const known = TYPES.find(one => one === type);
  if (!known)
    throw new ConfigError(
      `${path}.type`,
      `Unsupported value: ${goQuote(String(type))}: supported values: ${TYPES.map(goQuote).join(', ')}`,
    );
  const keys = integerAt(cacheSize, `${path}.cacheSize`, one => one >= 0, 'must not be negative');
  if (keys > EVENT_LIMIT_KEYS) throw new ConfigError(`${path}.cacheSize`, `must be at most ${EVENT_LIMIT_KEYS}`);
  return {
    type: known,
    burst: integerAt(burst, `${path}.burst`, isPositive, 'must be positive'),
    perSecond: integerAt(qps, `${path}.qps`, isPositive, 'must be positive'),
    keys: keys || DEFAULT_KEYS,
  };
}

/** Reads a Configuration of the plugin. Throws ConfigError with the path of the first invalid field. */
export function parseConfig(config: unknown): readonly EventLimit[] {
  if (config === undefined || config === null)
    throw new ConfigError('limits', 'must not be empty: configure EventRateLimit in --admission-control-config-file');
  const whole = recordOf(config, '', ['apiVersion', 'kind', 'limits']);
  checkConfigKind(whole, GROUP, ['v1alpha1'], 'Configuration');
  const limits = whole['limits'] ?? [];
  if (!Array.isArray(limits)) throw new ConfigError('limits', 'must be a list of limits');
  if (limits.length === 0)
    throw new ConfigError('limits', 'must not be empty: add a limit, or do not enable the plugin');
  return limits.map((limit, i) => parseLimit(limit, `limits[${i}]`));
}
