/** For programs that are clients of a server: its address and their credentials, from a kubeconfig. */
export { type ClientAccess, loadCredentials, type LoadOptions } from './loadCredentials.js';
export type { ClientCredentials } from './types.js';
