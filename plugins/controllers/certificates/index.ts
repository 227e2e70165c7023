import { controller, type Plugin } from '../../../core/api/index.js';
import { approver } from './approver.js';
import { cleaner } from './cleaner.js';
import { parseSigning, type SigningConfig } from './config.js';
import { signer } from './signer.js';

/** Approves requests of nodes for client certificates. */
export const certificateApproval = {
  name: 'controllers/certificate-approval',
  parse: () => ({}),
  contribute: () => [controller.of(approver)],
} satisfies Plugin;

/** Issues certificates for approved requests. */
export const certificateSigning = {
  name: 'controllers/certificate-signing',
  parse: parseSigning,
  contribute: config => [controller.of(host => signer(host, config))],
} satisfies Plugin<SigningConfig>;

/** Removes certificate signing requests that are no longer needed. */
export const certificateCleaner = {
  name: 'controllers/certificate-cleaner',
  parse: () => ({}),
  contribute: () => [controller.of(cleaner)],
} satisfies Plugin;
