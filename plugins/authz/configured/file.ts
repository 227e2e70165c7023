import { isAbsolute } from 'node:path';
import { ConfigError, type Naming } from '../../../core/api/index.js';
import { dns1123Subdomain } from '../../../core/model/names.js';
import {
  failWith,
  list,
  readConfigFile,
  type Shape,
  type Shaped,
  STRING,
  struct,
} from '../../../core/schema/configFile.js';
import { readWebhookFile } from '../../../core/services/webhooks/kubeconfig.js';
import { duration } from '../../../core/settings/values.js';
import { conditionFault } from '../webhook/conditions.js';
import type { AccessWebhookConfig, FailurePolicy } from '../webhook/config.js';
import { inClusterEndpoint } from '../webhook/inCluster.js';

/** The types of authorizers. All but Webhook may be in a file once. */
const TYPES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;
/** A type of authorizers. */
export type AuthorizerType = (typeof TYPES)[number];

/** An authorizer of a file. */
export type ConfiguredAuthorizer =
  | { readonly type: Exclude<AuthorizerType, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: AccessWebhookConfig };

/** Limits and defaults of upstream, in milliseconds. */
const MOST_MS = 30_000;
const AUTHORIZED_MS = 300_000;
const UNAUTHORIZED_MS = 30_000;
const MATCH_CONDITIONS = 64;

/** A duration in milliseconds. */
const TIME: Shape<number> = (value, path, errors) => {
  if (value === undefined || value === null) return undefined;
  try {
    return duration(value, path);
  } catch (error) {
    errors.push((error as Error).message);
    return undefined;
  }
};

const WEBHOOK = struct({
  authorizedTTL: TIME,
  unauthorizedTTL: TIME,
  timeout: TIME,
  subjectAccessReviewVersion: STRING,
  matchConditionSubjectAccessReviewVersion: STRING,
  failurePolicy: STRING,
  connectionInfo: struct({ type: STRING, kubeConfigFile: STRING }),
  matchConditions: list(struct({ expression: STRING })),
});
type GivenWebhook = NonNullable<Shaped<typeof WEBHOOK>>;

const FILE = {
  kind: 'AuthorizationConfiguration',
  group: 'apiserver.config.orchestrator.io',
  versions: ['v1', 'v1beta1', 'v1alpha1'],
  members: { authorizers: list(struct({ type: STRING, name: STRING, webhook: WEBHOOK })) },
} as const;

/** Checks a field of a webhook that must have one of a few words. */
function checkWord(errors: string[], path: string, value: string | undefined, words: readonly string[]): void {
  if (!value) errors.push(`${path}: is missing: set it to ${words.join(' or ')}`);
  else if (!words.includes(value)) errors.push(`${path}: must be ${words.join(' or ')}, not ${JSON.stringify(value)}`);
}

function checkConnection(errors: string[], path: string, given: GivenWebhook['connectionInfo'], naming: Naming): void {
  const { type, kubeConfigFile: file } = given ?? {};
  checkWord(errors, `${path}.type`, type, ['KubeConfigFile', 'InClusterConfig']);
  const at = `${path}.kubeConfigFile`;
  try {
    if (type === 'InClusterConfig') {
      if (file !== undefined) errors.push(`${at}: is for the type KubeConfigFile; omit it`);
      else inClusterEndpoint(naming, 'v1');
    } else if (type === 'KubeConfigFile') {
      if (!file) errors.push(`${at}: is missing: set the path of the kubeconfig of the webhook`);
      else if (!isAbsolute(file)) errors.push(`${at}: must be an absolute path, not ${JSON.stringify(file)}`);
      else readWebhookFile(file, { allowsHttp: false });
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errors.push(`${path}: ${error.message}`);
  }
}

async function checkConditions(errors: string[], path: string, given: GivenWebhook): Promise<void> {
  const { matchConditions = [], matchConditionSubjectAccessReviewVersion: version } = given;
  if (version || matchConditions.length > 0)
    checkWord(errors, `${path}.matchConditionSubjectAccessReviewVersion`, version, ['v1']);
  if (matchConditions.length > MATCH_CONDITIONS) {
    const has = `has ${matchConditions.length} items`;
    errors.push(`${path}.matchConditions: ${has}; it must have at most ${MATCH_CONDITIONS}`);
    return;
  }
  const seen = new Set<string>();
  for (const [i, { expression = '' }] of matchConditions.entries()) {
    const at = `${path}.matchConditions[${i}].expression`;
    const fault = expression.trim() === '' ? 'is missing' : await conditionFault(expression);
    if (fault !== undefined) errors.push(`${at}: ${expression && `${JSON.stringify(expression)} `}${fault}`);
    else if (seen.has(expression)) errors.push(`${at}: is the same as another condition; omit it`);
    seen.add(expression);
  }
}

async function readWebhook(
  errors: string[],
  path: string,
  name: string,
  given: GivenWebhook,
  naming: Naming,
): Promise<AccessWebhookConfig> {
  const { timeout, subjectAccessReviewVersion: version, failurePolicy, connectionInfo, matchConditions = [] } = given;
  if (!timeout) errors.push(`${path}.timeout: is missing: set it to at most 30s`);
  else if (timeout > MOST_MS) errors.push(`${path}.timeout: must be at most 30s`);
  checkWord(errors, `${path}.subjectAccessReviewVersion`, version, ['v1', 'v1beta1']);
  checkWord(errors, `${path}.failurePolicy`, failurePolicy, ['NoOpinion', 'Deny']);
  checkConnection(errors, `${path}.connectionInfo`, connectionInfo, naming);
  await checkConditions(errors, path, given);
  const { kubeConfigFile: file } = connectionInfo ?? {};
  return {
    name,
    ...(file === undefined ? {} : { file }),
    version: version as AccessWebhookConfig['version'],
    // As upstream, 0 stands for the default.
    authorizedMs: given.authorizedTTL || AUTHORIZED_MS,
    unauthorizedMs: given.unauthorizedTTL || UNAUTHORIZED_MS,
    timeoutMs: timeout ?? MOST_MS,
    failurePolicy: failurePolicy as FailurePolicy,
    matchConditions: matchConditions.map(({ expression = '' }) => expression),
  };
}

function checkName(errors: string[], path: string, name: string, seen: Set<string>): void {
  if (name === '') errors.push(`${path}: is missing: metrics have it`);
  else if (seen.has(name)) errors.push(`${path}: ${JSON.stringify(name)} is the name of another authorizer`);
  else errors.push(...dns1123Subdomain(name).map(why => `${path}: ${JSON.stringify(name)}: ${why}`));
  seen.add(name);
}

/**
 * Reads an authorization file (spec, "Authorization: modes and configuration"). Throws ConfigError with the file and
 * every field that is wrong, and with the reasons why expressions do not compile.
 */
export async function readAuthorizationFile(
  bytes: Uint8Array,
  file: string,
  naming: Naming,
): Promise<readonly ConfiguredAuthorizer[]> {
  const { authorizers = [] } = readConfigFile(bytes, file, FILE, naming);
  const errors: string[] = [];
  if (authorizers.length === 0) errors.push('authorizers: must have at least one');
  const [types, names] = [new Set<string>(), new Set<string>()];
  const read: ConfiguredAuthorizer[] = [];
  for (const [i, { type = '', name = '', webhook }] of authorizers.entries()) {
    const path = `authorizers[${i}]`;
    checkWord(errors, `${path}.type`, type, TYPES);
    if (!TYPES.includes(type as AuthorizerType)) continue;
    if (types.has(type) && type !== 'Webhook') errors.push(`${path}.type: there is another authorizer of type ${type}`);
    types.add(type);
    checkName(errors, `${path}.name`, name, names);
    if (type === 'Webhook') {
      if (!webhook) errors.push(`${path}.webhook: is missing: the type is Webhook`);
      else read.push({ type, name, webhook: await readWebhook(errors, `${path}.webhook`, name, webhook, naming) });
    } else {
      if (webhook) errors.push(`${path}.webhook: is for the type Webhook; omit it`);
      read.push({ type: type as Exclude<AuthorizerType, 'Webhook'>, name });
    }
  }
  failWith(file, errors);
  return read;
}
