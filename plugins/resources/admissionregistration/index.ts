import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { serviceReferenceDefaults } from '../extensions/index.js';
import { at, fill, into, list, type Rec } from '../record.js';
import type { KindTable } from '../strategies.js';
import { keepMetadata } from '../status-metadata.js';

const GROUP = 'admissionregistration.orchestrator.io';

function ruleDefaults(rules: readonly Rec[]): void {
  for (const rule of rules) fill(rule, 'scope', '*');
}

function matchDefaults(match: Rec): void {
  fill(match, 'matchPolicy', 'Equivalent');
  into(match, 'namespaceSelector');
  into(match, 'objectSelector');
  ruleDefaults([...list(match, 'resourceRules'), ...list(match, 'excludeResourceRules')]);
}

function webhookDefaults(object: ApiObject, mutating: boolean): void {
  for (const webhook of list(object, 'webhooks')) {
    fill(webhook, 'failurePolicy', 'Fail');
    fill(webhook, 'matchPolicy', 'Equivalent');
    into(webhook, 'namespaceSelector');
    into(webhook, 'objectSelector');
    fill(webhook, 'timeoutSeconds', 10);
    if (mutating) fill(webhook, 'reinvocationPolicy', 'Never');
    serviceReferenceDefaults(at(webhook, 'clientConfig'));
    ruleDefaults(list(webhook, 'rules'));
  }
}

const webhooks = (mutating: boolean) => (): Partial<Strategy> => ({
  hasGeneration: true,
  unconditionalUpdate: false,
  defaults: object => webhookDefaults(object, mutating),
});

const policy = (mutating: boolean) => (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: !mutating,
  prepareStatus: keepMetadata,
  unconditionalUpdate: false,
  defaults: object => {
    const spec = into(object, 'spec');
    fill(spec, 'failurePolicy', 'Fail');
    const match = at(spec, 'matchConstraints');
    if (match) matchDefaults(match);
  },
});

const policyBinding = (): Partial<Strategy> => ({
  hasGeneration: true,
  unconditionalUpdate: false,
  defaults: object => {
    const match = at(object, 'spec', 'matchResources');
    if (match) matchDefaults(match);
    const reference = at(object, 'spec', 'paramRef');
    if (reference) fill(reference, 'parameterNotFoundAction', 'Deny');
  },
});

/** Kinds that configure admission. */
export const admissionKinds: KindTable = {
  [`${GROUP}/mutatingwebhookconfigurations`]: webhooks(true),
  [`${GROUP}/validatingwebhookconfigurations`]: webhooks(false),
  [`${GROUP}/validatingadmissionpolicies`]: policy(false),
  [`${GROUP}/validatingadmissionpolicybindings`]: policyBinding,
  [`${GROUP}/mutatingadmissionpolicies`]: policy(true),
  [`${GROUP}/mutatingadmissionpolicybindings`]: policyBinding,
};
