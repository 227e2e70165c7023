export { type CertificateFiles, certificateFiles, ensurePki, type Pki, writeFileAtomic } from './pki.js';
