import { InvalidCredentials } from '../../core/api/access.js';
import type { AdmissionStep, FieldConflict, RecordedRefusal, Trail } from '../../core/api/observe/decisions.js';
import type { Opinion } from '../../core/api/observe/explanation.js';
import {
  AUDIT_ANNOTATION_BYTES,
  AUDIT_ANNOTATIONS,
  RECORDED_PARTS,
  RECORDED_MESSAGE_CHARACTERS,
} from '../../core/limits.js';
import { qualifiedName } from '../../core/model/names.js';
import { Refusal } from '../../core/model/refusal.js';
import type { Target } from '../../core/model/target.js';
import type { Conflict } from '../../core/schema/apply/ownership.js';

/** A text as records have it. Plugins in JavaScript may give anything. */
function shorten(given: unknown): string {
  const text = String(given);
  return text.length <= RECORDED_MESSAGE_CHARACTERS ? text : `${text.slice(0, RECORDED_MESSAGE_CHARACTERS)}…`;
}

/**
 * What the stages note about a request beside its result: annotations of its audit event, and what explains the
 * decision afterwards. Only what a stage has at hand is noted; everything else is found when somebody asks.
 */
export class RequestTrail {
  /** Annotations of the audit event: of several with one name, the first counts. */
  readonly annotations = new Map<string, string>();
  /** What the authorizers said of the request that was not allowed, and what they were asked. */
  #denied: { readonly opinions: readonly Opinion[]; readonly asked: Target } | undefined;
  #conflicts: readonly FieldConflict[] | undefined;
  readonly #steps: AdmissionStep[] = [];
  /** Whether bodies and messages may have credentials. To be set when the route is known. */
  isConfidential = false;
  /** Whether the changes of mutators were not looked at. */
  unseenChanges = false;

  annotate(name: string, value: string): void {
    const { annotations } = this;
    if (annotations.has(name) || annotations.size >= AUDIT_ANNOTATIONS) return;
    if (!name.includes('/') || qualifiedName(name).length > 0) return;
    annotations.set(name, Buffer.from(value).subarray(0, AUDIT_ANNOTATION_BYTES).toString('utf8'));
  }

  /** Notes that no authorizer has allowed what was asked. */
  deny(opinions: readonly Opinion[], asked: Target): void {
    this.#denied = { opinions, asked };
  }

  /** Notes the fields that an apply would have taken from other managers. */
  conflict(conflicts: readonly Conflict[]): void {
    this.#conflicts = conflicts.slice(0, RECORDED_PARTS).map(({ owner, path }) => ({
      field: path,
      manager: owner.manager,
      operation: owner.operation,
      subresource: owner.subresource || undefined,
      since: owner.time,
    }));
  }

  /** Notes a step of admission. */
  step(step: AdmissionStep): void {
    if (this.#steps.length >= RECORDED_PARTS) return;
    const { message } = step;
    this.#steps.push(message === undefined ? step : { ...step, message: shorten(message) });
  }

  /** What the front end gets of it. `thrown`: what has refused the request; `target`: that of its route. */
  result(auditId: string, thrown?: unknown, target?: Target): Trail {
    const steps = this.#steps.length > 0 ? this.#steps : undefined;
    const unseenChanges = this.unseenChanges || undefined;
    if (!(thrown instanceof Refusal)) return { auditId, steps, unseenChanges };
    const opinions = this.#denied?.opinions.map(one => (one.reason ? { ...one, reason: shorten(one.reason) } : one));
    const asked = this.#denied?.asked === target ? undefined : plainTarget(this.#denied?.asked);
    return { auditId, steps, unseenChanges, refusal: this.#refusalOf(thrown), opinions, asked };
  }

  /** The Status of a refusal, without values of objects with credentials, as audit events have it. */
  #refusalOf(refusal: Refusal): RecordedRefusal {
    const { reason, details } = refusal;
    const hidesValues = this.isConfidential && reason === 'Invalid';
    // Its cause is kept from the sender, but not from those who may read decisions.
    const message = refusal instanceof InvalidCredentials ? refusal.reasons.join('; ') : refusal.message;
    const given = Array.isArray(details?.causes) ? details.causes : [];
    const causes = given.slice(0, RECORDED_PARTS).map(cause => ({
      reason: shorten(cause.reason ?? ''),
      message: hidesValues ? '' : shorten(cause.message ?? ''),
      field: shorten(cause.field ?? ''),
    }));
    return { reason, message: hidesValues ? '' : shorten(message), causes, conflicts: this.#conflicts };
  }
}

/** A target without parsed selectors, which explanations do not look at. */
function plainTarget(target: Target | undefined): Target | undefined {
  if (target?.is !== 'resource') return target;
  const { labelSelector: _labels, fieldSelector: _fields, ...plain } = target;
  return plain;
}
