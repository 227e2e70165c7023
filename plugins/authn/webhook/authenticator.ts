import type { Authenticator, Host, Identified } from '../../../core/api/index.js';
import { REVIEW_ANSWERS } from '../../../core/limits.js';
import { readAnswer } from '../../../core/services/webhooks/answer.js';
import { failureLog } from '../../../core/services/webhooks/failureLog.js';
import { FileWebhook, REVIEW_BACKOFF } from '../../../core/services/webhooks/fileWebhook.js';
import { AnswersClient, type TimedAnswer } from '../../../core/services/webhooks/sharedAnswers.js';
import { bearerToken, unknownToken } from '../bearer.js';
import { digest } from '../tokenFile.js';
import type { TokenWebhookConfig } from './config.js';
import { type ReviewedToken, readReview, reviewOf } from './review.js';

/** The name of the service that shares the answers. */
export const TOKEN_WEBHOOK_SERVICE = 'authn/webhook';
/** How long a review may take in all; upstream's limit. */
export const REVIEW_MS = 30_000;
const CACHE_REQUESTS = 'authentication_token_cache_request_total';
const FETCHES = 'authentication_token_cache_fetch_total';

/**
 * Authenticates bearer tokens by asking a webhook (spec, "TokenReview"). Its answers are kept for a while, for valid
 * tokens and for others; failures are not.
 */
export function webhookTokens(
  config: TokenWebhookConfig,
  host: Pick<Host<'pool'>, 'now' | 'log' | 'naming' | 'onClose' | 'service' | 'observe'>,
): Authenticator {
  const { now, naming } = host;
  const { cacheMs, version } = config;
  const apiVersion = naming.apiVersion(`authentication.orchestrator.io/${version}`);
  const webhook = new FileWebhook(config.file, { allowsHttp: true }, host);
  const answers = new AnswersClient(host.service(TOKEN_WEBHOOK_SERVICE), now, REVIEW_ANSWERS);
  const logFailure = failureLog(host, 'the webhook for tokens');

  async function ask(token: string, audiences: readonly string[]): Promise<TimedAnswer> {
    host.observe(CACHE_REQUESTS, { status: 'miss' }, 1);
    try {
      const body = reviewOf(apiVersion, token, audiences);
      const answer = await webhook.post(body, REVIEW_MS, REVIEW_BACKOFF, (code, seconds) => {
        host.observe('apiserver_delegated_authn_request_total', { code }, 1);
        host.observe('apiserver_delegated_authn_request_duration_seconds', { code }, seconds);
      });
      const value: ReviewedToken = readReview(readAnswer(answer), apiVersion);
      host.observe(FETCHES, { status: 'ok' }, 1);
      return { value, until: now() + cacheMs };
    } catch (error) {
      host.observe(FETCHES, { status: 'error' }, 1);
      logFailure(error);
      throw error;
    }
  }

  async function review(token: string, asked: readonly string[]): Promise<Identified> {
    const key = digest(JSON.stringify([token, asked]));
    let found: TimedAnswer;
    try {
      found = await answers.get(key, () => ask(token, asked));
    } catch (error) {
      throw unknownToken((error as Error).message);
    }
    const { user, audiences: own } = found.value as ReviewedToken;
    // If the webhook does not return audiences, its tokens are for the server.
    const audiences = asked.filter(one => (own.length > 0 ? own : config.audiences).includes(one));
    if (!user || audiences.length === 0) throw unknownToken();
    const left = found.until - now();
    return { user, audiences, cacheFor: left > 0 ? left : 'never' };
  }

  return {
    cacheFor: 'forever',
    authenticate(request) {
      const token = bearerToken(request);
      return token === undefined ? null : review(token, request.audiences ?? config.audiences);
    },
  };
}
