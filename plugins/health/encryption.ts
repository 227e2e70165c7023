import { ConfigError, definePlugin, healthCheck, metrics, type Plugin } from '../../core/api/index.js';
import { readRules } from '../../core/services/encryption/index.js';
import { KmsHealth } from '../../core/services/encryption/kms/health.js';
import { ENCRYPTION_METRICS } from '../../core/services/encryption/metrics.js';

/** Configuration of `encryption`: the path of the EncryptionConfiguration. */
interface EncryptionConfig {
  readonly file: string;
}

/** The metrics of encryption at rest, and the check `kms-providers` of key management plugins. */
export default definePlugin<EncryptionConfig>({
  name: 'encryption',
  parse(config) {
    const { file } = (config ?? {}) as { readonly file?: unknown };
    if (typeof file !== 'string' || file === '') throw new ConfigError('file', 'must be the path of a file');
    return { file };
  },
  contribute: ({ file }) => [
    metrics.of(() => ENCRYPTION_METRICS),
    healthCheck.of(host => {
      const health = new KmsHealth(() => readRules(file, host.naming));
      host.onClose(() => health.close());
      return { name: 'kms-providers', of: ['livez', 'readyz', 'healthz'], check: () => health.check() };
    }),
  ],
}) satisfies Plugin<EncryptionConfig>;
