import { InvalidCredentials } from '../../core/api/access.js';
import type {
  AdmissionStep,
  FieldConflict,
  RecordedRefusal,
  ReportedStep,
  Trail,
} from '../../core/api/observe/decisions.js';
import type { AdmissionObserver } from '../../core/api/admission.js';
import type { ApiObject, Json } from '../../core/model/object.js';
import { readJson, writeJson } from '../../core/model/text/jsonText.js';
import { monotonicTime } from '../../core/runtime/clock.js';
import { createJsonPatch } from '../../core/schema/patch/createJsonPatch.js';
import { countValues, deepCopy, equalJson } from '../../core/schema/patch/members.js';
import type { RecordingBudget } from './recordingBudget.js';
import type { Opinion } from '../../core/api/observe/explain.js';
import {
  AUDIT_ANNOTATION_BYTES,
  AUDIT_ANNOTATIONS,
  RECORDED_CHANGE_CHARACTERS,
  RECORDED_MESSAGE_CHARACTERS,
  RECORDED_PARTS,
} from '../../core/limits.js';
import { qualifiedName } from '../../core/model/names.js';
import { InvalidObject, Refusal, type StatusDetails, type Violation } from '../../core/model/refusal.js';
import { nameOf, type Target } from '../../core/model/target.js';
import type { Conflict } from '../../core/schema/apply/ownership.js';

/** A text as it is recorded, shortened. Plugins in JavaScript may pass any value. */
function shorten(given: unknown): string {
  const text = String(given);
  return text.length <= RECORDED_MESSAGE_CHARACTERS ? text : `${text.slice(0, RECORDED_MESSAGE_CHARACTERS)}…`;
}

/** Stands for values of objects with credentials. */
const REDACTED = '(redacted)';
const RESULTS: readonly unknown[] = [
  'Changed',
  'Passed',
  'Refused',
  'Warned',
  'Failed',
] satisfies ReportedStep['result'][];

/** The beginnings of the texts of calls without effect, up to their time, by plugin. */
const PASSED = { Mutate: new Map<string, string>(), Validate: new Map<string, string>() };

/**
 * The JSON of a call without effect, as most are: it takes a fraction of the time of `JSON.stringify`. Integers are
 * written several times as fast as fractions.
 */
function passedText(stage: AdmissionStep['stage'], plugin: string, microseconds: number): string {
  const texts = PASSED[stage];
  let text = texts.get(plugin);
  if (text === undefined) {
    text = JSON.stringify({ stage, plugin, result: 'Passed', ms: 0 }).slice(0, -'0}'.length);
    texts.set(plugin, text);
  }
  return `${text}${microseconds}e-3}`;
}

/**
 * Facts that the stages note about a request besides its result: annotations of its audit event, and the explanation of
 * the decision. A stage notes only values that it has anyway; the rest is computed when a client asks for a record.
 */
export class RequestTrail implements AdmissionObserver {
  /** Annotations of the audit event: of several with one name, the first counts. */
  readonly annotations = new Map<string, string>();
  /** The opinions about the request that was not allowed, and the target that they are about. */
  #denied: { readonly opinions: readonly Opinion[]; readonly asked: Target } | undefined;
  #conflicts: readonly FieldConflict[] | undefined;
  /** Each as JSON. */
  readonly #steps: string[] = [];
  /** The call that is made now, and when it began. */
  #call: Pick<AdmissionStep, 'stage' | 'plugin'> = { stage: 'Validate', plugin: '' };
  #began = 0;
  /** The error of a call that failed, if the request continued. */
  #ignored: unknown;
  /** The error of a call that has refused the request. */
  #refused: unknown;
  /** Whether a plugin has found violations. */
  #hasFound = false;
  /** A copy of the draft as it was before the call, if there is time to look at changes, and the values in it. */
  #before: { readonly draft: ApiObject; readonly values: number } | undefined;
  /** Characters of all changes. */
  #changed = 0;
  /** Whether bodies and messages may have credentials. To be set when the route is known. */
  isConfidential = false;
  /** Whether the request is a dry run. To be set when its options are known. */
  isDryRun = false;
  /** Whether the changes of mutators were not looked at. */
  unseenChanges = false;

  constructor(readonly budget: RecordingBudget) {}

  annotate(name: string, value: string): void {
    const { annotations } = this;
    if (annotations.has(name) || annotations.size >= AUDIT_ANNOTATIONS) return;
    if (!name.includes('/') || qualifiedName(name).length > 0) return;
    annotations.set(name, Buffer.from(value).subarray(0, AUDIT_ANNOTATION_BYTES).toString('utf8'));
  }

  /** Notes that no authorizer has allowed the request. */
  deny(opinions: readonly Opinion[], asked: Target): void {
    this.#denied = { opinions, asked };
  }

  /**
   * Notes the fields that an apply would have taken from other managers. For a change of an outdated version: the
   * version, with the manager that has written the current one.
   */
  conflict(conflicts: readonly Conflict[]): void {
    this.#conflicts = conflicts.slice(0, RECORDED_PARTS).map(({ owner, path }) => ({
      field: shorten(path),
      manager: owner.manager,
      operation: owner.operation,
      subresource: owner.subresource || undefined,
      since: owner.time,
    }));
  }

  /** Notes a step of the plugin that is being called. Throws TypeError for an unknown result. */
  report({ part, result, message, ms, cost, patch }: ReportedStep): void {
    if (!RESULTS.includes(result)) throw new TypeError(`report: result must be one of ${RESULTS.join(', ')}`);
    this.#add({
      ...this.#call,
      part: part === undefined ? undefined : shorten(part),
      result,
      message: message === undefined ? undefined : this.#shown(message),
      ms: Number.isFinite(ms) ? ms : undefined,
      cost: Number.isFinite(cost) ? cost : undefined,
      patch: patch === undefined ? undefined : this.#shownPatch(String(patch)),
    });
  }

  begin(stage: AdmissionStep['stage'], plugin: string, draft?: ApiObject): void {
    this.#call = { stage, plugin };
    this.#ignored = undefined;
    if (draft && this.#before === undefined) {
      if (this.budget.isLeft) this.#before = this.#copy(draft);
      else this.unseenChanges = true;
    }
    this.#began = monotonicTime();
  }

  ignore(thrown: unknown): void {
    this.#ignored = thrown;
  }

  end(draft: ApiObject | undefined, thrown?: unknown, violations: readonly Violation[] = []): void {
    const microseconds = Math.round((monotonicTime() - this.#began) * 1000);
    const ms = microseconds / 1000;
    const { stage, plugin } = this.#call;
    const error = thrown ?? this.#ignored;
    this.#refused = thrown;
    if (error !== undefined) {
      const message = this.#shown(error instanceof Error ? error.message : String(error));
      this.#add({ stage, plugin, result: thrown === undefined ? 'Failed' : 'Refused', message, ms });
    } else if (violations.length > 0) {
      this.#hasFound = true;
      const fields = violations.map(({ field }) => String(field)).join(', ');
      this.#add({ stage, plugin, result: 'Refused', message: shorten(fields), ms });
    } else {
      const change = draft && this.#change(draft);
      if (change) this.#add({ stage, plugin, result: 'Changed', ms, ...change });
      else if (this.#steps.length < RECORDED_PARTS) this.#steps.push(passedText(stage, plugin, microseconds));
    }
  }

  #add(step: AdmissionStep): void {
    if (this.#steps.length < RECORDED_PARTS) this.#steps.push(JSON.stringify(step));
  }

  #copy(draft: ApiObject): { readonly draft: ApiObject; readonly values: number } {
    const values = countValues(draft);
    this.budget.spend(values);
    return { draft: deepCopy(draft), values };
  }

  /** The change of a mutator to the draft, as a patch; undefined if it has changed nothing. */
  #change(draft: ApiObject): Pick<AdmissionStep, 'patch'> | undefined {
    if (!this.#before) return undefined;
    const [before, after] = [this.#before.draft, draft] as unknown as [Json, Json];
    this.budget.spend(this.#before.values);
    if (equalJson(before, after)) return undefined;
    const patch = createJsonPatch(before, after);
    if (patch.length === 0) return undefined;
    this.budget.spend(this.#before.values);
    this.#before = this.#copy(draft);
    const text = this.isConfidential ? redacted(patch) : writeJson(patch);
    this.budget.spendText(text);
    return { patch: this.#bounded(text) };
  }

  /** A message of a plugin, which may repeat values. */
  #shown(message: string): string {
    return this.isConfidential ? '' : shorten(message);
  }

  /** Returns a patch; undefined if all patches together would be too long with it. */
  #bounded(patch: string): string | undefined {
    this.#changed += patch.length;
    if (this.#changed <= RECORDED_CHANGE_CHARACTERS) return patch;
    this.unseenChanges = true;
    return undefined;
  }

  #shownPatch(given: string): string | undefined {
    const patch = this.#bounded(given);
    if (patch === undefined || !this.isConfidential) return patch;
    try {
      return redacted(readJson(patch));
    } catch {
      // The webhook's patch is not JSON: the request is refused.
      return undefined;
    }
  }

  /** The trail for the front end. `thrown`: the error that refused the request; `target`: that of its route. */
  result(auditId: string, thrown?: unknown, target?: Target): Trail {
    const steps = this.#steps.length > 0 ? `[${this.#steps.join(',')}]` : undefined;
    const unseenChanges = this.unseenChanges || undefined;
    const dryRun = this.isDryRun || undefined;
    if (!(thrown instanceof Refusal)) return { auditId, steps, dryRun, unseenChanges };
    const opinions = this.#denied?.opinions.map(one => (one.reason ? { ...one, reason: shorten(one.reason) } : one));
    const asked = this.#denied?.asked === target ? undefined : plainTarget(this.#denied?.asked);
    return { auditId, steps, dryRun, unseenChanges, refusal: this.#refusalOf(thrown), opinions, asked };
  }

  /** The Status of a refusal, without values of objects with credentials. */
  #refusalOf(refusal: Refusal): RecordedRefusal {
    const { reason } = refusal;
    // Plugins and webhooks may repeat values that they refuse.
    const isPlugins = refusal === this.#refused || this.#hasFound;
    const given = causesOf(refusal);
    const isHidden = (cause: Cause): boolean =>
      this.isConfidential && (isPlugins || !VALUELESS.has(cause.reason ?? ''));
    const isAnyHidden = given.length > 0 ? given.some(isHidden) : this.isConfidential && reason === 'Invalid';
    const causes = given.slice(0, RECORDED_PARTS).map(cause => ({
      reason: shorten(cause.reason ?? ''),
      message: isHidden(cause) ? '' : shorten(cause.message ?? ''),
      field: shorten(cause.field ?? ''),
      rule: cause.rule === undefined ? undefined : shorten(cause.rule),
    }));
    const mayRepeatBody = isPlugins || MAY_REPEAT_BODY.has(reason);
    const isMessageHidden = reason === 'Invalid' ? isAnyHidden : this.isConfidential && mayRepeatBody;
    const message = isMessageHidden ? '' : shorten(messageOf(refusal));
    return { reason, message, causes, conflicts: this.#conflicts };
  }
}

/** A cause, with the expression that does not hold. */
type Cause = NonNullable<StatusDetails['causes']>[number] & Pick<Violation, 'rule'>;

/** Violations whose messages say which rule is broken, but not which value breaks it. */
const VALUELESS: ReadonlySet<string> = new Set([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
] satisfies Violation['reason'][]);

/** Reasons of refusals whose messages may quote the body: those about bodies that cannot be decoded, and of errors. */
const MAY_REPEAT_BODY: ReadonlySet<Refusal['reason']> = new Set(['BadRequest', 'InternalError', '']);

function causesOf(refusal: Refusal): readonly Cause[] {
  if (refusal instanceof InvalidObject) return refusal.violations;
  return Array.isArray(refusal.details?.causes) ? refusal.details.causes : [];
}

/** The message of a refusal. Why credentials are invalid is kept from the sender, but not from readers of decisions. */
function messageOf(refusal: Refusal): string {
  if (!(refusal instanceof InvalidCredentials)) return refusal.message;
  const { reasons, refusedBy } = refusal;
  return reasons.length > 0 ? reasons.join('; ') : `the credentials are not valid for ${refusedBy.join(', ')}`;
}

/** The text of a JSON Patch without its values. */
const redacted = (patch: Json): string =>
  writeJson(
    (Array.isArray(patch) ? (patch as { readonly [member: string]: Json }[]) : []).map(operation =>
      'value' in operation ? { ...operation, value: REDACTED } : operation,
    ),
  );

/** A target without parsed selectors, which may be long: only the name that they choose counts for explanations. */
function plainTarget(target: Target | undefined): Target | undefined {
  if (target?.is !== 'resource') return target;
  const { labelSelector: _labels, fieldSelector: _fields, ...plain } = target;
  return { ...plain, name: nameOf(target) };
}
