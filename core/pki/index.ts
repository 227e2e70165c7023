export { ensurePki, type Pki } from './pki.js';
