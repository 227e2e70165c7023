import type { CertificateSigningRequestStatus, CertificateSigningRequest } from '../../../kinds/certificates/v1.js';
import type { Controller, Host } from '../../../core/api/index.js';
import { pathOf } from '../catalog.js';
import { WorkQueue } from '../queue.js';
import { Requests } from '../requests.js';
import { REQUESTS } from './request.js';

/** The service account of the controllers of certificate signing requests. */
const ACCOUNT = 'certificate-controller';

/** Handles every certificate signing request when it is made and after each change. */
export abstract class RequestController implements Controller {
  protected readonly requests: Requests;
  readonly #queue: WorkQueue;

  constructor(
    readonly name: string,
    protected readonly host: Host<'control'>,
  ) {
    this.requests = new Requests(host, ACCOUNT);
    this.#queue = new WorkQueue({ name, log: host.log, workers: 4, handle: key => this.#handle(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.host.watch(event => {
      if (event.storageName === REQUESTS && event.type !== 'DELETED') this.#queue.add(event.name);
    });
    await this.#queue.idle();
  }

  /** Handles all requests again. */
  protected handleAll(): void {
    for (const { metadata } of this.host.informer(REQUESTS).list()) this.#queue.add(metadata.name ?? '');
  }

  /** Handles one request. What it throws is retried later. */
  protected abstract handle(object: CertificateSigningRequest): Promise<void>;

  /** Writes the conditions or the certificate of a request. The object is as the informer returned it. */
  protected async write(
    object: CertificateSigningRequest,
    subresource: 'approval' | 'status',
    status: CertificateSigningRequestStatus,
  ): Promise<void> {
    const { naming } = this.host;
    const apiVersion = naming.apiVersion('certificates.orchestrator.io/v1');
    const path = pathOf({ apiVersion, plural: 'certificatesigningrequests' }, '', object.metadata.name);
    await this.requests.replace(`${path}/${subresource}`, {
      ...object,
      apiVersion,
      kind: 'CertificateSigningRequest',
      status: { ...object.status, ...status },
    });
  }

  async #handle(name: string): Promise<void> {
    const object = this.host.informer(REQUESTS).get('', name) as CertificateSigningRequest | undefined;
    if (object) await this.handle(object);
  }
}
