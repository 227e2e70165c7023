export { type KubeconfigAccess as Access, kubeconfigText } from './kubeconfig.js';
export { ensurePki, type Pki, type PkiOptions, serverNames } from './pki.js';
