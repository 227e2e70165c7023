import type { Rules, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { invalidObject } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { at, into, list, type Rec, spec, text } from '../record.js';
import type { KindTable } from '../strategies.js';
import { segmentName } from '../naming-rules.js';
import { decisionViolations, issueViolations, requestViolations } from './validation.js';

/** Who asks is what the server saw, never what the client wrote. */
function identify(object: ApiObject, { user }: Rules): void {
  const wanted = spec(object);
  for (const member of ['username', 'uid', 'groups', 'extra']) delete wanted[member];
  wanted.username = user.name;
  if (user.uid) wanted.uid = user.uid;
  if (user.groups.length > 0) wanted.groups = [...user.groups];
  if (user.extra.size > 0)
    wanted.extra = Object.fromEntries(Array.from(user.extra, ([key, values]) => [key, [...values]]));
}

const conditionsOf = (object: ApiObject): Rec[] => list(at(object, 'status'), 'conditions');

/** Conditions that do not say since when they hold: since now, or as long as one of that type and status did. */
function dateConditions(object: ApiObject, old: ApiObject, now: string): void {
  for (const condition of conditionsOf(object)) {
    condition.lastUpdateTime ??= now;
    const alike = conditionsOf(old).find(
      before => before.type === condition.type && before.status === condition.status && before.lastTransitionTime,
    );
    condition.lastTransitionTime ??= alike?.lastTransitionTime ?? now;
  }
}

/** A write of the status leaves the decisions as they are; one that adds or removes some is refused later. */
function keepDecisions(object: ApiObject, old: ApiObject): void {
  for (const type of ['Approved', 'Denied']) {
    const before = conditionsOf(old).filter(given => given.type === type);
    const now = conditionsOf(object).filter(given => given.type === type);
    if (before.length !== now.length) continue;
    const queue = [...before];
    into(object, 'status').conditions = conditionsOf(object).map(given =>
      given.type === type ? queue.shift()! : given,
    );
  }
}

/** The approval decides: of its body the conditions count, and the metadata. */
const approved =
  (group: string) =>
  (body: ApiObject, current: ApiObject, rules: Rules): ApiObject => {
    const status: Rec = { ...at(current, 'status') };
    const conditions = conditionsOf(body);
    if (conditions.length > 0) status.conditions = conditions;
    else delete status.conditions;
    const next = { ...current, metadata: body.metadata, status } as ApiObject;
    dateConditions(next, current, rules.now);
    const violations = decisionViolations(next, current);
    if (violations.length > 0)
      throw invalidObject(group, 'CertificateSigningRequest', current.metadata.name ?? '', violations);
    return next;
  };

/** Requests for certificates: what was asked for never changes, and only the approval decides. */
const signingRequest = (naming: Naming): Partial<Strategy> => ({
  checkName: segmentName,
  hasStatus: true,
  prepareCreate: identify,
  prepareUpdate: (object, old) => {
    object.spec = structuredClone(old.spec);
  },
  prepareStatus: (object, old, rules) => {
    keepDecisions(object, old);
    dateConditions(object, old, rules.now);
  },
  validateCreate: object => requestViolations(object, naming.label('orchestrator.io/legacy-unknown')),
  validateStatus: issueViolations,
  subresources: new Map([['approval', approved(naming.group('certificates.orchestrator.io'))]]),
  selectableFields: new Map([['spec.signerName', object => text(at(object, 'spec'), 'signerName')]]),
});

/** Kinds of the certificates group. */
export const certificateKinds: KindTable = {
  'certificates.orchestrator.io/certificatesigningrequests': signingRequest,
};
