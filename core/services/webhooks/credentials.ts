import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../../api/point.js';
import { isRecord, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { decodeYaml } from '../../schema/yaml/yaml.js';
import type { Credentials } from './client.js';

const FLAG = '--admission-control-config-file';

/** The credentials of the users of a kubeconfig, by the names of the users. Throws ConfigError. */
export function readCredentials(file: string): ReadonlyMap<string, Credentials> {
  const document = parse(file);
  return new Map(
    recordsAt(document, 'users').map(entry => [
      stringAt(entry, 'name'),
      credentialsOf(recordAt(entry, 'user') ?? {}, dirname(file)),
    ]),
  );
}

function parse(file: string): UnknownRecord {
  try {
    const document: unknown = decodeYaml(readFileSync(file));
    if (isRecord(document)) return document;
  } catch (error) {
    throw new ConfigError(FLAG, `cannot read the kubeconfig ${file}: ${(error as Error).message}`);
  }
  throw new ConfigError(FLAG, `${file} must be a kubeconfig`);
}

function credentialsOf(user: UnknownRecord, folder: string): Credentials {
  const tokenFile = stringAt(user, 'tokenFile');
  const token = stringAt(user, 'token') || (tokenFile && readFileSync(resolve(folder, tokenFile), 'utf8').trim());
  return {
    ...entry('certificate', pem(user, 'client-certificate', folder)),
    ...entry('key', pem(user, 'client-key', folder)),
    ...entry('token', token),
    ...entry('username', stringAt(user, 'username')),
    ...entry('password', stringAt(user, 'password')),
  };
}

const entry = (name: keyof Credentials, value: string): Credentials => (value ? { [name]: value } : {});

/** A certificate or key in PEM: its data, or the contents of its file; '' where there is neither. */
function pem(user: UnknownRecord, member: string, folder: string): string {
  const data = stringAt(user, `${member}-data`);
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  const file = stringAt(user, member);
  return file ? readFileSync(resolve(folder, file), 'utf8') : '';
}
