import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a kubeconfig for a webhook. The CA is in the file `ca.crt` in the same directory. */
export function writeKubeconfig(folder: string, name: string, server: string): string {
  const path = join(folder, name);
  const content = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'u', user: {} }],
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}
