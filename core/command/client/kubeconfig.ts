import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { ConfigError } from '../../api/point.js';
import { YAML_ALIASES } from '../../limits.js';

type Fields = { readonly [name: string]: unknown };

/** The URL of a server, and request options with its CA and the client's credentials. */
export interface ServerConnection {
  readonly url: string;
  readonly options: RequestOptions;
}

/** Reads the current context of a kubeconfig. Throws ConfigError if it is missing or incomplete. */
export function readKubeconfig(file: string): ServerConnection {
  const fail = (why: string): never => {
    throw new ConfigError('--kubeconfig', `${file} ${why}`);
  };
  let content: Fields;
  try {
    content = parse(readFileSync(file, 'utf8'), { maxAliasCount: YAML_ALIASES }) as Fields;
  } catch (error) {
    return fail(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is not YAML'}`);
  }
  const findEntry = (list: string, name: unknown, member: string): Fields => {
    const entries = content?.[list];
    const found = Array.isArray(entries)
      ? (entries as Fields[]).find(entry => entry.name === name)?.[member]
      : undefined;
    return (found as Fields) ?? fail(`has no ${member} ${JSON.stringify(name)}`);
  };
  const context = findEntry('contexts', content?.['current-context'], 'context');
  const cluster = findEntry('clusters', context.cluster, 'cluster');
  const user = findEntry('users', context.user, 'user');
  /** PEM from the field `<name>-data` (base64) or from the file named by the field `<name>`. */
  const pem = (of: Fields, name: string): string | undefined => {
    const data = of[`${name}-data`];
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString();
    const path = of[name];
    return typeof path === 'string' ? readFileSync(resolve(dirname(file), path), 'utf8') : undefined;
  };
  if (typeof cluster.server !== 'string') return fail('names no server');
  return {
    url: cluster.server,
    options: {
      ca: pem(cluster, 'certificate-authority'),
      cert: pem(user, 'client-certificate'),
      key: pem(user, 'client-key'),
      rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
      headers: typeof user.token === 'string' ? { authorization: `Bearer ${user.token}` } : {},
    },
  };
}
