import { ConfigError } from '../point.js';

/**
 * A schema of the configuration in the form of Standard Schema (standardschema.dev), which zod, Valibot, ArkType and
 * others implement. It must validate synchronously.
 *
 * @example
 * const config: ConfigSchema<{ level: number }> = z.object({ level: z.number() });
 */
export interface ConfigSchema<Config> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => ConfigResult<Config> | Promise<ConfigResult<Config>>;
  };
}

/**
 * The result of a schema: the value to use, or its faults.
 *
 * @example
 * const result: ConfigResult<number> = { issues: [{ message: 'must be a number', path: ['level'] }] };
 */
export type ConfigResult<Config> =
  | { readonly value: Config; readonly issues?: undefined }
  | { readonly issues: readonly ConfigIssue[] };

/**
 * A problem of a configuration.
 *
 * @example
 * const issue: ConfigIssue = { message: 'must be a name', path: ['keys', 0, 'user'] };
 */
export interface ConfigIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The largest number of issues that one message reports. */
const MAX_ISSUES = 10;

/** `['keys', 0, 'user']` as `keys[0].user`; '' for the whole. */
function pathText(path: ConfigIssue['path'] = []): string {
  const keys = path.map(part => (typeof part === 'object' ? part.key : part));
  return keys.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}${text && '.'}${String(key)}`),
    '',
  );
}

/**
 * A `parse` function from a schema. It throws ConfigError with the path of the first invalid field, and names the
 * others.
 *
 * @example
 * const parse = parseWith(z.object({ level: z.number() }));
 */
export const parseWith =
  <Config>(schema: ConfigSchema<Config>) =>
  (config: unknown): Config => {
    const result = schema['~standard'].validate(config);
    if (result instanceof Promise) throw new TypeError('the schema of the configuration must validate synchronously');
    if (!result.issues) return result.value;
    const [first, ...others] = result.issues.slice(0, MAX_ISSUES);
    const more = others.map(({ path, message }) => `; ${pathText(path) || 'config'}: ${message}`).join('');
    throw new ConfigError(pathText(first?.path) || 'config', (first?.message ?? 'is not valid') + more);
  };
