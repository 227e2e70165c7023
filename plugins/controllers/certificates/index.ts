import { controller, type Plugin } from '../../../core/api/index.js';
import { Approver } from './approver.js';
import { Cleaner } from './cleaner.js';
import { parseSigning, type SigningConfig } from './config.js';
import { Signer } from './signer.js';

/** Approves requests of nodes for client certificates. */
export const certificateApproval = {
  name: 'controllers/certificate-approval',
  parse: () => ({}),
  contribute: () => [controller.of(host => new Approver(host))],
} satisfies Plugin;

/** Issues certificates for approved requests. */
export const certificateSigning = {
  name: 'controllers/certificate-signing',
  parse: parseSigning,
  contribute: config => [controller.of(host => new Signer(host, config))],
} satisfies Plugin<SigningConfig>;

/** Removes certificate signing requests that are not needed any more. */
export const certificateCleaner = {
  name: 'controllers/certificate-cleaner',
  parse: () => ({}),
  contribute: () => [controller.of(host => new Cleaner(host))],
} satisfies Plugin;
