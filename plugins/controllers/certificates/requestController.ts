import type { CertificateSigningRequest, CertificateSigningRequestStatus } from '../../../kinds/certificates/v1.js';
import {
  type Client,
  type Controller,
  type Frozen,
  type Host,
  type Input,
  reconciler,
  type Watched,
} from '../../../core/api/index.js';
import { REQUESTS } from './request.js';

/** The service account of the controllers of certificate signing requests. */
export const ACCOUNT = 'certificate-controller';

/** A certificate signing request as it is stored. */
export type StoredRequest = Frozen<CertificateSigningRequest>;

/** The work of a controller on each certificate signing request. */
export interface RequestHandling {
  readonly name: string;
  /** Resources after whose changes all requests are handled again. */
  readonly dependsOn?: readonly string[];
  /** Handles a request. It is called again later for a request on which it throws. */
  handle(object: StoredRequest, client: Client): Promise<void>;
}

/** A controller that handles every certificate signing request when it is made and after each change. */
export const requestController = ({
  name,
  dependsOn = [],
  handle,
}: RequestHandling): ((host: Host<'control'>) => Controller) =>
  reconciler({
    name,
    account: ACCOUNT,
    for: REQUESTS,
    watches: dependsOn.map(
      (resource): Watched<string> => ({
        resource,
        keys: ({ type }, { list }) => (type === 'DELETED' ? [] : list(REQUESTS).map(({ metadata }) => metadata)),
      }),
    ),
    concurrency: 4,
    async reconcile(_key, { object, client }) {
      if (object) await handle(object, client);
    },
  });

/** Writes the conditions or the certificate of a request. */
export async function writeRequest(
  object: StoredRequest,
  subresource: 'approval' | 'status',
  status: Input<CertificateSigningRequestStatus>,
  client: Client,
): Promise<void> {
  const changed = { ...object, status: { ...object.status, ...status } };
  await client.resource(REQUESTS).replace(changed, { subresource });
}
