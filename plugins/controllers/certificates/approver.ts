import type { SubjectAccessReview } from '../../../kinds/authorization/v1.js';
import type { Client, Controller, Host } from '../../../core/api/index.js';
import { Malformed, type RequestedCertificate } from '../../../core/services/pki/certificateRequest.js';
import { checkNodeClient, hasCondition, NO_TIMES, NODE_CLIENT_SIGNER, requestedBy } from './request.js';
import { requestController, type StoredRequest, writeRequest } from './requestController.js';

const GROUP = 'certificates.orchestrator.io';
const BINDINGS = 'rbac.authorization.orchestrator.io/clusterrolebindings';

/** The subresources that the sender of a request must be allowed to create, with the message of the condition. */
const RECOGNIZED = [
  {
    subresource: 'selfnodeclient',
    isRecognized: (object: StoredRequest, { commonName }: RequestedCertificate) =>
      (object.spec.username ?? '') === commonName,
    what: 'self node client certificate',
  },
  { subresource: 'nodeclient', isRecognized: () => true, what: 'node client certificate' },
] as const;

/** Whether the sender of a request may create a subresource of it. */
async function mayCreate(
  object: StoredRequest,
  subresource: string,
  { naming }: Host<'control'>,
  client: Client,
): Promise<boolean> {
  const apiVersion = naming.apiVersion('authorization.orchestrator.io/v1');
  const review = {
    apiVersion,
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      user: object.spec.username ?? '',
      uid: object.spec.uid ?? '',
      groups: object.spec.groups as string[] | undefined,
      extra: object.spec.extra as SubjectAccessReview['spec']['extra'],
      resourceAttributes: {
        group: naming.group(GROUP),
        resource: 'certificatesigningrequests',
        verb: 'create',
        subresource,
        version: '*',
      },
    },
  } satisfies SubjectAccessReview;
  const path = `/apis/${apiVersion}/subjectaccessreviews`;
  const answer = (await client.request({ method: 'POST', path, body: review })) as SubjectAccessReview;
  return answer.status?.allowed === true;
}

/**
 * Approves requests of nodes for client certificates: of a node for itself, and of those who may make them for any
 * node. Whether the sender may is decided by the authorizers (`certificatesigningrequests/selfnodeclient` and
 * `/nodeclient`). All other requests are left to other approvers.
 */
export const approver = (host: Host<'control'>): Controller =>
  requestController({
    name: 'certificatesigningrequest-approving-controller',
    // A user who had no permission before may have it now.
    dependsOn: [BINDINGS],
    async handle(object, client) {
      if (hasCondition(object, 'Approved') || hasCondition(object, 'Denied')) return;
      if ((object.status?.certificate ?? '') !== '') return;
      if (object.spec.signerName !== host.naming.component(NODE_CLIENT_SIGNER)) return;
      const wanted = requestedBy(object);
      // A request that cannot be parsed cannot be signed either. It is not retried, and the cleaner removes it.
      if (wanted instanceof Malformed || checkNodeClient(object, wanted)) return;
      for (const { subresource, isRecognized, what } of RECOGNIZED) {
        if (!isRecognized(object, wanted) || !(await mayCreate(object, subresource, host, client))) continue;
        const message = `Auto approving ${what} after SubjectAccessReview.`;
        const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message, ...NO_TIMES };
        const conditions = [...(object.status?.conditions ?? []), approved];
        return await writeRequest(object, 'approval', { conditions }, client);
      }
    },
  })(host);
