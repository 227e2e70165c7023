export { ensurePki, type Pki, writeFileAtomic } from './pki.js';
