import { ConfigError, isRecord, type Naming, stringAt, type UnknownRecord } from '../../../core/api/index.js';
import { readJson } from '../../../core/model/text/jsonText.js';

/** The API group of policies, in neutral names. */
const GROUP = 'abac.authorization.orchestrator.io';
const EVERYBODY = 'system:authenticated';

/** A policy: one line of the file. `*` in a matcher of resources matches all; empty texts match the empty name. */
export interface Policy {
  /** Empty: any user, if there is a group. A policy with neither matches nobody. */
  readonly user: string;
  readonly group: string;
  readonly apiGroup: string;
  readonly namespace: string;
  readonly resource: string;
  readonly nonResourcePath: string;
  readonly readonly: boolean;
  /** Its line in the file; the first is 1. */
  readonly line: number;
}

/** The policies of a file. */
export interface Policies {
  readonly policies: readonly Policy[];
  /** Lines in the form without a version. */
  readonly unversioned: readonly number[];
}

/** The members of a policy. Throws an Error that names a member of another type. Unknown members are ignored. */
function read(from: UnknownRecord, path: string): Omit<Policy, 'line'> {
  const text = (name: string): string => {
    const value = from[name] ?? '';
    if (typeof value !== 'string') throw new Error(`${path}${name} must be a string`);
    return value;
  };
  const readonly = from['readonly'] ?? false;
  if (typeof readonly !== 'boolean') throw new Error(`${path}readonly must be true or false`);
  return {
    user: text('user'),
    group: text('group'),
    apiGroup: text('apiGroup'),
    namespace: text('namespace'),
    resource: text('resource'),
    nonResourcePath: text('nonResourcePath'),
    readonly,
  };
}

/** `*` as user or group stands for everybody who is authenticated, and for nobody else. */
const withEverybody = <P extends Omit<Policy, 'line'>>(policy: P): P =>
  policy.user === '*' || policy.group === '*' ? { ...policy, user: '', group: EVERYBODY } : policy;

/** A policy of the old form, in which absent members match all. */
function readUnversioned(from: UnknownRecord): Omit<Policy, 'line'> {
  const given = read(from, '');
  const { user, group, namespace, resource } = given;
  return withEverybody({
    ...given,
    group: user === '' && group === '' ? EVERYBODY : group,
    apiGroup: '*',
    namespace: namespace || '*',
    resource: resource || '*',
    nonResourcePath: namespace === '' && resource === '' ? '*' : '',
  });
}

function readLine(
  line: string,
  naming: Naming,
): { readonly policy: Omit<Policy, 'line'>; readonly isVersioned: boolean } {
  const value = parse(line);
  if (!isRecord(value)) throw new Error('must be one JSON object, such as {"apiVersion":…,"kind":"Policy","spec":{…}}');
  const [apiVersion, kind] = [stringAt(value, 'apiVersion'), stringAt(value, 'kind')];
  const versions = ['v1beta1', 'v0'].map(version => naming.apiVersion(`${GROUP}/${version}`));
  if ((apiVersion === '' && kind === '') || (apiVersion === versions[1] && kind === 'Policy'))
    return { policy: readUnversioned(value), isVersioned: false };
  if (apiVersion !== versions[0])
    throw new Error(`apiVersion must be ${versions[0]}, not ${JSON.stringify(apiVersion)}`);
  if (kind !== 'Policy') throw new Error(`kind must be Policy, not ${JSON.stringify(kind)}`);
  const spec = value['spec'] ?? {};
  if (!isRecord(spec)) throw new Error('spec must be an object');
  return { policy: withEverybody(read(spec, 'spec.')), isVersioned: true };
}

function parse(line: string): unknown {
  try {
    return readJson(line);
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message}`);
  }
}

/**
 * Reads a policy file (spec, "ABAC mode"): one JSON object on each line; empty lines, and those that begin with `#`,
 * are ignored. Throws ConfigError, which names the file and the line.
 */
export function readPolicies(bytes: Uint8Array, file: string, naming: Naming): Policies {
  const policies: Policy[] = [];
  const unversioned: number[] = [];
  for (const [i, given] of Buffer.from(bytes).toString('utf8').split('\n').entries()) {
    const line = given.trim();
    if (line === '' || line.startsWith('#')) continue;
    try {
      const { policy, isVersioned } = readLine(line, naming);
      policies.push({ ...policy, line: i + 1 });
      if (!isVersioned) unversioned.push(i + 1);
    } catch (error) {
      throw new ConfigError(file, `line ${i + 1}: ${(error as Error).message}`);
    }
  }
  return { policies, unversioned };
}
