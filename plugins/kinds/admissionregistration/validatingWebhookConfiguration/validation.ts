import type { MutatingWebhook, ValidatingWebhook } from '../../../../kinds/admissionregistration/v1.js';
import { dns1035Label, dns1123Label, dns1123Subdomain } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import { duplicate, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import {
  validateFailurePolicy,
  validateMatchPolicy,
  validateMatchSelectors,
  validateRule,
} from '../../shared/admission/admissionRules.js';
import { ExpressionChecks, expressionsIn, validateMatchConditions } from '../../shared/admission/expressions.js';
import { findRepeated } from '../../shared/values/repeated.js';
import { toViolations, validateEach, validateOneOf } from '../../shared/violations.js';
import { validateClientConfig } from '../../shared/admission/webhookClients.js';

/** A webhook of one of the two kinds of configuration. */
type Webhook = ValidatingWebhook | MutatingWebhook;

/** Fields common to both kinds of configuration. */
export interface WebhookConfiguration {
  readonly webhooks?: Webhook[];
}

/** Requirements for the webhooks of a configuration. An update may keep values that the stored object has already. */
interface Requirements {
  /** A version of reviews that the server knows. */
  readonly knownReviews: boolean;
  readonly uniqueNames: boolean;
  /** No side effects, or none with dry-run. */
  readonly noSideEffects: boolean;
}

const REVIEWS = ['v1', 'v1beta1'];

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];

/** Checks that a name is a domain of at least three labels. */
function validateName(name: string, field: string): Violation[] {
  if (name === '') return [required(field)];
  const wrong = dns1123Subdomain(name);
  if (wrong.length > 0) return [invalid(field, name, wrong.join(','))];
  const labels = name.split('.');
  if (labels.length < 3)
    return [invalid(field, name, 'should be a domain with at least three segments separated by dots')];
  return labels.flatMap(label => toViolations(field, label, dns1123Label(label)));
}

function validateReviewVersions(webhook: Webhook, mustKnow: boolean, field: string): Violation[] {
  const versions = webhook.admissionReviewVersions ?? [];
  if (versions.length === 0) return [required(field, `must specify one of ${REVIEWS.join(', ')}`)];
  const repeated = findRepeated(versions);
  const found = versions.flatMap((version, i) =>
    repeated[i]
      ? [invalid(`${field}[${i}]`, version, 'duplicate version')]
      : toViolations(`${field}[${i}]`, version, dns1035Label(version)),
  );
  if (mustKnow && !versions.some(version => REVIEWS.includes(version)))
    found.push(invalid(field, goStrings(versions), `must include at least one of ${REVIEWS.join(', ')}`));
  return found;
}

function validateSideEffects(webhook: Webhook, mustHaveNone: boolean, field: string): Violation[] {
  if (isAbsent(webhook.sideEffects)) return [required(field, `must specify one of ${SIDE_EFFECTS.join(', ')}`)];
  const allowed = mustHaveNone ? SIDE_EFFECTS : [...SIDE_EFFECTS, 'Some', 'Unknown'];
  return validateOneOf(webhook, 'sideEffects', field, allowed);
}

function validateTimeout(webhook: Webhook, field: string): Violation[] {
  const seconds = webhook.timeoutSeconds;
  return seconds === undefined || (seconds >= 1 && seconds <= 30)
    ? []
    : [invalid(field, seconds, 'the timeout value must be between 1 and 30 seconds')];
}

function validateWebhook(
  webhook: Webhook,
  field: string,
  requirements: Requirements,
  checks: ExpressionChecks,
): Violation[] {
  return [
    ...validateName(webhook.name, `${field}.name`),
    ...validateEach(webhook, 'rules', `${field}.rules`, validateRule),
    ...validateFailurePolicy(webhook, field),
    ...validateMatchPolicy(webhook, field),
    ...validateSideEffects(webhook, requirements.noSideEffects, `${field}.sideEffects`),
    ...validateTimeout(webhook, `${field}.timeoutSeconds`),
    ...validateMatchSelectors(webhook, field),
    ...(!('reinvocationPolicy' in webhook) || isAbsent(webhook.reinvocationPolicy)
      ? []
      : validateOneOf(webhook, 'reinvocationPolicy', `${field}.reinvocationPolicy`, ['IfNeeded', 'Never'])),
    ...validateClientConfig(webhook.clientConfig, `${field}.clientConfig`),
    ...validateMatchConditions(webhook, `${field}.matchConditions`, { authorizer: true }, checks),
  ];
}

function validateAll(object: WebhookConfiguration, requirements: Requirements, checks: ExpressionChecks): Violation[] {
  const names = new Set<string>();
  return validateEach(object, 'webhooks', 'webhooks', (webhook, field) => {
    const name = webhook.name;
    const twice = requirements.uniqueNames && name !== '' && names.has(name) ? [duplicate(`${field}.name`, name)] : [];
    names.add(name);
    return [
      ...validateWebhook(webhook, field, requirements, checks),
      ...validateReviewVersions(webhook, requirements.knownReviews, `${field}.admissionReviewVersions`),
      ...twice,
    ];
  });
}

/** Requirements of an update: those that all webhooks of the stored object meet. */
function requirementsAfter(old: WebhookConfiguration): Requirements {
  const webhooks = old.webhooks ?? [];
  return {
    knownReviews: webhooks.every(webhook =>
      (webhook.admissionReviewVersions ?? []).some(version => REVIEWS.includes(version)),
    ),
    uniqueNames: new Set(webhooks.map(webhook => webhook.name)).size === webhooks.length,
    noSideEffects: webhooks.every(webhook => SIDE_EFFECTS.includes(webhook.sideEffects ?? '')),
  };
}

/** Violations of a new configuration of webhooks. */
export const validateWebhooks = (object: WebhookConfiguration): Violation[] =>
  validateAll(object, { knownReviews: true, uniqueNames: true, noSideEffects: true }, new ExpressionChecks());

/** Violations of an update of a webhook configuration. */
export const validateChangedWebhooks = (object: WebhookConfiguration, old: WebhookConfiguration): Violation[] =>
  validateAll(object, requirementsAfter(old), new ExpressionChecks(expressionsIn(old.webhooks)));
