import { ConfigError } from '../api/point.js';
import { parseGoBool } from '../model/text/goBool.js';
import { namingOf, type NamingName } from '../naming.js';
import { RELEASE } from '../release.js';
import { emulatedMinor } from './emulation.js';
import { type Gate, GATES, gatesOf, type Stage } from './table.js';

const FLAG = '--feature-gates';

/** The gate of bodies and answers in CBOR. */
export const CBOR_GATE = 'CBORServingAndStorage';

/** The gate of compressed answers. */
export const COMPRESSION_GATE = 'APIResponseCompression';

/** The gate of deletes of objects that cannot be read. */
export const UNSAFE_DELETION_GATE = 'AllowUnsafeMalformedObjectDeletion';

/** The settings that say which feature gates are on. */
export interface GateSettings {
  readonly featureGates: readonly string[];
  readonly emulatedVersion: readonly string[];
  readonly naming: NamingName;
}

/** The state of the feature gates that results from the settings. */
export interface FeatureGates {
  /** Names of all gates that are on. */
  readonly enabled: readonly string[];
  /** Warnings about gates that will be removed. */
  readonly warnings: readonly string[];
}

/** Gates that set all gates of a stage that are not set themselves. */
const ALL_OF: ReadonlyMap<string, Stage> = new Map([
  ['AllAlpha', 'alpha'],
  ['AllBeta', 'beta'],
]);

/** Gates that need another gate to be on. */
const REQUIRED: readonly (readonly [gate: string, required: string, message: string])[] = [
  [
    'AuthorizeNodeWithSelectors',
    'AuthorizeWithSelectors',
    'AuthorizeNodeWithSelectors feature requires AuthorizeWithSelectors feature to be enabled',
  ],
  [
    'UnknownVersionInteroperabilityProxy',
    'StorageVersionAPI',
    'UnknownVersionInteroperabilityProxy feature requires StorageVersionAPI feature flag to be enabled',
  ],
];

/**
 * Splits `component:name`. As in upstream, components other than that of the server are refused, and so is a prefix for
 * only some of the gates.
 */
function withoutComponent(given: readonly string[], component: string): readonly string[] {
  let prefixed: boolean | undefined;
  return given.map(one => {
    const colon = one.indexOf(':');
    const prefix = colon < 0 ? '' : one.slice(0, colon).trim();
    if (prefix !== '' && prefix !== component) throw new ConfigError(FLAG, `component not registered: ${prefix}`);
    if (prefixed !== undefined && prefixed !== (prefix !== ''))
      throw new ConfigError(
        FLAG,
        `set ${component} feature gates with default empty prefix or ${component}: prefix consistently, do not mix use`,
      );
    prefixed = prefix !== '';
    return one.slice(colon + 1);
  });
}

/** The gates that are set, the last of several values. Throws ConfigError for values that are not true or false. */
function parseGates(given: readonly string[], component: string): ReadonlyMap<string, boolean> {
  const set = new Map<string, boolean>();
  for (const one of withoutComponent(given, component)) {
    const equals = one.indexOf('=');
    const name = (equals < 0 ? one : one.slice(0, equals)).trim();
    if (equals < 0) throw new ConfigError(FLAG, `missing bool value for ${name}`);
    const text = one.slice(equals + 1).trim();
    const value = parseGoBool(text);
    if (value === undefined)
      throw new ConfigError(
        FLAG,
        `invalid value of ${name}=${text}, err: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
      );
    set.set(name, value);
  }
  return set;
}

/** Throws ConfigError unless the gate exists and may have this value in the release. */
function checkGate(name: string, value: boolean, minor: number): Gate | undefined {
  if (ALL_OF.has(name)) return undefined;
  const gate = gatesOf(minor).get(name);
  if (!gate) throw new ConfigError(FLAG, `unrecognized feature gate: ${name}`);
  if (gate.isLocked && value !== gate.isOnByDefault)
    throw new ConfigError(
      FLAG,
      `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.isOnByDefault}`,
    );
  if (gate.stage === 'preAlpha')
    throw new ConfigError(
      FLAG,
      `cannot set feature gate ${name} to ${value}, feature is PreAlpha at emulated version ${RELEASE.major}.${minor}`,
    );
  return gate;
}

function warningOf(name: string, value: boolean, gate: Gate | undefined): readonly string[] {
  if (gate?.stage === 'deprecated')
    return [`Setting deprecated feature gate ${name}=${value}. It will be removed in a future release.`];
  if (gate?.stage === 'ga')
    return [`Setting GA feature gate ${name}=${value}. It will be removed in a future release.`];
  return [];
}

/**
 * Reads `--feature-gates`, a list of `name=true|false` (spec, "Deprecation policy: feature gates"). The component may
 * precede a name with a colon. The gates are those of the emulated release. Throws ConfigError in upstream's words for
 * unknown gates, for values that a gate cannot have, for gates without the gates that they need, and for releases that
 * cannot be emulated.
 */
export function featureGates({ featureGates: given, emulatedVersion, naming }: GateSettings): FeatureGates {
  const { short: component } = namingOf(naming);
  const minor = emulatedMinor(emulatedVersion, component);
  const set = parseGates(given, component);
  const warnings = [...set].flatMap(([name, value]) => warningOf(name, value, checkGate(name, value, minor)));
  const ofStage = new Map([...ALL_OF].map(([name, stage]) => [stage, set.get(name)]));
  const enabled = new Set([...ALL_OF.keys()].filter(name => set.get(name)));
  for (const [name, { stage, isOnByDefault }] of gatesOf(minor))
    if (set.get(name) ?? ofStage.get(stage) ?? isOnByDefault) enabled.add(name);
  for (const [gate, required, message] of REQUIRED)
    if (enabled.has(gate) && !enabled.has(required)) throw new ConfigError(FLAG, message);
  return { enabled: [...enabled], warnings };
}

/** Whether the gate exists. */
export const isGate = (name: string): boolean => GATES.has(name) || ALL_OF.has(name);

/** A feature gate in a running server. */
export interface FeatureState {
  readonly name: string;
  readonly stage: Stage;
  readonly isEnabled: boolean;
}

/** The states of all gates of a release, given its minor number and the gates that are on. */
export function featureStates(enabled: readonly string[], minor: number): readonly FeatureState[] {
  const gates = [...gatesOf(minor)].map(([name, { stage }]) => [name, stage] as const);
  return [...ALL_OF, ...gates]
    .filter(([, stage]) => stage !== 'preAlpha')
    .map(([name, stage]) => ({ name, stage, isEnabled: enabled.includes(name) }));
}
