import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { ConfigError } from '../api/point.js';
import { YAML_ALIASES } from '../limits.js';

type Fields = { readonly [name: string]: unknown };

/** Where a server is and how to speak to it. */
export interface Reach {
  readonly url: string;
  readonly options: RequestOptions;
}

/** The current context of a kubeconfig. Throws ConfigError if it cannot be used. */
export function reachOf(file: string): Reach {
  const refuse = (why: string): never => {
    throw new ConfigError('--kubeconfig', `${file} ${why}`);
  };
  let content: Fields;
  try {
    content = parse(readFileSync(file, 'utf8'), { maxAliasCount: YAML_ALIASES }) as Fields;
  } catch (error) {
    return refuse(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is not YAML'}`);
  }
  const named = (list: string, name: unknown, member: string): Fields => {
    const entries = content?.[list];
    const found = Array.isArray(entries)
      ? (entries as Fields[]).find(entry => entry.name === name)?.[member]
      : undefined;
    return (found as Fields) ?? refuse(`has no ${member} ${JSON.stringify(name)}`);
  };
  const context = named('contexts', content?.['current-context'], 'context');
  const cluster = named('clusters', context.cluster, 'cluster');
  const user = named('users', context.user, 'user');
  /** `x-data` holds the content in base64, `x` names a file. */
  const pem = (of: Fields, name: string): string | undefined => {
    const data = of[`${name}-data`];
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString();
    const path = of[name];
    return typeof path === 'string' ? readFileSync(resolve(dirname(file), path), 'utf8') : undefined;
  };
  if (typeof cluster.server !== 'string') return refuse('names no server');
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
