import type { APIService } from '../../../kinds/apiregistration/v1.js';
import type { CurrentObjects, Frozen } from '../../../core/api/index.js';
import { getAsAggregator } from '../../../core/services/aggregation/aggregatorRequest.js';
import type { ProxyCertificate, ProxyCredentials } from '../../../core/services/aggregation/proxyCredentials.js';
import {
  type AddressRules,
  addressOf,
  NoAddress,
  type ServicePort,
} from '../../../core/services/aggregation/serviceAddress.js';
import { versionPath } from '../requests.js';

/** Time for the answer of a server. */
const ANSWER_MS = 5000;
/** Number of concurrent attempts. Each chooses an endpoint, any of which may be down. */
const ATTEMPTS = 5;

/**
 * Asks the server of an APIService for the discovery document of its version, which every such server has. Resolves
 * with what has failed, or undefined if the server has answered. Its certificate is not verified: the answer is not
 * used.
 */
export async function discoveryFailure(
  { spec }: Frozen<APIService>,
  service: ServicePort,
  config: AddressRules & { readonly credentials: ProxyCredentials },
  get: CurrentObjects['get'],
): Promise<string | undefined> {
  const path = versionPath(spec.group ?? '', spec.version ?? '');
  const credentials = await config.credentials.current();
  const attempt = async (): Promise<string | undefined> => {
    try {
      const host = addressOf(service, config, {
        service: (namespace, name) => get('core/services', { namespace, name }),
        endpoints: (namespace, name) => get('core/endpoints', { namespace, name }),
      });
      const url = `https://${host}${path}`;
      return await answerFailure(url, credentials);
    } catch (error) {
      if (error instanceof NoAddress) return error.message;
      throw error;
    }
  };
  const attempts = Array.from({ length: config.routesToEndpoints ? ATTEMPTS : 1 }, attempt);
  return await firstSuccess(attempts);
}

/** Resolves with undefined as soon as one has, otherwise with the last failure. */
async function firstSuccess(attempts: readonly Promise<string | undefined>[]): Promise<string | undefined> {
  try {
    await Promise.any(
      attempts.map(async attempt => {
        const failure = await attempt;
        if (failure !== undefined) throw new Error(failure);
      }),
    );
    return undefined;
  } catch (error) {
    return ((error as AggregateError).errors.at(-1) as Error).message;
  }
}

async function answerFailure(url: string, credentials: ProxyCertificate | undefined): Promise<string | undefined> {
  const failing = `failing or missing response from ${url}: `;
  try {
    const endpoint = { url, skipsVerification: true, ...(credentials ? { credentials } : {}) };
    const { status } = await getAsAggregator({ endpoint, timeoutMs: ANSWER_MS, maxBytes: 0 });
    return status >= 200 && status < 300 ? undefined : `${failing}bad status from ${url}: ${status}`;
  } catch (error) {
    return failing + (error as Error).message;
  }
}
