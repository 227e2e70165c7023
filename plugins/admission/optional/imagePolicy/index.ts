import type { Pod } from '../../../../kinds/v1.js';
import { type Change, validator, type Validator } from '../../../../core/api/admission.js';
import type { Host } from '../../../../core/api/host.js';
import { definePlugin } from '../../../../core/api/plugin.js';
import { service } from '../../../../core/api/plugin/pluginService.js';
import type { Plugin } from '../../../../core/api/point.js';
import { IMAGE_REVIEW_MS, IMAGE_REVIEWS } from '../../../../core/limits.js';
import type { Frozen } from '../../../../core/model/object.js';
import { isRecord, type UnknownRecord } from '../../../../core/model/record.js';
import { readAnswer } from '../../../../core/services/webhooks/answer.js';
import { failureLog } from '../../../../core/services/webhooks/failureLog.js';
import { type Backoff, FileWebhook } from '../../../../core/services/webhooks/fileWebhook.js';
import { AnswersClient, SharedAnswers, type TimedAnswer } from '../../../../core/services/webhooks/sharedAnswers.js';
import { podForbiddenError } from '../../podDraft.js';
import { type ImagePolicyConfig, parseConfig } from './config.js';

/** The name of the service that shares the answers. */
const SERVICE = 'admission/image-policy';
/** Maximum number of calls, and the growth and jitter of the pauses between them; upstream's values. */
const RETRIES: Omit<Backoff, 'firstMs'> = { factor: 1.5, jitter: 0.2, calls: 5 };
const EPHEMERAL = 'ephemeralcontainers';

/** The answer of the webhook. */
interface ImageStatus {
  readonly isAllowed: boolean;
  readonly reason: string;
  readonly annotations: readonly (readonly [string, string])[];
}

/** Reads the `status` of an ImageReview; an absent status denies. */
function readStatus(review: UnknownRecord): ImageStatus {
  const status = isRecord(review['status']) ? review['status'] : {};
  const annotations = isRecord(status['auditAnnotations']) ? Object.entries(status['auditAnnotations']) : [];
  return {
    isAllowed: status['allowed'] === true,
    reason: typeof status['reason'] === 'string' ? status['reason'] : '',
    annotations: annotations.map(([key, value]) => [key, String(value)] as const),
  };
}

/**
 * The `spec` of an ImageReview about a pod: of its ephemeral containers where these are changed, else of the others.
 * `domain`: annotations with names below it are shown to the webhook.
 */
function specOf({ target }: Change, pod: Frozen<Pod>, domain: string): object {
  const { containers, initContainers, ephemeralContainers } = pod.spec;
  const reviewed =
    target.subresource === EPHEMERAL ? (ephemeralContainers ?? []) : [...(containers ?? []), ...(initContainers ?? [])];
  const annotations = Object.entries(pod.metadata.annotations ?? {})
    .filter(([name]) => name.includes(`.${domain}/`))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    containers: reviewed.map(({ image }) => (image ? { image } : {})),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    ...(target.namespace && { namespace: target.namespace }),
  };
}

type ImagePolicyHost = Pick<Host<'pool'>, 'now' | 'log' | 'naming' | 'onClose' | 'service'>;

/** Asks the webhook about the images of pods. Its answers are kept for a while; failures are not. */
const reviewImages =
  (config: ImagePolicyConfig) =>
  (host: ImagePolicyHost): Validator => {
    const webhook = new FileWebhook(config.file, { allowsHttp: true }, host);
    const answers = new AnswersClient(host.service(SERVICE), host.now, IMAGE_REVIEWS);
    const logFailure = failureLog(host, 'the webhook for images');
    const identity = JSON.stringify(config);
    const domain = host.naming.group('image-policy.orchestrator.io');
    const prefix = `imagepolicywebhook.${domain}/`;
    const head = { kind: 'ImageReview', apiVersion: host.naming.apiVersion('imagepolicy.orchestrator.io/v1alpha1') };

    async function ask(spec: object): Promise<TimedAnswer> {
      const review = { ...head, metadata: { creationTimestamp: null }, spec, status: { allowed: false } };
      const backoff = { ...RETRIES, firstMs: config.backoffMs };
      try {
        const answer = await webhook.post(JSON.stringify(review), IMAGE_REVIEW_MS, backoff, () => undefined);
        const value = readStatus(readAnswer(answer));
        return { value, until: host.now() + (value.isAllowed ? config.allowMs : config.denyMs) };
      } catch (error) {
        logFailure(error);
        throw error;
      }
    }

    return {
      on: { groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'], subresources: ['', EPHEMERAL] },
      async validate(change, object) {
        const pod = object as Frozen<Pod>;
        const spec = specOf(change, pod, domain);
        let status: ImageStatus;
        try {
          const key = JSON.stringify([identity, spec]);
          status = (await answers.get(key, () => ask(spec))).value as ImageStatus;
        } catch (error) {
          if (!config.allowsOnFailure) throw podForbiddenError(pod.metadata, (error as Error).message);
          change.annotate(`${prefix}failed-open`, 'true');
          return [];
        }
        for (const [name, value] of status.annotations) change.annotate(prefix + name, value);
        if (status.isAllowed) return [];
        const why = status.reason
          ? `image policy webhook backend denied one or more images: ${status.reason}`
          : 'one or more images rejected by webhook backend';
        throw podForbiddenError(pod.metadata, why);
      },
    };
  };

/** The images that pods may run, as a webhook decides. */
export default definePlugin<ImagePolicyConfig>({
  name: 'image-policy-webhook',
  parse: parseConfig,
  contribute: config => [
    service.of(host => new SharedAnswers(SERVICE, host.now, IMAGE_REVIEWS, IMAGE_REVIEW_MS)),
    validator.of(reviewImages(config)),
  ],
}) satisfies Plugin<ImagePolicyConfig>;
