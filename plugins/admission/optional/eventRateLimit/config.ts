import { ConfigError } from '../../../../core/api/point.js';
import { EVENT_LIMIT_KEYS } from '../../../../core/limits.js';
import type { UnknownRecord } from '../../../../core/model/record.js';
import { goQuote } from '../../../../core/model/text/quote.js';
import { checkConfigKind, recordOf, refuseFaults } from '../../configuration.js';

const GROUP = 'eventratelimit.admission.orchestrator.io';
const TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
/** Number of keys that a limit remembers, unless the configuration sets it; upstream's default. */
const DEFAULT_KEYS = 4096;
const MOST = 2 ** 31 - 1;

/** The criterion by which a limit groups events. */
export type LimitType = (typeof TYPES)[number];

/** A limit of the events per second, for each key of its type. */
export interface EventLimit {
  readonly type: LimitType;
  readonly perSecond: number;
  /** Number of events that are accepted at once after a pause. */
  readonly burst: number;
  /** Number of keys that are remembered: beyond that, the least recently used one is forgotten. */
  readonly keys: number;
}

/** An integer, 0 if it is absent. Throws ConfigError for another value. */
function integerAt(from: UnknownRecord, key: string, path: string): number {
  const value = from[key] ?? 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > MOST)
    throw new ConfigError(`${path}.${key}`, 'must be an integer');
  return value;
}

/** Reads a limit, and adds its invalid members to `faults`. Throws ConfigError for members of other types. */
function parseLimit(value: unknown, path: string, faults: ConfigError[]): EventLimit {
  const limit = recordOf(value, path, ['type', 'qps', 'burst', 'cacheSize']);
  const burst = integerAt(limit, 'burst', path);
  const perSecond = integerAt(limit, 'qps', path);
  const keys = integerAt(limit, 'cacheSize', path);
  const refuse = (key: string, problem: string) => faults.push(new ConfigError(`${path}.${key}`, problem));
  const type = TYPES.find(one => one === limit['type']);
  const found = goQuote(String(limit['type'] ?? ''));
  if (!type) refuse('type', `Unsupported value: ${found}: supported values: ${TYPES.map(goQuote).join(', ')}`);
  if (burst <= 0) refuse('burst', `Invalid value: ${burst}: must be positive`);
  if (perSecond <= 0) refuse('qps', `Invalid value: ${perSecond}: must be positive`);
  if (keys < 0) refuse('cacheSize', `Invalid value: ${keys}: must not be negative`);
  if (keys > EVENT_LIMIT_KEYS) refuse('cacheSize', `must be at most ${EVENT_LIMIT_KEYS}`);
  return { type: type ?? 'Server', burst, perSecond, keys: keys || DEFAULT_KEYS };
}

/** Reads a Configuration of the plugin. Throws ConfigError with all invalid members of the limits. */
export function parseConfig(config: unknown): readonly EventLimit[] {
  if (config === undefined || config === null)
    throw new ConfigError('limits', 'must not be empty: configure EventRateLimit in --admission-control-config-file');
  const whole = recordOf(config, '', ['apiVersion', 'kind', 'limits']);
  checkConfigKind(whole, GROUP, ['v1alpha1'], 'Configuration');
  const limits = whole['limits'] ?? [];
  if (!Array.isArray(limits)) throw new ConfigError('limits', 'must be a list of limits');
  if (limits.length === 0)
    throw new ConfigError('limits', 'must not be empty: add a limit, or do not enable the plugin');
  const faults: ConfigError[] = [];
  const parsed = limits.map((limit, i) => parseLimit(limit, `limits[${i}]`, faults));
  refuseFaults(faults);
  return parsed;
}
