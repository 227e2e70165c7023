import {
  type Change,
  type Mutator,
  mutator,
  type ServedKind,
  type Validator,
  validator,
  type EquivalentKind,
} from '../../../core/api/admission.js';
import type { Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import { JSON_PATCH_OPERATIONS } from '../../../core/limits.js';
import { readJson } from '../../../core/model/text/jsonText.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { isDeepEqual } from '../../../core/model/record.js';
import { Refusal } from '../../../core/model/refusal.js';
import { encodeJson } from '../../../core/schema/json/json.js';
import { jsonSyntaxError } from '../../../core/schema/json/jsonSyntax.js';
import { applyJsonPatch, UnappliedPatch } from '../../../core/schema/patch/jsonPatch.js';
import { deepCopy } from '../../../core/schema/patch/members.js';
import { isExemptFromWebhooks } from '../rules/matching.js';
import { Reinvocation } from '../rules/reinvocation.js';
import { Shown } from '../rules/shown.js';
import { type Webhook, WebhookSource } from './configuration.js';
import { Dispatcher, internalError, type Position } from './dispatch.js';
import { parseEndpointSettings, type WebhookSettings } from '../../../core/services/webhooks/endpoint.js';
import type { Verdict } from './review.js';

/** Calls mutating webhooks, one after the other. */
class Mutating {
  readonly #source: WebhookSource;
  readonly #dispatcher: Dispatcher;
  readonly #reinvocation = new Reinvocation();

  constructor(host: Host<'pool'>, settings: WebhookSettings) {
    this.#source = new WebhookSource(
      'mutating',
      host.informer('admissionregistration.orchestrator.io/mutatingwebhookconfigurations'),
    );
    this.#dispatcher = new Dispatcher(host, settings);
  }

  /** The current webhooks for a change. */
  webhooksFor(change: Change): readonly Webhook[] {
    const webhooks = this.#source.current();
    return webhooks.length === 0 || isExemptFromWebhooks(change) ? [] : webhooks;
  }

  /** Calls all webhooks about a draft. In the second run, only those that asked for it. */
  async mutate(change: Change, draft: ApiObject, isAgain: boolean): Promise<'reinvoke' | undefined> {
    let shown = new Shown(change, draft);
    const run = this.#reinvocation.begin(draft, isAgain, shown.object);
    if (!run) return undefined;
    for (const [index, webhook] of this.webhooksFor(change).entries()) {
      const matched = await this.#dispatcher.match(webhook, change, shown, 'admit');
      if (!matched || !run.includes(webhook.id)) continue;
      const at = { type: 'admit', round: isAgain ? 1 : 0, index } as const;
      const isPatched = await this.#recorded(webhook, change, at, async () => {
        const verdict = await this.#dispatcher.call(webhook, matched, change, shown, at);
        return verdict !== undefined && (await this.#patch(webhook, matched, change, draft, shown, verdict, at));
      });
      run.ran(webhook.id, isPatched, webhook.reinvocationPolicy === 'IfNeeded');
      if (isPatched) shown = new Shown(change, draft);
    }
    return this.#reinvocation.end(draft, run, shown.object);
  }

  /** Asks the webhooks about a delete or a connection, which they cannot change. */
  async check(change: Change): Promise<void> {
    const shown = new Shown(change, undefined);
    for (const [index, webhook] of this.webhooksFor(change).entries()) {
      const matched = await this.#dispatcher.match(webhook, change, shown, 'admit');
      if (!matched) continue;
      const at = { type: 'admit', round: 0, index } as const;
      await this.#recorded(webhook, change, at, async () => {
        const verdict = await this.#dispatcher.call(webhook, matched, change, shown, at);
        if (!verdict || operationsOf(verdict).length === 0) return false;
        throw internalError(
          `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported ` +
            'for this operation',
        );
      });
    }
  }

  /** Makes a call, and adds to the audit event whether it has changed the object; one that fails has not. */
  async #recorded(
    { configuration, name }: Webhook,
    change: Change,
    { round, index }: Position,
    call: () => Promise<boolean>,
  ): Promise<boolean> {
    let mutated = false;
    try {
      mutated = await call();
      return mutated;
    } finally {
      const value = encodeJson({ configuration, webhook: name, mutated });
      change.annotate(`mutation.${this.#group}/round_${round}_index_${index}`, value);
    }
  }

  /** The domain of annotations of audit events. */
  get #group(): string {
    return this.#dispatcher.host.naming.group('webhook.admission.orchestrator.io');
  }

  /** Applies the patch of a webhook to the draft. Returns whether that changes anything. */
  async #patch(
    webhook: Webhook,
    matched: ServedKind,
    change: Change,
    draft: ApiObject,
    shown: Shown,
    verdict: Verdict,
    { round, index }: Position,
  ): Promise<boolean> {
    const operations = operationsOf(verdict);
    if (operations.length === 0) return false;
    const { configuration, name } = webhook;
    if (verdict.patchType !== 'JSONPatch') {
      this.#dispatcher.fail(webhook, `unsupported patch type ${JSON.stringify(verdict.patchType)}`);
      return false;
    }
    const { object } = await shown.in(matched);
    const patched = applyPatch(object as unknown as Json, operations);
    const other = 'convertBack' in matched ? (matched as EquivalentKind) : undefined;
    const before = deepCopy(draft);
    change.view.accept(draft, other ? await other.convertBack(patched as unknown as ApiObject) : patched);
    const record = { configuration, webhook: name, patch: operations, patchType: verdict.patchType };
    change.annotate(`patch.${this.#group}/round_${round}_index_${index}`, encodeJson(record));
    // Fields that the kind does not have do not count as a change.
    return !isDeepEqual(before, draft);
  }
}

/** The operations of a patch. Throws 500, in upstream's words, for a patch that is not a list. */
function operationsOf({ patch }: Verdict): Json[] {
  if (patch === '') return [];
  let operations: Json;
  try {
    operations = readJson(patch);
  } catch {
    throw internalError(jsonSyntaxError(Buffer.from(patch)) ?? 'the patch is no JSON');
  }
  if (operations === null) return [];
  if (!Array.isArray(operations))
    throw internalError('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  return operations;
}

/** Applies operations to a copy. Throws 500 for those that do not apply. */
function applyPatch(object: Json, operations: Json[]): Json {
  try {
    return applyJsonPatch(structuredClone(object), operations, JSON_PATCH_OPERATIONS);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw internalError(error instanceof UnappliedPatch ? error.why : error.message);
  }
}

/** Calls the webhooks of MutatingWebhookConfigurations. */
export default definePlugin({
  name: 'mutating-admission-webhook',
  parse: parseEndpointSettings,
  contribute: settings => [
    mutator.of((host): Mutator => {
      const mutating = new Mutating(host, settings);
      return {
        on: { subresources: ['*'] },
        mutate: (change, draft, again) =>
          mutating.webhooksFor(change).length === 0 ? undefined : mutating.mutate(change, draft, again),
      };
    }),
    validator.of((host): Validator => {
      const mutating = new Mutating(host, settings);
      return {
        on: { subresources: ['*'], operations: ['DELETE', 'CONNECT'] },
        validate: change => (mutating.webhooksFor(change).length === 0 ? [] : mutating.check(change).then(() => [])),
      };
    }),
  ],
}) satisfies Plugin<WebhookSettings>;
