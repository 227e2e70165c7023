import { ConfigError } from '../../../core/api/point.js';
import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import type { UnknownRecord } from '../../../core/model/record.js';
import { goQuote } from '../../../core/model/text/quote.js';
import { checkConfigKind, recordOf, refuseFaults, textsOf } from '../configuration.js';
import { LEVEL_PROBLEM, levelNamed, minorOf, type Mode, type Policy, PRIVILEGED, VERSION_PROBLEM } from './policy.js';

/** Users, and names of namespaces and runtime classes, whose pods are not checked. */
export interface Exemptions {
  readonly usernames: readonly string[];
  readonly namespaces: readonly string[];
  readonly runtimeClasses: readonly string[];
}

/** A PodSecurityConfiguration. */
export interface PodSecurityConfig {
  /** The policy of namespaces, for the modes that their labels do not set. */
  readonly defaults: Policy;
  readonly exemptions: Exemptions;
}

const GROUP = 'pod-security.admission.config.orchestrator.io';
const MODES = ['enforce', 'audit', 'warn'] as const;

/** The policy of `defaults`. Throws ConfigError with all invalid texts. */
function parseDefaults(defaults: UnknownRecord): Policy {
  const faults: ConfigError[] = [];
  const textAt = (key: string, isValid: (text: string) => boolean, problem: string): string => {
    const text = defaults[key] ?? '';
    if (text === '') return '';
    if (typeof text === 'string' && isValid(text)) return text;
    faults.push(new ConfigError(`defaults.${key}`, `Invalid value: ${goQuote(String(text))}: ${problem}`));
    return '';
  };
  const levelOf = (mode: Mode) => {
    const level = levelNamed(textAt(mode, text => levelNamed(text) !== undefined, LEVEL_PROBLEM));
    const version = textAt(`${mode}-version`, text => minorOf(text) !== undefined, VERSION_PROBLEM);
    return { level: level ?? PRIVILEGED[mode].level, version: version || PRIVILEGED[mode].version };
  };
  const policy = { enforce: levelOf('enforce'), audit: levelOf('audit'), warn: levelOf('warn') };
  refuseFaults(faults);
  return policy;
}

/** The names in a list of `exemptions` that are invalid, or equal to an earlier valid one. */
function nameFaults(
  names: readonly string[],
  key: keyof Exemptions,
  problems: (name: string) => readonly string[],
): ConfigError[] {
  const valid = new Set<string>();
  return names.flatMap((name, i) => {
    const at = `exemptions.${key}[${i}]`;
    const [problem] = problems(name);
    if (problem !== undefined) return [new ConfigError(at, `Invalid value: ${goQuote(name)}: ${problem}`)];
    if (valid.has(name)) return [new ConfigError(at, `Duplicate value: ${goQuote(name)}`)];
    valid.add(name);
    return [];
  });
}

/** Throws ConfigError with all invalid and repeated names. */
function parseExemptions(exemptions: UnknownRecord): Exemptions {
  const namespaces = textsOf(exemptions, 'namespaces', 'exemptions');
  const runtimeClasses = textsOf(exemptions, 'runtimeClasses', 'exemptions');
  const usernames = textsOf(exemptions, 'usernames', 'exemptions');
  refuseFaults([
    ...nameFaults(namespaces, 'namespaces', dns1123Label),
    ...nameFaults(runtimeClasses, 'runtimeClasses', dns1123Subdomain),
    ...nameFaults(usernames, 'usernames', name => (name === '' ? ['username must not be empty'] : [])),
  ]);
  return { usernames, namespaces, runtimeClasses };
}

/** Reads a PodSecurityConfiguration. Throws ConfigError with all invalid texts of `defaults`, then of `exemptions`. */
export function parseConfig(config: unknown): PodSecurityConfig {
  const whole = recordOf(config ?? {}, '', ['apiVersion', 'kind', 'defaults', 'exemptions']);
  if (config !== undefined && config !== null)
    checkConfigKind(whole, GROUP, ['v1', 'v1beta1', 'v1alpha1'], 'PodSecurityConfiguration');
  const defaults = recordOf(whole['defaults'] ?? {}, 'defaults', [...MODES, ...MODES.map(mode => `${mode}-version`)]);
  const exemptions = recordOf(whole['exemptions'] ?? {}, 'exemptions', ['usernames', 'namespaces', 'runtimeClasses']);
  return {
    defaults: parseDefaults(defaults),
    exemptions: parseExemptions(exemptions),
  };
}
