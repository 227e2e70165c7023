import { existsSync } from 'node:fs';
import type { SignerFiles } from '../../plugins/controllers/certificates/config.js';
import { checkAuthority } from '../../plugins/controllers/certificates/issue.js';
import { ConfigError } from '../api/point.js';
import { atFlag } from '../settings/atFlag.js';
import type { Settings } from '../settings/settings.js';

/** The settings of single signers: the signer in neutral names, and its part in the names of settings and of flags. */
const SIGNERS = [
  ['orchestrator.io/orchestrator-apiserver-client', 'ApiserverClient', 'kube-apiserver-client'],
  ['orchestrator.io/orchestrator-apiserver-client-node-agent', 'NodeClient', 'kubelet-client'],
  ['orchestrator.io/node-agent-serving', 'NodeServing', 'kubelet-serving'],
  ['orchestrator.io/legacy-unknown', 'LegacyUnknown', 'legacy-unknown'],
] as const;

type Files = Partial<Omit<SignerFiles, 'signer'>>;

function checkPair({ certFile, keyFile }: Files, certFlag: string, keyFlag: string): void {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const [given, missing] = certFile === undefined ? [keyFlag, certFlag] : [certFlag, keyFlag];
    throw new ConfigError(given, `needs ${missing} too`);
  }
  for (const [flag, file] of [
    [certFlag, certFile],
    [keyFlag, keyFile],
  ] as const)
    if (file !== undefined && !existsSync(file)) throw new ConfigError(flag, `there is no file ${file}`);
  if (certFile !== undefined && keyFile !== undefined) atFlag(certFlag, () => checkAuthority({ certFile, keyFile }));
}

const filesOfAll = (settings: Settings): Files => ({
  certFile: settings.clusterSigningCertFile,
  keyFile: settings.clusterSigningKeyFile,
});

const filesOf = (settings: Settings, part: (typeof SIGNERS)[number][1]): Files => ({
  certFile: settings[`clusterSigning${part}CertFile`],
  keyFile: settings[`clusterSigning${part}KeyFile`],
});

/** Checks the settings of signers. Throws ConfigError, which names the flag and the fix. */
export function checkSigning(settings: Settings): Settings {
  if (settings.clusterSigningDuration <= 0)
    throw new ConfigError('--cluster-signing-duration', 'must be longer than 0');
  const all = filesOfAll(settings);
  checkPair(all, '--cluster-signing-cert-file', '--cluster-signing-key-file');
  for (const [, part, name] of SIGNERS) {
    const files = filesOf(settings, part);
    const flag = `--cluster-signing-${name}-cert-file`;
    checkPair(files, flag, `--cluster-signing-${name}-key-file`);
    if (files.certFile !== undefined && all.certFile !== undefined)
      throw new ConfigError(flag, 'cannot be used with --cluster-signing-cert-file: omit one of them');
  }
  return settings;
}

/**
 * The CA of each signer. Once a single signer has a CA of its own, signers without one issue nothing; upstream's rule.
 */
export function signersOf(settings: Settings, own: Omit<SignerFiles, 'signer'>): SignerFiles[] {
  const single = SIGNERS.flatMap(([signer, part]) => {
    const { certFile, keyFile } = filesOf(settings, part);
    return certFile !== undefined && keyFile !== undefined ? [{ signer, certFile, keyFile }] : [];
  });
  if (single.length > 0) return single;
  const { certFile, keyFile } = { ...own, ...definedFiles(filesOfAll(settings)) };
  return SIGNERS.map(([signer]) => ({ signer, certFile, keyFile }));
}

const definedFiles = (files: Files): Files => (files.certFile === undefined ? {} : files);
