import { definePlugin } from '../../api/plugin.js';
import type { Plugin } from '../../api/point.js';
import { WebhookClient } from './client.js';
import { webhookClient } from './point.js';

/** Makes the client of webhooks. */
export default definePlugin({
  name: 'webhooks',
  parse: () => null,
  contribute: () => [
    webhookClient.of(host => {
      const client = new WebhookClient(Number.POSITIVE_INFINITY, `${host.naming.short}-apiserver-admission`);
      host.onClose(() => client.close());
      return client;
    }),
  ],
}) satisfies Plugin<null>;
