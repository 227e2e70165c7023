import type { Bytes } from '../../../core/model/scalars.js';
import type { CertificateSigningRequest } from '../../../kinds/certificates/v1.js';
import type { Host } from '../../../core/api/index.js';
import type { SigningConfig } from './config.js';
import { Issuer, Unsignable } from './issue.js';
import { Malformed } from '../../../core/services/pki/certificateRequest.js';
import { hasCondition, NO_TIMES, requestedBy, SIGNER_CHECKS } from './request.js';
import { RequestController } from './requestController.js';

/** Shorter certificates would have to be renewed too often. */
const LEAST_MS = 600_000;

/** Issues the certificates of approved requests for the standard signers. */
export class Signer extends RequestController {
  /** By the name of the signer in the naming of the server. */
  readonly #issuers: ReadonlyMap<string, { readonly issuer: Issuer; readonly signer: string }>;

  constructor(
    host: Host<'control'>,
    readonly config: SigningConfig,
  ) {
    super('certificatesigningrequest-signing-controller', host);
    this.#issuers = new Map(
      config.signers.map(files => [
        host.naming.component(files.signer),
        { issuer: new Issuer(files), signer: files.signer },
      ]),
    );
  }

  protected async handle(object: CertificateSigningRequest): Promise<void> {
    const found = this.#issuers.get(object.spec.signerName);
    if (!found || (object.status?.certificate ?? '') !== '') return;
    if (!hasCondition(object, 'Approved') || hasCondition(object, 'Denied') || hasCondition(object, 'Failed')) return;
    const wanted = requestedBy(object);
    if (wanted instanceof Malformed) return this.#fail(object, `unable to parse csr: ${wanted.message}`);
    const why = SIGNER_CHECKS.get(found.signer)?.(object, wanted);
    if (why) return this.#fail(object, why);
    const issued = await found.issuer.issue({
      wanted,
      usages: object.spec.usages ?? [],
      lifetimeMs: this.#lifetimeOf(object),
      now: this.host.now(),
    });
    if (issued instanceof Unsignable) return this.#fail(object, `unable to sign csr: ${issued.message}`);
    await this.write(object, 'status', { certificate: Buffer.from(issued).toString('base64') as Bytes });
  }

  #lifetimeOf(object: CertificateSigningRequest): number {
    const seconds = object.spec.expirationSeconds;
    const { maxMs } = this.config;
    return seconds === undefined ? maxMs : Math.max(LEAST_MS, Math.min(seconds * 1000, maxMs));
  }

  async #fail(object: CertificateSigningRequest, message: string): Promise<void> {
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, ...NO_TIMES };
    await this.write(object, 'status', { conditions: [...(object.status?.conditions ?? []), failed] });
  }
}
