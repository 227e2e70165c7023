import { readFileSync } from 'node:fs';
import { unreadableError } from '../files/unreadable.js';
import { type AuditPolicy, parsePolicy } from '../services/audit/policy.js';
import { namingOf } from '../naming.js';
import { atFlag } from './atFlag.js';
import type { Settings } from './settings.js';

/** The audit policy of the settings; undefined without one. Throws ConfigError. */
export function auditPolicyOf({
  auditPolicyFile: file,
  naming,
}: Pick<Settings, 'auditPolicyFile' | 'naming'>): AuditPolicy | undefined {
  if (file === undefined) return undefined;
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableError('--audit-policy-file', file, error);
  }
  return atFlag('--audit-policy-file', () => parsePolicy(yaml, file, namingOf(naming).group('audit.orchestrator.io')));
}
