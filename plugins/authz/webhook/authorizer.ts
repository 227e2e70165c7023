import { createHash } from 'node:crypto';
import type { Authorizer, Decision, Host, Target, User } from '../../../core/api/index.js';
import { REVIEW_ANSWERS } from '../../../core/limits.js';
import { readAnswer } from '../../../core/services/webhooks/answer.js';
import { failureLog } from '../../../core/services/webhooks/failureLog.js';
import { FileWebhook, REVIEW_BACKOFF } from '../../../core/services/webhooks/fileWebhook.js';
import { AnswersClient, type TimedAnswer } from '../../../core/services/webhooks/sharedAnswers.js';
import type { Conditions } from './conditions.js';
import type { AccessWebhookConfig } from './config.js';
import { inClusterEndpoint } from './inCluster.js';
import { type Answered, bodyOf, readReview, type ReviewSpec, specOf } from './review.js';

/** The name of the service that shares the answers. */
export const ACCESS_WEBHOOK_SERVICE = 'authz/webhook';
/** Answers about longer attributes are not kept, so that senders cannot fill the memory. Upstream's limit. */
const KEPT_CHARACTERS = 10_000;
const METRICS = 'apiserver_authorization_webhook';

/** The members of the host that the plugin uses. */
export type AccessWebhookHost = Pick<
  Host<'pool'>,
  'now' | 'log' | 'naming' | 'onClose' | 'service' | 'observe' | 'isEnabled'
>;

const sizeOf = (target: Target): number =>
  target.is === 'path'
    ? target.path.length
    : target.namespace.length + target.resource.length + target.subresource.length + target.name.length;

const resultOf = (error: unknown): 'timeout' | 'error' =>
  (error as Error).message.includes('deadline exceeded') ? 'timeout' : 'error';

/**
 * Decides by asking a webhook (spec, "Webhook mode (flag style)"). Its answers are kept for a while; failures are not,
 * and are decided by the failure policy. `conditions`: the webhook is asked only about requests for which they hold;
 * absent: about all.
 */
export function webhookAuthorizer(
  config: AccessWebhookConfig,
  host: AccessWebhookHost,
  conditions?: Conditions,
): Authorizer {
  const { now, naming } = host;
  const { name, version, timeoutMs, failurePolicy } = config;
  const apiVersion = naming.apiVersion(`authorization.orchestrator.io/${version}`);
  const withSelectors = host.isEnabled('AuthorizeWithSelectors');
  const read = config.file === undefined ? () => inClusterEndpoint(naming, version) : undefined;
  const webhook = new FileWebhook(config.file ?? '', { allowsHttp: false }, host, read);
  const answers = new AnswersClient(host.service(ACCESS_WEBHOOK_SERVICE), now, REVIEW_ANSWERS);
  // Answers belong to the webhook as it is configured.
  const identity = JSON.stringify(config);
  const logFailure = failureLog(host, 'the webhook for access', { webhook: name });

  async function ask(spec: ReviewSpec, mayKeep: boolean): Promise<TimedAnswer> {
    let unobserved: number | undefined;
    const observe = (result: string): void => {
      if (unobserved === undefined) return;
      host.observe(`${METRICS}_evaluations_total`, { name, result }, 1);
      host.observe(`${METRICS}_duration_seconds`, { name, result }, unobserved);
      unobserved = undefined;
    };
    try {
      const answer = await webhook.post(bodyOf(spec, apiVersion), timeoutMs, REVIEW_BACKOFF, (_, seconds) => {
        // If there was a call before this one, it has failed: it is counted now.
        observe('error');
        unobserved = seconds;
      });
      const review = readReview(readAnswer(answer), apiVersion);
      observe('success');
      const until = mayKeep ? now() + (review.is === 'allow' ? config.authorizedMs : config.unauthorizedMs) : now();
      return { value: review, until };
    } catch (error) {
      observe(resultOf(error));
      logFailure(error);
      throw error;
    }
  }

  const onFailure = (message: string): Decision =>
    failurePolicy === 'Deny'
      ? { is: 'deny', reason: message, dependsOn: 'never' }
      : { is: 'noOpinion', reason: message, dependsOn: 'never' };

  async function authorize(user: User, target: Target): Promise<Decision> {
    const spec = specOf(user, target, naming, withSelectors);
    const matches = conditions ? await conditions(spec) : true;
    if (matches === false) return { is: 'noOpinion' };
    if (matches !== true) return onFailure(`cel evaluation error: ${matches.error}`);
    const key = createHash('sha256')
      .update(JSON.stringify([identity, spec]))
      .digest('base64');
    try {
      const { value, until } = await answers.get(key, () => ask(spec, sizeOf(target) < KEPT_CHARACTERS));
      const { is, reason } = value as Answered;
      const left = until - now();
      return { is, reason, dependsOn: left > 0 ? left : 'never' };
    } catch (error) {
      if (failurePolicy === 'NoOpinion')
        host.observe(`${METRICS}_evaluations_fail_open_total`, { name, result: resultOf(error) }, 1);
      return onFailure((error as Error).message);
    }
  }

  return {
    dependsOn: 'never',
    authorize,
    rulesFor: () => ({
      resourceRules: [],
      pathRules: [],
      incomplete: true,
      error: 'webhook authorizer does not support user rule resolution',
    }),
  };
}
