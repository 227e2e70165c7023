import type { Pki } from '../services/pki/index.js';

/** The files of a data directory that the server itself uses. */
export interface DataDirectory {
  readonly pki: Pki;
  readonly adminToken: string;
  /** Signs continue tokens. It is stored with the data, so that tokens survive a restart. */
  readonly continueSecret: Uint8Array;
}
