import { ConfigError } from '../../../core/api/point.js';
import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import type { UnknownRecord } from '../../../core/model/record.js';
import { goQuote } from '../../../core/model/text/quote.js';
import { checkConfigKind, recordOf, textsOf } from '../configuration.js';
import { LEVEL_PROBLEM, levelNamed, minorOf, type Mode, type Policy, PRIVILEGED, VERSION_PROBLEM } from './policy.js';

/** Users, and names of namespaces and runtime classes, whose pods are not checked. */
export interface Exemptions {
  readonly usernames: readonly string[];
  readonly namespaces: readonly string[];
  readonly runtimeClasses: readonly string[];
}

/** A PodSecurityConfiguration. */
export interface PodSecurityConfig {
  /** The policy of namespaces, as far as their labels do not set another. */
  readonly defaults: Policy;
  readonly exemptions: Exemptions;
}

const GROUP = 'pod-security.admission.config.orchestrator.io';
const MODES = ['enforce', 'audit', 'warn'] as const;

/** A text of `defaults`. Throws ConfigError for one that `check` refuses. */
function defaultAt(defaults: UnknownRecord, key: string, isValid: (text: string) => boolean, problem: string): string {
  const text = defaults[key] ?? '';
  if (text === '') return '';
  if (typeof text !== 'string' || !isValid(text))
    throw new ConfigError(`defaults.${key}`, `Invalid value: ${goQuote(String(text))}: ${problem}`);
  return text;
}

function parseDefaults(defaults: UnknownRecord): Policy {
  const levelOf = (mode: Mode) => {
    const level = levelNamed(defaultAt(defaults, mode, text => levelNamed(text) !== undefined, LEVEL_PROBLEM));
    const version = defaultAt(defaults, `${mode}-version`, text => minorOf(text) !== undefined, VERSION_PROBLEM);
    return { level: level ?? PRIVILEGED[mode].level, version: version || PRIVILEGED[mode].version };
  };
  return { enforce: levelOf('enforce'), audit: levelOf('audit'), warn: levelOf('warn') };
}

/** A list of `exemptions`. Throws ConfigError for a name that is empty, repeated or invalid. */
function parseNames(
  exemptions: UnknownRecord,
  key: keyof Exemptions,
  problems: (name: string) => readonly string[],
): readonly string[] {
  const names = textsOf(exemptions, key, 'exemptions');
  for (const [i, name] of names.entries()) {
    const at = `exemptions.${key}[${i}]`;
    const [problem] = problems(name);
    if (problem !== undefined) throw new ConfigError(at, `Invalid value: ${goQuote(name)}: ${problem}`);
    if (names.indexOf(name) < i) throw new ConfigError(at, `Duplicate value: ${goQuote(name)}`);
  }
  return names;
}

/** Reads a PodSecurityConfiguration. Throws ConfigError with the path of the first invalid field. */
export function parseConfig(config: unknown): PodSecurityConfig {
  const whole = recordOf(config ?? {}, '', ['apiVersion', 'kind', 'defaults', 'exemptions']);
  if (config !== undefined && config !== null)
    checkConfigKind(whole, GROUP, ['v1', 'v1beta1', 'v1alpha1'], 'PodSecurityConfiguration');
  const defaults = recordOf(whole['defaults'] ?? {}, 'defaults', [...MODES, ...MODES.map(mode => `${mode}-version`)]);
  const exemptions = recordOf(whole['exemptions'] ?? {}, 'exemptions', ['usernames', 'namespaces', 'runtimeClasses']);
  return {
    defaults: parseDefaults(defaults),
    exemptions: {
      usernames: parseNames(exemptions, 'usernames', name => (name === '' ? ['username must not be empty'] : [])),
      namespaces: parseNames(exemptions, 'namespaces', dns1123Label),
      runtimeClasses: parseNames(exemptions, 'runtimeClasses', dns1123Subdomain),
    },
  };
}
