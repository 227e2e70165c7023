import { list, failWith, readConfigFile, type Shaped, STRING, struct } from '../../schema/configFile.js';
import { ENCRYPTION_KEYS } from '../../limits.js';
import type { Naming } from '../../naming.js';
import { duration } from '../../settings/values.js';
import type { KmsConfig } from './kms/plugin.js';
import { aesCbc, aesGcm, type Cipher, secretBox } from './ciphers.js';

/**
 * A key of a provider. Values that are encrypted with it begin with the names of the provider, its version and the key.
 */
export interface EncryptionKey<C = Cipher> {
  readonly provider: string;
  readonly version: string;
  readonly name: string;
  readonly cipher: C;
}

/** The rule by which values of some resources are stored. */
export interface EncryptionRule<C = Cipher> {
  /** Names `resource.group` as clients know them, with `*` for all of either; the core group is empty. */
  readonly resources: readonly string[];
  /** Keys in the order of the file. The first is used for writes. Undefined: values are stored as they are. */
  readonly keys: readonly (EncryptionKey<C> | undefined)[];
}

/** A key as the file defines it: the cipher of a key management plugin is created later. */
export type GivenCipher = Cipher | KmsConfig;
type GivenKey = EncryptionKey<GivenCipher>;

const KEYS = struct({ keys: list(struct({ name: STRING, secret: STRING })) });
const PROVIDER = struct({
  aesgcm: KEYS,
  aescbc: KEYS,
  secretbox: KEYS,
  identity: struct({}),
  kms: struct({ apiVersion: STRING, name: STRING, endpoint: STRING, timeout: STRING }),
});

const FILE = {
  kind: 'EncryptionConfiguration',
  group: 'apiserver.config.orchestrator.io',
  versions: ['v1'],
  members: { resources: list(struct({ resources: list(STRING), providers: list(PROVIDER) })) },
} as const;

type GivenProvider = NonNullable<Shaped<typeof PROVIDER>>;

/** The ciphers of a file, and the numbers of bytes that their keys may have. */
const CIPHERS = {
  aesgcm: { make: aesGcm, bytes: [16, 24, 32] },
  aescbc: { make: aesCbc, bytes: [16, 24, 32] },
  secretbox: { make: secretBox, bytes: [32] },
} as const;

/** Time limit of a call of a key management plugin; upstream has the same. */
const KMS_TIMEOUT = '3s';
const KMS_ENDPOINT = /^unix:\/\/\/[^\s]{1,100}$/;

function readKms(given: NonNullable<GivenProvider['kms']>, path: string, errors: string[]): GivenKey[] {
  const { apiVersion = 'v1', name = '', endpoint = '', timeout = KMS_TIMEOUT } = given;
  if (apiVersion !== 'v2') errors.push(`${path}.apiVersion: must be v2; plugins for v1 are not supported`);
  if (!NAME.test(name)) errors.push(`${path}.name: must be a name without colons and blanks`);
  if (!KMS_ENDPOINT.test(endpoint)) errors.push(`${path}.endpoint: must be a socket, such as unix:///run/kms.sock`);
  let timeoutMs = 0;
  try {
    timeoutMs = duration(timeout, `${path}.timeout`);
    if (timeoutMs <= 0) errors.push(`${path}.timeout: must be a positive duration, such as 3s`);
  } catch (error) {
    errors.push((error as Error).message);
  }
  return [{ provider: 'kms', version: 'v2', name, cipher: { name, endpoint, timeoutMs } }];
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NAME = /^[^:\s]{1,253}$/;

function readKeys(provider: keyof typeof CIPHERS, given: GivenProvider, path: string, errors: string[]): GivenKey[] {
  const { make, bytes } = CIPHERS[provider];
  const keys = given[provider]?.keys ?? [];
  const at = `${path}.${provider}.keys`;
  if (keys.length === 0) errors.push(`${at}: must have at least one key`);
  if (keys.length > ENCRYPTION_KEYS) errors.push(`${at}: has more than ${ENCRYPTION_KEYS} keys`);
  return keys.slice(0, ENCRYPTION_KEYS).flatMap(({ name = '', secret = '' }, i) => {
    if (!NAME.test(name)) errors.push(`${at}[${i}].name: must be a name without colons and blanks`);
    else if (keys.findIndex(key => key.name === name) < i) errors.push(`${at}[${i}].name: is given twice`);
    const key = BASE64.test(secret) ? Buffer.from(secret, 'base64') : Buffer.alloc(0);
    // The secret itself is never part of a message.
    if (!(bytes as readonly number[]).includes(key.length)) {
      errors.push(`${at}[${i}].secret: must be ${bytes.join(', ')} bytes in base64`);
      return [];
    }
    return [{ provider, version: 'v1', name, cipher: make(key) }];
  });
}

function readProvider(given: GivenProvider, path: string, errors: string[]): readonly (GivenKey | undefined)[] {
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const [name] = names;
  if (name === undefined || names.length > 1) {
    errors.push(`${path}: must have exactly one of aesgcm, aescbc, secretbox, kms and identity`);
    return [];
  }
  if (given.kms) return readKms(given.kms, `${path}.kms`, errors);
  return name === 'identity' ? [undefined] : readKeys(name as keyof typeof CIPHERS, given, path, errors);
}

/** The name of a resource with its group: `secrets.`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*`. */
function resourceName(given: string, path: string, errors: string[]): string {
  const dot = given.indexOf('.');
  const resource = dot < 0 ? given : given.slice(0, dot);
  const group = dot < 0 ? '' : given.slice(dot + 1);
  if (resource === '' || (dot < 0 && resource === '*') || /[^a-z0-9*-]/.test(resource) || /[^a-z0-9.*-]/.test(group))
    errors.push(`${path}: must be a resource, such as secrets, deployments.apps, *.apps, *. or *.*`);
  return `${resource}.${group}`;
}

/**
 * Reads an EncryptionConfiguration (v1). The first rule that names a resource applies to it. Throws ConfigError, which
 * names the file and each wrong field, and never a secret.
 */
export function readEncryptionFile(
  bytes: Uint8Array,
  file: string,
  naming: Naming,
): readonly EncryptionRule<GivenCipher>[] {
  const { resources: rules = [] } = readConfigFile(bytes, file, FILE, naming);
  const errors: string[] = [];
  if (rules.length === 0) errors.push('resources: must have at least one entry');
  const seen = new Set<string>();
  const read = rules.map((rule, i): EncryptionRule<GivenCipher> => {
    const { resources = [], providers = [] } = rule ?? {};
    const path = `resources[${i}]`;
    if (resources.length === 0) errors.push(`${path}.resources: must name at least one resource`);
    if (providers.length === 0) errors.push(`${path}.providers: must have at least one provider`);
    if (providers.length > ENCRYPTION_KEYS)
      errors.push(`${path}.providers: has more than ${ENCRYPTION_KEYS} providers`);
    const names = resources.map((name, j) => resourceName(name, `${path}.resources[${j}]`, errors));
    for (const [j, name] of names.entries()) {
      if (seen.has(name)) errors.push(`${path}.resources[${j}]: is named twice`);
      seen.add(name);
    }
    return {
      resources: names,
      keys: providers
        .slice(0, ENCRYPTION_KEYS)
        .flatMap((provider, j) => readProvider(provider, `${path}.providers[${j}]`, errors)),
    };
  });
  checkPlugins(read, errors);
  failWith(file, errors);
  return read;
}

/** Adds an error for each name that is given to different key management plugins. */
function checkPlugins(rules: readonly EncryptionRule<GivenCipher>[], errors: string[]): void {
  const known = new Map<string, string>();
  for (const { cipher } of rules.flatMap(({ keys }) => keys.filter(key => key !== undefined))) {
    if (!isKms(cipher)) continue;
    const { name, endpoint, timeoutMs } = cipher;
    const plugin = `${endpoint} ${timeoutMs}`;
    if ((known.get(name) ?? plugin) !== plugin)
      errors.push(`the KMS plugin ${name} has different endpoints or timeouts: give each plugin a name of its own`);
    known.set(name, plugin);
  }
}

/** Whether a key is that of a key management plugin. */
export const isKms = (cipher: GivenCipher): cipher is KmsConfig => 'endpoint' in cipher;
