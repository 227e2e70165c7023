import { definePoint } from '../../api/point.js';
import type { WebhookClient } from './client.js';

/** The client of all plugins of a thread that call webhooks: they share its connections. */
export const webhookClient = definePoint<WebhookClient>()('webhookClient', ['pool'], inputs => inputs[0]!.value);
