import { HISTORY_MS } from '../limits.js';
import type { Settings } from '../settings/settings.js';

/** The defaults of all settings that have one. */
export const DEFAULTS: Settings = {
  dataDir: './.capstan',
  bindAddress: '127.0.0.1',
  port: 6443,
  naming: 'neutral',
  tlsSan: [],
  enableBootstrapTokenAuth: false,
  anonymousAuth: true,
  authorizationMode: ['RBAC'],
  featureGates: [],
  runtimeConfig: [],
  enableAdmissionPlugins: [],
  webhookResolve: [],
  disableAdmissionPlugins: [],
  serviceAccountExtendTokenExpiration: true,
  serviceAccountLookup: true,
  legacyServiceAccountTokenCleanUpPeriod: 365 * 24 * 3_600_000,
  useServiceAccountCredentials: false,
  clusterSigningDuration: 365 * 24 * 3_600_000,
  storage: 'rocksdb',
  historyRetention: HISTORY_MS,
  listeningThreads: 1,
  livezGracePeriod: 0,
  shutdownDelayDuration: 0,
  verbosity: 0,
  plugins: [],
  resources: [],
};
