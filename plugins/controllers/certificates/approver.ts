import type { SubjectAccessReview } from '../../../kinds/authorization/v1.js';
import type { CertificateSigningRequest } from '../../../kinds/certificates/v1.js';
import type { Host } from '../../../core/api/index.js';
import { Malformed, type RequestedCertificate } from '../../../core/services/pki/certificateRequest.js';
import { checkNodeClient, hasCondition, NO_TIMES, NODE_CLIENT_SIGNER, requestedBy } from './request.js';
import { RequestController } from './requestController.js';

const GROUP = 'certificates.orchestrator.io';
const BINDINGS = 'rbac.authorization.orchestrator.io/clusterrolebindings';

/** The subresources that the sender of a request must be allowed to create, with what the condition says. */
const RECOGNIZED = [
  {
    subresource: 'selfnodeclient',
    isRecognized: (object: CertificateSigningRequest, { commonName }: RequestedCertificate) =>
      (object.spec.username ?? '') === commonName,
    what: 'self node client certificate',
  },
  { subresource: 'nodeclient', isRecognized: () => true, what: 'node client certificate' },
] as const;

/**
 * Approves requests of nodes for client certificates: of a node for itself, and of those who may make them for any
 * node. Whether the sender may is decided by the authorizers (`certificatesigningrequests/selfnodeclient` and
 * `/nodeclient`). Others decide about all other requests.
 */
export class Approver extends RequestController {
  constructor(host: Host<'control'>) {
    super('certificatesigningrequest-approving-controller', host);
  }

  override async start(): Promise<void> {
    await super.start();
    // Who was not permitted before may be now.
    this.host.watch(({ storageName, type }) => {
      if (storageName === BINDINGS && type !== 'DELETED') this.handleAll();
    });
  }

  protected async handle(object: CertificateSigningRequest): Promise<void> {
    if (hasCondition(object, 'Approved') || hasCondition(object, 'Denied')) return;
    if ((object.status?.certificate ?? '') !== '') return;
    if (object.spec.signerName !== this.host.naming.component(NODE_CLIENT_SIGNER)) return;
    const wanted = requestedBy(object);
    // Nobody could sign what cannot be parsed. It is not retried, and the cleaner removes it.
    if (wanted instanceof Malformed || checkNodeClient(object, wanted)) return;
    for (const { subresource, isRecognized, what } of RECOGNIZED) {
      if (!isRecognized(object, wanted) || !(await this.#mayCreate(object, subresource))) continue;
      await this.#approve(object, `Auto approving ${what} after SubjectAccessReview.`);
      return;
    }
  }

  async #approve(object: CertificateSigningRequest, message: string): Promise<void> {
    const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message, ...NO_TIMES };
    await this.write(object, 'approval', { conditions: [...(object.status?.conditions ?? []), approved] });
  }

  async #mayCreate(object: CertificateSigningRequest, subresource: string): Promise<boolean> {
    const { naming } = this.host;
    const apiVersion = naming.apiVersion('authorization.orchestrator.io/v1');
    const review = (await this.requests.create(`/apis/${apiVersion}/subjectaccessreviews`, {
      apiVersion,
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user: object.spec.username ?? '',
        uid: object.spec.uid ?? '',
        groups: object.spec.groups,
        extra: object.spec.extra,
        resourceAttributes: {
          group: naming.group(GROUP),
          resource: 'certificatesigningrequests',
          verb: 'create',
          subresource,
          version: '*',
        },
      },
    } satisfies SubjectAccessReview)) as SubjectAccessReview | undefined;
    return review?.status?.allowed === true;
  }
}
