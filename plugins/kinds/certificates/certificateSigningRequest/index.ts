import type { Time } from '../../../../core/model/scalars.js';
import type {
  CertificateSigningRequestCondition,
  CertificateSigningRequestStatus,
  CertificateSigningRequest,
} from '../../../../kinds/certificates/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import { humanDuration } from '../../../../core/model/age.js';
import { invalidObject } from '../../../../core/model/refusal.js';
import { validateDecision, validateIssue, validateRequest } from './validation.js';
import { AGE, type Cell, column, conditionOf, NAME } from '../../shared/columns.js';
import { validateMetadata } from '../../../../core/schema/decode/metadata.js';
import { checkSegmentName } from '../../shared/values/names.js';

/** Sets the requester to the authenticated user, replacing any values of the client. */
function setRequester(object: CertificateSigningRequest, { user }: StrategyContext): void {
  const wanted = object.spec;
  for (const member of ['username', 'uid', 'groups', 'extra'] as const) delete wanted[member];
  wanted.username = user.name;
  if (user.uid) wanted.uid = user.uid;
  if (user.groups.length > 0) wanted.groups = [...user.groups];
  if (user.extra.size > 0)
    wanted.extra = Object.fromEntries(Array.from(user.extra, ([key, values]) => [key, [...values]]));
}

const conditionsOf = (object: CertificateSigningRequest): CertificateSigningRequestCondition[] =>
  object.status?.conditions ?? [];

/**
 * Sets missing times of conditions: the time of the old condition with the same type and status, or the current time.
 */
function setConditionTimes(object: CertificateSigningRequest, old: CertificateSigningRequest, now: Time): void {
  for (const condition of conditionsOf(object)) {
    condition.lastUpdateTime ??= now;
    const alike = conditionsOf(old).find(
      before => before.type === condition.type && before.status === condition.status && before.lastTransitionTime,
    );
    condition.lastTransitionTime ??= alike?.lastTransitionTime ?? now;
  }
}

/** A write to the status keeps the decisions. The validation refuses one that adds or removes decisions. */
function restoreDecisions(object: CertificateSigningRequest, old: CertificateSigningRequest): void {
  for (const type of ['Approved', 'Denied']) {
    const before = conditionsOf(old).filter(given => given.type === type);
    const now = conditionsOf(object).filter(given => given.type === type);
    if (now.length === 0 || before.length !== now.length) continue;
    const queue = [...before];
    (object.status ??= {}).conditions = conditionsOf(object).map(given =>
      given.type === type ? queue.shift()! : given,
    );
  }
}

/** A write to the subresource `approval`: stores the conditions and the metadata of the body. */
const approvalFor =
  (group: string) =>
  (
    body: CertificateSigningRequest,
    current: CertificateSigningRequest,
    context: StrategyContext,
  ): CertificateSigningRequest => {
    const status: CertificateSigningRequestStatus = { ...current.status };
    const conditions = conditionsOf(body);
    if (conditions.length > 0) status.conditions = conditions;
    else delete status.conditions;
    const next = { ...current, metadata: body.metadata, status };
    setConditionTimes(next, current, context.now);
    const violations = validateDecision(next, current);
    if (violations.length > 0)
      throw invalidObject(group, 'CertificateSigningRequest', current.metadata.name ?? '', violations);
    return next;
  };

const requestCondition: Cell<CertificateSigningRequest> = request => {
  const decided = ['Denied', 'Approved'].find(type => conditionOf(request, type) !== undefined) ?? 'Pending';
  const failed = conditionOf(request, 'Failed') === undefined ? '' : ',Failed';
  return `${decided}${failed}${(request.status?.certificate ?? '') === '' ? '' : ',Issued'}`;
};

const requestedDuration: Cell<CertificateSigningRequest> = request => {
  const seconds = request.spec.expirationSeconds;
  return typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>';
};

const COLUMNS: readonly Column<CertificateSigningRequest>[] = [
  NAME,
  AGE,
  column('SignerName', object => object.spec.signerName || '<none>'),
  column('Requestor', object => object.spec.username ?? ''),
  column('RequestedDuration', requestedDuration),
  column('Condition', requestCondition),
];

/** CertificateSigningRequest. Its spec is immutable, and decisions are written only to the subresource `approval`. */
export const certificateSigningRequest = builtInKind<CertificateSigningRequest>(
  'certificates.orchestrator.io/certificatesigningrequests',
  naming => ({
    checkName: checkSegmentName,
    validatesMetadataLast: true,
    hasStatus: true,
    unownedFields: new Map([
      ['', [['spec']]],
      ['status', [['status', 'conditions']]],
      ['approval', [['spec'], ['status', 'certificate']]],
    ]),
    prepareCreate: setRequester,
    prepareUpdate: (object, old) => {
      object.spec = structuredClone(old.spec);
    },
    prepareStatus: (object, old, context) => {
      restoreDecisions(object, old);
      setConditionTimes(object, old, context.now);
    },
    // Any path segment is a name. Upstream checks that only if everything else is valid.
    validateCreate: object => [
      ...validateMetadata(object, { namespaced: false, checkName: () => [] }),
      ...validateRequest(object, naming.label('orchestrator.io/legacy-unknown')),
    ],
    validateStatus: validateIssue,
    subresources: new Map([['approval', approvalFor(naming.group('certificates.orchestrator.io'))]]),
    selectableFields: new Map([['spec.signerName', object => object.spec.signerName]]),
    columns: COLUMNS,
  }),
);
