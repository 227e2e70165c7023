import { KubeconfigReader } from '../../files/kubeconfigReader.js';
import { recordAt, recordsAt, stringAt } from '../../model/record.js';
import type { Credentials } from './connections.js';
import { credentialsOf } from './kubeconfig.js';

/** The credentials of the users of a kubeconfig, by their names. Throws ConfigError, which names the file. */
export function readCredentials(file: string): ReadonlyMap<string, Credentials> {
  const reader = new KubeconfigReader(file);
  return new Map(
    recordsAt(reader.document(), 'users').map(entry => [
      stringAt(entry, 'name'),
      credentialsOf(reader, recordAt(entry, 'user') ?? {}),
    ]),
  );
}
