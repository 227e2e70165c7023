import { goQuote } from '../../../core/model/text/quote.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';

/** The levels of the Pod Security Standards, from the least to the most restrictive. */
export const LEVELS = ['privileged', 'baseline', 'restricted'] as const;

/** A level of the Pod Security Standards. */
export type Level = (typeof LEVELS)[number];

/** A level as it was in one release. `version` is `latest` or `v1.N`. */
export interface LevelVersion {
  readonly level: Level;
  readonly version: string;
}

/** The use of a level: refusing pods, annotating audit events, or warning the client. */
export type Mode = 'enforce' | 'audit' | 'warn';

/** The level of each mode. */
export type Policy = { readonly [mode in Mode]: LevelVersion };

/** The policy of a namespace without labels, where the configuration has no other defaults. */
export const PRIVILEGED: Policy = {
  enforce: { level: 'privileged', version: 'latest' },
  audit: { level: 'privileged', version: 'latest' },
  warn: { level: 'privileged', version: 'latest' },
};

/** A policy, and the faults of the labels that it was read from. */
export interface PolicyRead {
  readonly policy: Policy;
  readonly violations: readonly Violation[];
}

/** `restricted:v1.25`. */
export const levelText = ({ level, version }: LevelVersion): string => `${level}:${version}`;

/** How restrictive a level is, for comparisons. */
const rank = (level: Level): number => LEVELS.indexOf(level);

/** Whether a level is more restrictive than another one. */
export const isStricter = (level: Level, other: Level): boolean => rank(level) > rank(other);

/** Whether two levels are the same in the same version. */
export const isSameLevel = (one: LevelVersion, other: LevelVersion): boolean =>
  one.level === other.level && one.version === other.version;

/** Whether a policy never says anything about a pod. */
export const isPrivileged = ({ enforce, audit, warn }: Policy): boolean =>
  [enforce, audit, warn].every(({ level }) => level === 'privileged');

/** Whether two policies say the same about every pod. */
export const isEquivalent = (one: Policy, other: Policy): boolean =>
  (['enforce', 'audit', 'warn'] as const).every(
    mode =>
      isSameLevel(one[mode], other[mode]) || (one[mode].level === 'privileged' && other[mode].level === 'privileged'),
  );

/**
 * The levels of a policy that these labels set and that are not privileged: `enforce=restricted:latest,
 * warn=baseline:v1.25`.
 */
export const policyText = (policy: Policy, labels: { readonly [key: string]: string }, names: PolicyLabels): string =>
  (['enforce', 'audit', 'warn'] as const)
    .filter(mode => policy[mode].level !== 'privileged')
    .filter(mode => Object.hasOwn(labels, names.level[mode]) || Object.hasOwn(labels, names.version[mode]))
    .map(mode => `${mode}=${levelText(policy[mode])}`)
    .join(', ');

/** The level with a name; undefined if no level has it. */
export const levelNamed = (name: string): Level | undefined => LEVELS.find(level => level === name);

const VERSION = /^v1\.(0|[1-9][0-9]*)$/;

/** The minor version of `v1.N`, Infinity for `latest`; undefined for other texts and for numbers that are too large. */
export function minorOf(version: string): number | undefined {
  if (version === 'latest') return Infinity;
  const minor = VERSION.exec(version)?.[1];
  return minor === undefined || BigInt(minor) > 0x7fff_ffff_ffff_ffffn ? undefined : Number(minor);
}

/** The reason why a text is not a level. */
export const LEVEL_PROBLEM = `must be one of ${LEVELS.join(', ')}`;
/** The reason why a text is not a version. */
export const VERSION_PROBLEM = `must be ${goQuote('latest')} or ${goQuote('v1.x')}`;

/** The names of the labels of namespaces that set the policy of their pods. */
export interface PolicyLabels {
  readonly level: { readonly [mode in Mode]: string };
  readonly version: { readonly [mode in Mode]: string };
}

/** The names of the labels in a naming. */
export function policyLabels(naming: Naming): PolicyLabels {
  const label = (name: string): string => naming.label(`pod-security.orchestrator.io/${name}`);
  return {
    level: { enforce: label('enforce'), audit: label('audit'), warn: label('warn') },
    version: { enforce: label('enforce-version'), audit: label('audit-version'), warn: label('warn-version') },
  };
}

/**
 * The policy that the labels of a namespace set; `defaults` for the levels that they do not set. For an invalid level,
 * `enforce` is restricted and the others are privileged; for an invalid version, the latest is used. A namespace that
 * enforces a level and has no valid level for warnings warns of at least the same level, so that its controllers learn
 * early that their pods will be refused.
 */
export function policyOf(
  labels: { readonly [key: string]: string } | undefined,
  names: PolicyLabels,
  defaults: Policy,
): PolicyRead {
  if (!labels) return { policy: defaults, violations: [] };
  const violations: Violation[] = [];
  const read = <T>(label: string, parse: (text: string) => T | undefined, problem: string): T | undefined | null => {
    if (!Object.hasOwn(labels, label)) return null;
    const text = labels[label]!;
    const value = parse(text);
    if (value === undefined) violations.push(invalid(`metadata.labels[${label}]`, text, problem));
    return value;
  };
  const levelOf = (mode: Mode, otherwise: Level): { readonly level: Level; readonly isSet: boolean } => {
    const level = read(names.level[mode], levelNamed, LEVEL_PROBLEM);
    if (level === null) return { level: defaults[mode].level, isSet: false };
    return { level: level ?? otherwise, isSet: level !== undefined };
  };
  const versionOf = (mode: Mode): { readonly version: string; readonly isSet: boolean } => {
    const version = read(
      names.version[mode],
      text => (minorOf(text) === undefined ? undefined : text),
      VERSION_PROBLEM,
    );
    if (version === null) return { version: defaults[mode].version, isSet: false };
    return { version: version ?? 'latest', isSet: version !== undefined };
  };
  const enforceLevel = levelOf('enforce', 'restricted');
  const enforce = { level: enforceLevel.level, version: versionOf('enforce').version };
  const audit = { level: levelOf('audit', 'privileged').level, version: versionOf('audit').version };
  const warnLevel = levelOf('warn', 'privileged');
  const warnVersion = versionOf('warn');
  const isRaised = !warnLevel.isSet && enforceLevel.isSet && isStricter(enforce.level, warnLevel.level);
  const warn = {
    level: isRaised ? enforce.level : warnLevel.level,
    version: isRaised && !warnVersion.isSet ? enforce.version : warnVersion.version,
  };
  return { policy: { enforce, audit, warn }, violations };
}
