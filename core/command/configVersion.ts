import { ConfigError } from '../api/point.js';
import { fileKeyOf } from '../settings/given.js';
import type { Option } from './options.js';

const KIND = 'ServerConfiguration';
const GROUP = 'capstan';

/** A version of the configuration file. */
interface ConfigVersion {
  readonly apiVersion: string;
  /** The name of a setting in a file of this version. */
  readonly keyOf: (option: Option) => string;
  /** The warning that the version is deprecated. */
  readonly warning?: string;
}

const V1: ConfigVersion = { apiVersion: `${GROUP}/v1`, keyOf: fileKeyOf };

/** In v1beta1, settings have their names in the library. */
const VERSIONS: readonly ConfigVersion[] = [
  V1,
  {
    apiVersion: `${GROUP}/v1beta1`,
    keyOf: ({ setting }) => setting,
    warning: `${GROUP}/v1beta1 ${KIND} is deprecated; use ${V1.apiVersion} ${KIND}, where settings are named like flags`,
  },
];

/**
 * The version of a configuration file, and its content without it. A file that names no version is of v1. Throws
 * ConfigError for other versions and kinds.
 */
export function configVersionOf({ apiVersion, kind, ...content }: Record<string, unknown>): {
  readonly version: ConfigVersion;
  readonly content: Readonly<Record<string, unknown>>;
} {
  if (apiVersion === undefined && kind === undefined) return { version: V1, content };
  const known = VERSIONS.map(one => one.apiVersion);
  const version = VERSIONS.find(one => one.apiVersion === apiVersion);
  if (!version)
    throw new ConfigError('apiVersion', `must be ${known.join(' or ')}, not ${JSON.stringify(apiVersion) ?? 'absent'}`);
  if (kind !== KIND) throw new ConfigError('kind', `must be ${KIND}, not ${JSON.stringify(kind) ?? 'absent'}`);
  return { version, content };
}
