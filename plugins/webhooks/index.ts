import { definePlugin } from '../../core/api/plugin.js';
import type { Plugin } from '../../core/api/point.js';
import { WebhookClient } from '../../core/webhooks/client.js';
import { webhookClient } from '../../core/webhooks/point.js';

/** Makes the client of webhooks. */
export default definePlugin({
  name: 'webhooks',
  parse: () => null,
  contribute: () => [
    webhookClient.of(host => {
      const client = new WebhookClient();
      host.onClose(() => client.close());
      return client;
    }),
  ],
}) satisfies Plugin<null>;
