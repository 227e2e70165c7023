import { type Change, type Validator, validator } from '../../../core/api/admission.js';
import type { Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject } from '../../../core/model/object.js';
import { isExemptFromWebhooks } from '../rules/matching.js';
import { Shown } from '../rules/shown.js';
import { type Webhook, WebhookSource } from './configuration.js';
import { Dispatcher } from './dispatch.js';
import { parseEndpointSettings, type WebhookSettings } from '../../../core/services/webhooks/endpoint.js';

/** Asks validating webhooks, all at once. */
class WebhookValidator implements Validator {
  readonly on = { subresources: ['*'] };
  readonly #source: WebhookSource;
  readonly #dispatcher: Dispatcher;

  constructor(host: Host<'pool'>, settings: WebhookSettings) {
    this.#source = new WebhookSource(
      'validating',
      host.informer('admissionregistration.orchestrator.io/validatingwebhookconfigurations'),
    );
    this.#dispatcher = new Dispatcher(host, settings);
  }

  validate(change: Change, after: ApiObject | undefined): readonly [] | Promise<readonly []> {
    const webhooks = this.#source.current();
    return webhooks.length === 0 || isExemptFromWebhooks(change) ? [] : this.#validate(webhooks, change, after);
  }

  async #validate(webhooks: readonly Webhook[], change: Change, after: ApiObject | undefined): Promise<readonly []> {
    const shown = new Shown(change, after);
    const calls: (() => Promise<unknown>)[] = [];
    for (const [index, webhook] of webhooks.entries()) {
      const matched = await this.#dispatcher.match(webhook, change, shown, 'validating');
      const at = { type: 'validating', round: 0, index } as const;
      if (matched) calls.push(() => this.#dispatcher.call(webhook, matched, change, shown, at));
    }
    const outcomes = await Promise.allSettled(calls.map(call => call()));
    const refused = outcomes.find(one => one.status === 'rejected');
    if (refused) throw refused.reason;
    return [];
  }
}

/** Asks the webhooks of ValidatingWebhookConfigurations. */
export default definePlugin({
  name: 'validating-admission-webhook',
  parse: parseEndpointSettings,
  contribute: settings => [validator.of(host => new WebhookValidator(host, settings))],
}) satisfies Plugin<WebhookSettings>;
