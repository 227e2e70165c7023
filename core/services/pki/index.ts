export { type CertificateFiles, certificateFiles, ensurePki, type Pki } from './pki.js';
