import type { Client, Controller, Host } from '../../../core/api/index.js';
import { Malformed } from '../../../core/services/pki/certificateRequest.js';
import type { SigningConfig } from './config.js';
import { Issuer, Unsignable } from './issue.js';
import { hasCondition, NO_TIMES, requestedBy, SIGNER_CHECKS } from './request.js';
import { requestController, type StoredRequest, writeRequest } from './requestController.js';

/** Shorter certificates would have to be renewed too often. */
const LEAST_MS = 600_000;

/** How long a certificate is valid, in milliseconds. */
function lifetimeOf({ spec }: StoredRequest, { maxMs }: SigningConfig): number {
  const seconds = spec.expirationSeconds;
  return seconds === undefined ? maxMs : Math.max(LEAST_MS, Math.min(seconds * 1000, maxMs));
}

async function failRequest(object: StoredRequest, message: string, client: Client): Promise<void> {
  const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, ...NO_TIMES };
  await writeRequest(object, 'status', { conditions: [...(object.status?.conditions ?? []), failed] }, client);
}

/** Issues the certificates of approved requests for the standard signers. */
export function signer(host: Host<'control'>, config: SigningConfig): Controller {
  /** By the name of the signer in the naming of the server. */
  const issuers = new Map(
    config.signers.map(files => [
      host.naming.component(files.signer),
      { issuer: new Issuer(files), signer: files.signer },
    ]),
  );
  return requestController({
    name: 'certificatesigningrequest-signing-controller',
    async handle(object, client) {
      const found = issuers.get(object.spec.signerName);
      if (!found || (object.status?.certificate ?? '') !== '') return;
      if (!hasCondition(object, 'Approved') || hasCondition(object, 'Denied') || hasCondition(object, 'Failed')) return;
      const wanted = requestedBy(object);
      if (wanted instanceof Malformed) return failRequest(object, `unable to parse csr: ${wanted.message}`, client);
      const why = SIGNER_CHECKS.get(found.signer)?.(object, wanted);
      if (why) return failRequest(object, why, client);
      const issued = await found.issuer.issue({
        wanted,
        usages: object.spec.usages ?? [],
        lifetimeMs: lifetimeOf(object, config),
        now: host.now(),
      });
      if (issued instanceof Unsignable) return failRequest(object, `unable to sign csr: ${issued.message}`, client);
      await writeRequest(object, 'status', { certificate: Buffer.from(issued).toString('base64') }, client);
    },
  })(host);
}
