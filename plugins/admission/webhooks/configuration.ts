import type * as Cel from '../../../core/cel/index.js';
import type { Informer } from '../../../core/api/host.js';
import type { ApiObject } from '../../../core/model/object.js';
import { numberAt, recordAt, recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../../core/model/record.js';
import type { CompiledExpression } from '../../../core/schema/expressions/budget.js';
import { matchConditionsOf } from '../../../core/schema/expressions/conditions.js';
import { admissionEnvironment } from '../../../core/schema/expressions/environment.js';
import { type LabelMatcher, type Rule, rulesOf, selectorAt } from '../rules/matching.js';

/** A webhook of a configuration, compiled. */
export interface Webhook {
  readonly name: string;
  /** The name of its configuration. */
  readonly configuration: string;
  /** Names it among all webhooks. */
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
  readonly clientConfig: UnknownRecord;
  readonly hasConditions: boolean;
  /** Compiles its match conditions, at the first call. */
  conditions(cel: typeof Cel): readonly CompiledExpression[];
}

function webhookOf(configuration: ApiObject, webhook: UnknownRecord, kind: string): Webhook {
  const name = stringAt(webhook, 'name');
  let conditions: readonly CompiledExpression[] | undefined;
  return {
    name,
    configuration: configuration.metadata.name!,
    id: `${kind}/${configuration.metadata.name}/${name}`,
    rules: rulesOf(recordsAt(webhook, 'rules')),
    matchPolicy: stringAt(webhook, 'matchPolicy') || 'Equivalent',
    namespaceSelector: selectorAt(webhook, 'namespaceSelector'),
    objectSelector: selectorAt(webhook, 'objectSelector'),
    failurePolicy: stringAt(webhook, 'failurePolicy') || 'Fail',
    sideEffects: stringAt(webhook, 'sideEffects'),
    timeoutSeconds: numberAt(webhook, 'timeoutSeconds') ?? 10,
    reviewVersions: stringsAt(webhook, 'admissionReviewVersions'),
    reinvocationPolicy: stringAt(webhook, 'reinvocationPolicy') || 'Never',
    clientConfig: recordAt(webhook, 'clientConfig') ?? {},
    hasConditions: recordsAt(webhook, 'matchConditions').length > 0,
    conditions: cel => (conditions ??= matchConditionsOf(admissionEnvironment(cel, { authorizer: true }), webhook)),
  };
}

/** The webhooks of all configurations of a kind, as of now, by the names of the configurations. */
export class WebhookSource {
  #webhooks: readonly Webhook[] = [];
  #revision = -1;
  /** The webhooks of each object, which the informer replaces when it changes. */
  readonly #known = new WeakMap<ApiObject, readonly Webhook[]>();

  constructor(
    readonly kind: 'validating' | 'mutating',
    readonly configurations: Informer,
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

  #webhooksOf(configuration: ApiObject): readonly Webhook[] {
    let webhooks = this.#known.get(configuration);
    if (!webhooks) {
      webhooks = recordsAt(configuration, 'webhooks').map(one => webhookOf(configuration, one, this.kind));
      this.#known.set(configuration, webhooks);
    }
    return webhooks;
  }
}
