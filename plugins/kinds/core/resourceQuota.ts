import { builtInKind } from '../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  entriesAt,
  recordAt,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';
import { invalid, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, NAME, sortedEntries, textOf } from '../shared/columns.js';
import { isQuotaResource, validateAmount, validateQuotaResource } from '../shared/resourceNames.js';

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
];

const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

/** Resources that pods of a scope can be counted by. Other known ones do not belong to pods. */
const POD_RESOURCES = ['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

/** Whether a scope can restrict a quota of a resource. */
const appliesTo = (scope: string, resource: string): boolean =>
  !isQuotaResource(resource) || (scope === 'BestEffort' ? resource === 'pods' : POD_RESOURCES.includes(resource));

/** Violations of the amounts of a member of a quota. */
const validateAmounts = (owner: unknown, member: string, field: string): Violation[] =>
  entriesAt(owner, member).flatMap(([name, amount]) => {
    const where = `${field}.${member}[${name}]`;
    return [...validateQuotaResource(name, where), ...validateAmount(name, amount, where)];
  });

/** Scopes as Go prints them in messages. */
const goScopes = (scopes: readonly string[]): Verbatim =>
  new Verbatim(`[]core.ResourceQuotaScope{${scopes.map(scope => JSON.stringify(scope)).join(', ')}}`);

/** Violations of scopes in a field: unknown ones, and those that do not fit together or to the resources. */
function validateScopes(scopes: readonly string[], resources: readonly string[], field: string): Violation[] {
  const value = goScopes(scopes);
  return [
    ...[...new Set(scopes)].flatMap(scope =>
      SCOPES.includes(scope)
        ? resources
            .filter(name => !appliesTo(scope, name))
            .map(() => invalid(field, value, 'unsupported scope applied to resource'))
        : [invalid(field, value, 'unsupported scope')],
    ),
    ...CONFLICTS.filter(pair => pair.every(scope => scopes.includes(scope))).map(() =>
      invalid(field, value, 'conflicting scopes'),
    ),
  ];
}

/** Scopes whose only operator is `Exists`. */
const EXISTS_ONLY = SCOPES.filter(scope => scope !== 'PriorityClass');

function validateScopeTerm(term: UnknownRecord, field: string): Violation[] {
  const [scope, operator, values] = [
    stringAt(term, 'scopeName'),
    stringAt(term, 'operator'),
    stringsAt(term, 'values'),
  ];
  const found: Violation[] = [];
  if (!SCOPES.includes(scope)) found.push(invalid(`${field}.scopeName`, scope, 'unsupported scope'));
  if (EXISTS_ONLY.includes(scope) && operator !== 'Exists')
    found.push(
      invalid(
        `${field}.operator`,
        operator,
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ),
    );
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      found.push(
        required(`${field}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
      );
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      found.push(
        invalid(
          `${field}.values`,
          new Verbatim(`[]string{${values.map(value => JSON.stringify(value)).join(', ')}}`),
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      );
  } else found.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  return found;
}

/** Violations of the spec of a quota. */
function validateQuota(quota: ApiObject): Violation[] {
  const spec = recordAt(quota, 'spec');
  const resources = entriesAt(spec, 'hard').map(([name]) => name);
  const terms = recordsAt(spec, 'scopeSelector', 'matchExpressions');
  const selected = terms.map(term => stringAt(term, 'scopeName')).filter(scope => SCOPES.includes(scope));
  return [
    ...validateAmounts(spec, 'hard', 'spec'),
    ...validateScopes(stringsAt(spec, 'scopes'), resources, 'spec.scopes'),
    ...terms.flatMap(term => validateScopeTerm(term, 'spec.scopeSelector.matchExpressions')),
    ...validateScopes(selected, resources, 'spec.scopeSelector.matchExpressions'),
  ];
}

/** The scopes of a quota cannot change. */
function validateQuotaUpdate(quota: ApiObject, old: ApiObject): Violation[] {
  const scopesOf = (object: ApiObject): string[] => [...new Set(stringsAt(object, 'spec', 'scopes'))].sort();
  const [now, before] = [scopesOf(quota), scopesOf(old)];
  const isSame = now.length === before.length && now.every((scope, i) => scope === before[i]);
  return [
    ...validateQuota(quota),
    ...(isSame ? [] : [invalid('spec.scopes', goScopes(stringsAt(quota, 'spec', 'scopes')), 'field is immutable')]),
  ];
}

/** Says that quotas have no effect: nobody should rely on limits that do not hold. */
const warnOfAbsence = ({ warn }: StrategyContext): void =>
  warn?.('spec: resource quotas are not enforced by this server; nothing is counted or refused');

/** Violations of the status of a quota. */
const validateQuotaStatus = (quota: ApiObject): Violation[] => {
  const status = recordAt(quota, 'status');
  return [...validateAmounts(status, 'hard', 'status'), ...validateAmounts(status, 'used', 'status')];
};

/** The used amounts of each resource. With `limits`, those of limits; otherwise, those of requests and counts. */
const quotaCell =
  (limits: boolean): Cell =>
  object =>
    sortedEntries(object, 'status', 'hard')
      .filter(([resource]) => resource.startsWith('limits.') === limits)
      .map(
        ([resource, hard]) =>
          `${resource}: ${textOf(valueAt(object, 'status', 'used', resource), '0')}/${textOf(hard, '0')}`,
      )
      .join(', ');

const COLUMNS: readonly Column[] = [NAME, AGE, column('Request', quotaCell(false)), column('Limit', quotaCell(true))];

/** ResourceQuota. */
export const resourceQuota = builtInKind('core/resourcequotas', () => ({
  hasStatus: true,
  returnsDeletedObject: true,
  validateCreate: (quota, context) => {
    warnOfAbsence(context);
    return validateQuota(quota);
  },
  validateUpdate: (quota, old, context) => {
    warnOfAbsence(context);
    return validateQuotaUpdate(quota, old);
  },
  validateStatus: validateQuotaStatus,
  columns: COLUMNS,
}));
