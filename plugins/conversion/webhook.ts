import { type ConvertedKind, type Converter, converter } from '../../core/api/resource/conversion.js';
import type { Host } from '../../core/api/host.js';
import { definePlugin } from '../../core/api/plugin.js';
import type { Plugin } from '../../core/api/point.js';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import { monotonicTime } from '../../core/runtime/clock.js';
import { CallFailed } from '../../core/services/webhooks/client.js';
import {
  type Endpoints,
  endpointsOf,
  parseEndpointSettings,
  UnresolvedService,
  type WebhookSettings,
} from '../../core/services/webhooks/endpoint.js';
import { webhookClient } from '../../core/services/webhooks/point.js';
import { conversionReview, convertedObjects, ReviewError } from './review.js';

/** Upstream's time limit of a call: definitions cannot choose one. */
const TIMEOUT_S = 30;

/** Names objects in the log, which upstream's messages do not. */
const shownNames = (objects: readonly ApiObject[]): readonly string[] =>
  objects.slice(0, 10).map(({ metadata }) => [metadata.namespace, metadata.name].filter(Boolean).join('/'));

/** Asks the webhooks of definitions to convert objects. */
class WebhookConverter implements Converter {
  readonly #endpoints: Endpoints;

  constructor(
    readonly host: Host<'pool'>,
    settings: WebhookSettings,
  ) {
    this.#endpoints = endpointsOf(settings, host.informer('core/services'));
  }

  selects({ webhook }: ConvertedKind): boolean {
    return webhook !== undefined;
  }

  /** Throws 500 for a webhook that cannot be reached or does not convert. */
  async convert(
    { kind, webhook }: ConvertedKind,
    objects: readonly ApiObject[],
    apiVersion: string,
  ): Promise<readonly ApiObject[]> {
    const { clientConfig, reviewVersions } = webhook!;
    const began = monotonicTime();
    const count = (failure: string): void => {
      const labels = { result: failure ? 'failure' : 'success', failure_type: failure };
      this.host.observe('apiserver_conversion_webhook_request_total', labels, 1);
      const seconds = (monotonicTime() - began) / 1000;
      this.host.observe('apiserver_conversion_webhook_duration_seconds', labels, seconds);
    };
    try {
      const review = conversionReview(this.host.naming, reviewVersions, objects, apiVersion);
      const endpoint = this.#endpoints.of(clientConfig, `?timeout=${TIMEOUT_S}s`);
      const client = this.host.at(webhookClient);
      const answer = await client.post(endpoint, review.body, TIMEOUT_S * 1000, { isRepeatable: true });
      const converted = convertedObjects(answer, review);
      const { length } = objects;
      count(converted.length === length ? '' : 'conversion_webhook_partial_response_failure');
      if (converted.length === length) return converted as readonly ApiObject[];
      throw this.#refusal(kind, objects, `returned ${converted.length} objects, expected ${length}`);
    } catch (error) {
      if (error instanceof CallFailed || error instanceof UnresolvedService || error instanceof ReviewError) {
        count(
          error instanceof ReviewError
            ? 'conversion_webhook_malformed_response_failure'
            : 'conversion_webhook_call_failure',
        );
        throw this.#refusal(kind, objects, `failed: ${error.message}`);
      }
      throw error;
    }
  }

  #refusal(kind: string, objects: readonly ApiObject[], why: string): Refusal {
    const text = `conversion webhook for ${objects[0]!.apiVersion}, Kind=${kind} ${why}`;
    this.host.log.warn({ objects: shownNames(objects) }, text);
    return new Refusal('', text, undefined, 500);
  }
}

/** Converts custom objects by the webhooks of their definitions. */
export default definePlugin({
  name: 'conversion-webhook',
  parse: parseEndpointSettings,
  contribute: settings => [converter.of(host => new WebhookConverter(host, settings))],
}) satisfies Plugin<WebhookSettings>;
