export type { CertificateFiles } from './kept.js';
export { certificateFiles, ensurePki, FRONT_PROXY, type Pki } from './pki.js';
