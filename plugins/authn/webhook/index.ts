import { authenticator, definePlugin, type Plugin, service } from '../../../core/api/index.js';
import { REVIEW_ANSWERS } from '../../../core/limits.js';
import { SharedAnswers } from '../../../core/services/webhooks/sharedAnswers.js';
import { REVIEW_MS, TOKEN_WEBHOOK_SERVICE, webhookTokens } from './authenticator.js';
import { parseConfig, type TokenWebhookConfig } from './config.js';

/** `--authentication-token-webhook-config-file`: bearer tokens that a webhook reviews. */
export default definePlugin({
  name: 'token-webhook',
  parse: parseConfig,
  contribute: config => [
    service.of(host => new SharedAnswers(TOKEN_WEBHOOK_SERVICE, host.now, REVIEW_ANSWERS, REVIEW_MS)),
    authenticator.of(host => webhookTokens(config, host)),
  ],
}) satisfies Plugin<TokenWebhookConfig>;
