import { isAbsent } from '../../../core/model/record.js';
import { randomUUID } from '../../../core/runtime/random.js';
import type { AdmissionResponse } from '../../../kinds/admission/v1.js';
import type { Status } from '../../../kinds/meta/v1.js';
import type { Change, ServedKind } from '../../../core/api/admission.js';
import type { Naming } from '../../../core/naming.js';
import { writeJson } from '../../../core/model/text/jsonText.js';
import { type Reason, Refusal, type StatusDetails } from '../../../core/model/refusal.js';
import { admissionRequest } from '../rules/request.js';
import type { ShownIn } from '../rules/shown.js';
import { typeError } from './answerTypes.js';
import { errorOf, readAnswer } from '../../../core/services/webhooks/answer.js';
import type { HttpAnswer } from '../../../core/services/webhooks/client.js';

/** Thrown for a call without a usable answer: `failurePolicy` decides whether the request fails. */
export class CallError extends Error {
  constructor(
    message: string,
    /** The code that metrics count. */
    readonly code = 400,
  ) {
    super(message);
  }
}

/** The supported versions of AdmissionReview. */
const VERSIONS = ['v1', 'v1beta1'];

/** A review to be sent. */
export interface Review {
  readonly uid: string;
  readonly apiVersion: string;
  readonly body: string;
}

/** The review of a change for a webhook that accepts `versions`. Throws CallError if it accepts no known one. */
export function reviewOf(
  naming: Naming,
  versions: readonly string[],
  change: Change,
  matched: ServedKind,
  { object, old }: ShownIn,
): Review {
  const version = versions.find(one => VERSIONS.includes(one));
  if (!version)
    throw new CallError(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  const apiVersion = naming.apiVersion(`admission.orchestrator.io/${version}`);
  const uid = randomUUID();
  const { dryRun, options, ...attributes } = admissionRequest(change, matched);
  const request = { uid, ...attributes, object: object ?? null, oldObject: old ?? null, dryRun, options };
  return { uid, apiVersion, body: writeJson({ kind: 'AdmissionReview', apiVersion, request }) };
}

/** The answer of a webhook. */
export interface Verdict {
  readonly allowed: boolean;
  readonly status: Status | undefined;
  readonly warnings: readonly string[];
  /** Names and values of the annotations that are added to the audit event. */
  readonly annotations: readonly (readonly [string, string])[];
  /** The patch as text, and its type. Empty for a validating webhook. */
  readonly patch: string;
  readonly patchType: string;
}

const failedCall = (why: string, code?: number): CallError => new CallError(`failed to call webhook: ${why}`, code);
const invalidResponse = (why: string): CallError => new CallError(`received invalid webhook response: ${why}`, 503);

const reviewKind = (apiVersion: string): string => `${apiVersion}, Kind=AdmissionReview`;

/** The response in an answer to a review. Throws CallError, with upstream's text, for an answer that cannot be used. */
export function verdictOf(answer: HttpAnswer, review: Review, mutating: boolean): Verdict {
  if (answer.status < 200 || answer.status > 206) throw failedCall(errorOf(answer), answer.status);
  const body = readAnswer(answer);
  const [apiVersion, kind] = [textOf(body.apiVersion), textOf(body.kind)];
  const wrongKind = kindError(apiVersion, kind, review);
  if (wrongKind) throw failedCall(wrongKind);
  const wrongType = typeError(body);
  if (wrongType) throw failedCall(wrongType);
  // Its members have the right types, but each may be missing.
  const response = body.response as Partial<AdmissionResponse> | undefined;
  if (!response) throw invalidResponse('webhook response was absent');
  const isV1 = review.apiVersion.endsWith('/v1');
  const uid = response.uid ?? '';
  if (uid !== review.uid && (isV1 || uid !== ''))
    throw invalidResponse(`expected response.uid=${JSON.stringify(review.uid)}, got ${JSON.stringify(uid)}`);
  if (isV1 && (kind === '' || apiVersion === ''))
    throw invalidResponse(
      `expected webhook response of ${reviewKind(review.apiVersion)}, got ${apiVersion || '/'}, Kind=${kind}`,
    );
  return {
    allowed: response.allowed === true,
    status: response.status ?? undefined,
    warnings: response.warnings ?? [],
    annotations: Object.entries(response.auditAnnotations ?? {}).map(([name, value]) => [name, value]),
    ...patchOf(response, mutating, isV1),
  };
}

/** Upstream's text for an answer of another kind than the review; undefined if it has the same kind, or names none. */
function kindError(apiVersion: string, kind: string, review: Review): string | undefined {
  if ((kind === '' || kind === 'AdmissionReview') && (apiVersion === '' || apiVersion === review.apiVersion))
    return undefined;
  const goName = (version: string, name: string): string => `${version.slice(version.indexOf('/') + 1)}.${name}`;
  const group = review.apiVersion.slice(0, review.apiVersion.indexOf('/') + 1);
  const isReview = kind === 'AdmissionReview' && apiVersion.startsWith(group);
  const isKnown = isReview && VERSIONS.includes(apiVersion.slice(apiVersion.indexOf('/') + 1));
  return isKnown || (kind === 'Status' && apiVersion === 'v1')
    ? `converting (${goName(apiVersion, kind)}) to (${goName(review.apiVersion, 'AdmissionReview')}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`;
}

/** Any base64, with or without its padding. */
const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}$/;

/** In v1beta1 a patch is always a JSON Patch, and that of a validating webhook is ignored. */
function patchOf(
  response: Partial<AdmissionResponse>,
  mutating: boolean,
  isV1: boolean,
): Pick<Verdict, 'patch' | 'patchType'> {
  const encoded = response.patch ?? '';
  if (!BASE64.test(encoded)) throw failedCall('illegal base64 data at input byte 0');
  const patch = Buffer.from(encoded, 'base64').toString('utf8');
  if (!isV1) return { patch: mutating ? patch : '', patchType: 'JSONPatch' };
  const hasType = !isAbsent(response.patchType);
  if (!mutating) {
    if (patch !== '') throw invalidResponse('validating webhook may not return response.patch');
    if (hasType) throw invalidResponse('validating webhook may not return response.patchType');
  }
  if (patch !== '' && !hasType) throw invalidResponse('webhook returned response.patch but not response.patchType');
  if (patch === '' && hasType) throw invalidResponse('webhook returned response.patchType but not response.patch');
  const patchType = response.patchType ?? '';
  if (hasType && patchType === '') throw invalidResponse('webhook returned invalid response.patchType of ""');
  return { patch, patchType };
}

/** The refusal of a request that a webhook denies. */
export function denialOf(webhook: string, status: Partial<Status> = {}): Refusal {
  const by = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const reason = status.reason ?? '';
  const why = status.message || reason;
  const given = status.code ?? 0;
  const code = given < 400 ? 400 : given > 599 ? 500 : given;
  // Webhooks may give reasons of their own.
  return new Refusal(reason as Reason, why ? `${by}: ${why}` : `${by} without explanation`, detailsOf(status), code);
}

function detailsOf(status: Partial<Status>): StatusDetails | undefined {
  const details = status.details;
  if (!details) return undefined;
  const causes = (details.causes ?? []).map(cause => textsOf(cause, ['reason', 'message', 'field']));
  const seconds = details.retryAfterSeconds ?? 0;
  return {
    ...textsOf(details, ['name', 'group', 'kind', 'uid']),
    ...(causes.length > 0 ? { causes } : {}),
    ...(Number.isInteger(seconds) && seconds > 0 ? { retryAfterSeconds: seconds } : {}),
  };
}

/** The members with these names that are texts and not empty. */
const textsOf = <T extends object>(record: T, names: readonly (keyof T & string)[]): { [name: string]: string } =>
  Object.fromEntries(names.map(name => [name, textOf(record[name])]).filter(([, text]) => text !== ''));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
