import { recordsAt, stringAt } from '../../../model/record.js';
import { fill, type Rewrite, Unconvertible } from './rewrite.js';

/** Webhook configurations: defaults of v1beta1 that v1 requires to be set. */
export const webhookConfiguration: Rewrite = object => {
  for (const [i, webhook] of recordsAt(object, 'webhooks').entries()) {
    const sideEffects = stringAt(webhook, 'sideEffects');
    if (sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun')
      throw new Unconvertible(
        `webhooks[${i}].sideEffects`,
        `must be None or NoneOnDryRun in v1, not ${sideEffects || 'absent'}: say what ${stringAt(webhook, 'name')} does`,
      );
    fill(webhook, 'failurePolicy', 'Ignore');
    fill(webhook, 'matchPolicy', 'Exact');
    fill(webhook, 'timeoutSeconds', 30);
    fill(webhook, 'admissionReviewVersions', ['v1beta1']);
  }
};
