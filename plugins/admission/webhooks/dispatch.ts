import type { Change, ServedKind } from '../../../core/api/admission.js';
import type { ReportedStep } from '../../../core/api/observe/decisions.js';
import type { Host, Informer } from '../../../core/api/host.js';
import { Refusal } from '../../../core/model/refusal.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { evaluateConditions } from '../../../core/schema/expressions/conditions.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';
import { conditionValues, RequestValues } from '../rules/activation.js';
import { conditionObserver } from '../rules/conditionMetrics.js';
import { forbiddenByPlugin } from '../rules/forbidden.js';
import { matchesNamespace, matchesObject, matchRules } from '../rules/matching.js';
import type { Shown } from '../rules/shown.js';
import { CallFailed, type WebhookClient, withinRequest } from '../../../core/services/webhooks/client.js';
import type { Webhook } from './configuration.js';
import {
  type Endpoints,
  endpointsOf,
  UnresolvedService,
  type WebhookSettings,
} from '../../../core/services/webhooks/endpoint.js';
import { webhookClient } from '../../../core/services/webhooks/point.js';
import { CallError, denialOf, reviewOf, type Verdict, verdictOf } from './review.js';

/** 500 with a text and the same text as its cause, which is the form of upstream's errors. */
export const internalError = (why: string): Refusal =>
  new Refusal('InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });

/** Which call of a webhook it is, as metrics and audit events name it. */
export interface Position {
  readonly type: 'admit' | 'validating';
  /** Whether mutators run for the first or the second time. */
  readonly round: number;
  /** Index among all webhooks of the kind. */
  readonly index: number;
}

/** Returns the function that adds a call, which begins now, to the record of the decision. */
function reporterOf(
  { name, configuration }: Webhook,
  change: Change,
): (result: ReportedStep['result'], message: string, patch?: string) => void {
  const began = monotonicTime();
  return (result, message, patch = '') =>
    change.report?.({
      part: `webhook ${name} of ${configuration}`,
      result: patch === '' ? result : 'Changed',
      ms: monotonicTime() - began,
      ...(message !== '' && { message }),
      ...(patch !== '' && { patch }),
    });
}

/** Finds the webhooks of a request and calls them. */
export class Dispatcher {
  readonly #endpoints: Endpoints;
  readonly #namespaces: Informer;

  constructor(
    readonly host: Host<'pool'>,
    settings: WebhookSettings,
  ) {
    this.#endpoints = endpointsOf(settings, host.informer('core/services'));
    this.#namespaces = host.informer('core/namespaces');
  }

  get #client(): WebhookClient {
    return this.host.at(webhookClient);
  }

  /**
   * The version in which to call a webhook; undefined if it is not called. Throws 404 for a namespace that does not
   * exist, and 403 for match conditions that cannot be evaluated.
   */
  async match(webhook: Webhook, change: Change, shown: Shown, type: Position['type']): Promise<ServedKind | undefined> {
    const { namespaceSelector, objectSelector, rules, matchPolicy } = webhook;
    const matched = matchRules(rules, matchPolicy, change);
    if (!matched) return undefined;
    const isSelected = matchesNamespace(namespaceSelector, change, shown.object, this.#namespaces);
    if (isSelected === false || !matchesObject(objectSelector, shown.object, shown.old)) return undefined;
    if (isSelected !== true) throw isSelected;
    return webhook.hasConditions && !(await this.#holds(webhook, matched, change, shown, type)) ? undefined : matched;
  }

  async #holds(
    webhook: Webhook,
    matched: ServedKind,
    change: Change,
    shown: Shown,
    type: Position['type'],
  ): Promise<boolean> {
    const cel = await loadCel();
    const all = new RequestValues(cel, this.host, change).of(matched, await shown.in(matched));
    const values = conditionValues(all);
    const { name, failurePolicy } = webhook;
    const labels = { name, kind: 'webhook', type, operation: change.operation };
    const observe = conditionObserver(this.host, labels);
    const outcome = await evaluateConditions(cel, webhook.conditions(cel), values, failurePolicy, observe);
    if (typeof outcome === 'boolean') return outcome;
    throw forbiddenByPlugin(change, shown.object, outcome.error);
  }

  /**
   * Calls a webhook. Returns its verdict if it allows the request, and undefined if it failed and its failures are
   * ignored. Throws the refusal of the request otherwise.
   */
  async call(
    webhook: Webhook,
    matched: ServedKind,
    change: Change,
    shown: Shown,
    at: Position,
  ): Promise<Verdict | undefined> {
    const { name, sideEffects } = webhook;
    if (change.dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun')
      throw new Refusal('BadRequest', `admission webhook ${JSON.stringify(name)} does not support dry run`);
    if (sideEffects !== 'None') change.beginSideEffects();
    const count = this.#counterOf(webhook, change, at);
    const report = reporterOf(webhook, change);
    let verdict: Verdict;
    try {
      verdict = await this.#ask(webhook, matched, change, shown, at.type === 'admit');
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const isIgnored = webhook.failurePolicy === 'Ignore';
      report(isIgnored ? 'Failed' : 'Refused', error.message);
      count(error.code, isIgnored ? undefined : 'calling_webhook_error');
      if (isIgnored) this.#reportIgnored(webhook, change, at);
      return this.fail(webhook, error.message);
    }
    for (const warning of verdict.warnings) change.warn(warning);
    for (const [key, value] of verdict.annotations) change.annotate(`${name}/${key}`, value);
    if (verdict.allowed) {
      count(200);
      report(verdict.warnings.length > 0 ? 'Warned' : 'Passed', verdict.warnings.join('; '), verdict.patch);
      return verdict;
    }
    const denial = denialOf(name, verdict.status);
    count(denial.code, 'no_error');
    report('Refused', denial.message);
    throw denial;
  }

  /** Ignores a failed call, or throws the refusal of the request. */
  fail({ name, configuration, failurePolicy }: Webhook, why: string): undefined {
    const text = `failed calling webhook ${JSON.stringify(name)}: ${why}`;
    this.host.log.warn({ webhook: name, configuration, failurePolicy }, text);
    if (failurePolicy === 'Ignore') return undefined;
    throw internalError(text);
  }

  /** Counts a call that begins now: its code, and why the request is refused, if it is. */
  #counterOf(
    { name }: Webhook,
    { operation }: Change,
    { type }: Position,
  ): (code: number, refusedFor?: string) => void {
    const began = monotonicTime();
    return (code, refusedFor) => {
      const labels = { name, type, operation };
      const counted = { ...labels, rejected: String(refusedFor !== undefined) };
      const seconds = (monotonicTime() - began) / 1000;
      this.host.observe('apiserver_admission_webhook_admission_duration_seconds', counted, seconds);
      this.host.observe('apiserver_admission_webhook_request_total', { ...counted, code: String(code) }, 1);
      if (refusedFor === undefined) return;
      const refused = { ...labels, error_type: refusedFor, rejection_code: String(code) };
      this.host.observe('apiserver_admission_webhook_rejection_count', refused, 1);
    };
  }

  #reportIgnored({ name }: Webhook, change: Change, { type, round, index }: Position): void {
    this.host.observe('apiserver_admission_webhook_fail_open_count', { name, type }, 1);
    const group = this.host.naming.group('webhook.admission.orchestrator.io');
    const step = type === 'admit' ? 'mutation' : 'validating';
    change.annotate(`failed-open.${step}.${group}/round_${round}_index_${index}`, name);
  }

  async #ask(webhook: Webhook, matched: ServedKind, change: Change, shown: Shown, mutating: boolean): Promise<Verdict> {
    const { timeoutSeconds, clientConfig, reviewVersions } = webhook;
    const review = reviewOf(this.host.naming, reviewVersions, change, matched, await shown.in(matched));
    const timeoutMs = withinRequest(timeoutSeconds * 1000);
    try {
      const endpoint = this.#endpoints.of(clientConfig, `?timeout=${Math.ceil(timeoutMs / 1000)}s`);
      return verdictOf(await this.#client.post(endpoint, review.body, timeoutMs), review, mutating);
    } catch (error) {
      if (error instanceof CallFailed || error instanceof UnresolvedService)
        throw new CallError(`failed to call webhook: ${error.message}`);
      throw error;
    }
  }
}
