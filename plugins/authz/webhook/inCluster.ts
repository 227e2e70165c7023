import { readFileSync } from 'node:fs';
import { ConfigError, type Naming } from '../../../core/api/index.js';
import type { WebhookFile } from '../../../core/services/webhooks/kubeconfig.js';

/** Where pods find the credentials of their service account. */
const FOLDER = '/var/run/secrets/orchestrator.io/serviceaccount';

/**
 * The server of the cluster that this program runs in as a pod, which is asked as its service account. Throws
 * ConfigError outside of a cluster.
 */
export function inClusterEndpoint(naming: Naming, version: string, environment = process.env): WebhookFile {
  const fail = (why: string): never => {
    throw new ConfigError('connectionInfo.type', `InClusterConfig works in pods only: ${why}`);
  };
  const [host, port] = ['HOST', 'PORT'].map(part => {
    const name = naming.variable(`ORCHESTRATOR_SERVICE_${part}`);
    return environment[name] || fail(`the variable ${name} is not set`);
  });
  const folder = FOLDER.replace('orchestrator.io', naming.label('orchestrator.io'));
  const files = [`${folder}/token`, `${folder}/ca.crt`] as const;
  const [token = '', ca = ''] = files.map(file => {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      return fail(`cannot read ${file}`);
    }
  });
  const group = naming.group('authorization.orchestrator.io');
  const address = host!.includes(':') ? `[${host}]` : host;
  const url = `https://${address}:${port}/apis/${group}/${version}/subjectaccessreviews`;
  return { endpoint: { url, ca, credentials: { token } }, files };
}
