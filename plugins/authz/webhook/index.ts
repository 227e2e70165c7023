import { authorizer, definePlugin, type Plugin, service } from '../../../core/api/index.js';
import { ACCESS_REVIEW_MS, REVIEW_ANSWERS } from '../../../core/limits.js';
import { SharedAnswers } from '../../../core/services/webhooks/sharedAnswers.js';
import { ACCESS_WEBHOOK_SERVICE, webhookAuthorizer } from './authorizer.js';
import { type AccessWebhookConfig, parseConfig } from './config.js';

/** Mode Webhook: a webhook decides (`--authorization-webhook-config-file`). */
export default definePlugin({
  name: 'access-webhook',
  parse: parseConfig,
  contribute: config => [
    service.of(host => new SharedAnswers(ACCESS_WEBHOOK_SERVICE, host.now, REVIEW_ANSWERS, ACCESS_REVIEW_MS)),
    authorizer.of(host => webhookAuthorizer(config, host)),
  ],
}) satisfies Plugin<AccessWebhookConfig>;
