import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '../../../kinds/admissionregistration/v1.js';
import type * as Cel from '../../../core/cel/index.js';
import type { Informer } from '../../../core/api/host.js';
import type { CompiledExpression } from '../../../core/schema/expressions/budget.js';
import { matchConditionsOf } from '../../../core/schema/expressions/conditions.js';
import { admissionEnvironment } from '../../../core/schema/expressions/environment.js';
import { type LabelMatcher, type Rule, rulesOf, selectorOf } from '../rules/matching.js';

/** A webhook of a configuration, compiled. */
export interface Webhook {
  readonly name: string;
  /** The name of its configuration. */
  readonly configuration: string;
  /** Identifies it among all webhooks. */
  readonly id: string;
  readonly rules: readonly Rule[];
  readonly matchPolicy: string;
  readonly namespaceSelector: LabelMatcher;
  readonly objectSelector: LabelMatcher;
  readonly failurePolicy: string;
  readonly sideEffects: string;
  readonly timeoutSeconds: number;
  readonly reviewVersions: readonly string[];
  readonly reinvocationPolicy: string;
  readonly clientConfig: WebhookClientConfig;
  readonly hasConditions: boolean;
  /** Compiles its match conditions, at the first call. */
  conditions(cel: typeof Cel): readonly CompiledExpression[];
}

/** A configuration of webhooks of either kind. */
type Configuration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration;

function webhookOf(configuration: Configuration, webhook: ValidatingWebhook | MutatingWebhook, kind: string): Webhook {
  const { name } = webhook;
  let conditions: readonly CompiledExpression[] | undefined;
  return {
    name,
    configuration: configuration.metadata.name!,
    id: `${kind}/${configuration.metadata.name}/${name}`,
    rules: rulesOf(webhook.rules ?? []),
    matchPolicy: webhook.matchPolicy || 'Equivalent',
    namespaceSelector: selectorOf(webhook.namespaceSelector),
    objectSelector: selectorOf(webhook.objectSelector),
    failurePolicy: webhook.failurePolicy || 'Fail',
    sideEffects: webhook.sideEffects ?? '',
    timeoutSeconds: webhook.timeoutSeconds ?? 10,
    reviewVersions: webhook.admissionReviewVersions ?? [],
    reinvocationPolicy: ('reinvocationPolicy' in webhook && webhook.reinvocationPolicy) || 'Never',
    clientConfig: webhook.clientConfig,
    hasConditions: (webhook.matchConditions ?? []).length > 0,
    conditions: cel => (conditions ??= matchConditionsOf(admissionEnvironment(cel, { authorizer: true }), webhook)),
  };
}

/** The webhooks of all configurations of a kind, as of now, by the names of the configurations. */
export class WebhookSource {
  #webhooks: readonly Webhook[] = [];
  #revision = -1;
  /** The webhooks of each object, which the informer replaces when it changes. */
  readonly #known = new WeakMap<Configuration, readonly Webhook[]>();

  constructor(
    readonly kind: 'validating' | 'mutating',
    readonly configurations: Informer<Configuration>,
  ) {}

  /** The current webhooks. */
  current(): readonly Webhook[] {
    const { revision } = this.configurations;
    if (revision !== this.#revision) {
      this.#webhooks = this.configurations.list().flatMap(one => this.#webhooksOf(one));
      this.#revision = this.configurations.revision;
    }
    return this.#webhooks;
  }

  #webhooksOf(configuration: Configuration): readonly Webhook[] {
    let webhooks = this.#known.get(configuration);
    if (!webhooks) {
      webhooks = (configuration.webhooks ?? []).map(one => webhookOf(configuration, one, this.kind));
      this.#known.set(configuration, webhooks);
    }
    return webhooks;
  }
}
