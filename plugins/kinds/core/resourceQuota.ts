import type { Quantity } from '../../../core/model/scalars.js';
import { ownValue } from '../../../core/model/record.js';
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { invalid, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, NAME, sortedEntries, textOf } from '../shared/columns.js';
import { isQuotaResource, validateAmount, validateQuotaResource } from '../shared/values/resourceNames.js';

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

/** Resources that a quota with a scope of pods can count. Other known resources do not belong to pods. */
const POD_RESOURCES = ['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

/** Whether a scope can restrict a quota of a resource. */
const appliesTo = (scope: string, resource: string): boolean =>
  !isQuotaResource(resource) || (scope === 'BestEffort' ? resource === 'pods' : POD_RESOURCES.includes(resource));

/** Violations of the amounts in a field of a quota. */
const validateAmounts = (amounts: { readonly [resource: string]: Quantity } | undefined, field: string): Violation[] =>
  Object.entries(amounts ?? {}).flatMap(([name, amount]) => {
    const where = `${field}[${name}]`;
    return [...validateQuotaResource(name, where), ...validateAmount(name, amount, where)];
  });

/** Scopes as Go prints them in messages. */
const goScopes = (scopes: readonly string[]): Verbatim =>
  new Verbatim(`[]core.ResourceQuotaScope{${scopes.map(scope => JSON.stringify(scope)).join(', ')}}`);

/** Violations of scopes in a field: unknown ones, and those that do not fit each other or the resources. */
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

function validateScopeTerm(term: ScopedResourceSelectorRequirement, field: string): Violation[] {
  const [scope, operator, values] = [term.scopeName, term.operator, term.values ?? []];
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
function validateQuota(quota: ResourceQuota): Violation[] {
  const spec = quota.spec;
  const resources = Object.entries(spec.hard ?? {}).map(([name]) => name);
  const terms = spec.scopeSelector?.matchExpressions ?? [];
  const selected = terms.map(term => term.scopeName).filter(scope => SCOPES.includes(scope));
  return [
    ...validateAmounts(spec.hard, 'spec.hard'),
    ...validateScopes(spec.scopes ?? [], resources, 'spec.scopes'),
    ...terms.flatMap(term => validateScopeTerm(term, 'spec.scopeSelector.matchExpressions')),
    ...validateScopes(selected, resources, 'spec.scopeSelector.matchExpressions'),
  ];
}

/** The scopes of a quota cannot change. */
function validateQuotaUpdate(quota: ResourceQuota, old: ResourceQuota): Violation[] {
  const scopesOf = (object: ResourceQuota): string[] => [...new Set(object.spec.scopes ?? [])].sort();
  const [now, before] = [scopesOf(quota), scopesOf(old)];
  const isSame = now.length === before.length && now.every((scope, i) => scope === before[i]);
  return [
    ...validateQuota(quota),
    ...(isSame ? [] : [invalid('spec.scopes', goScopes(quota.spec.scopes ?? []), 'field is immutable')]),
  ];
}

/** Violations of the status of a quota. */
const validateQuotaStatus = (quota: ResourceQuota): Violation[] => {
  const status = quota.status;
  return [...validateAmounts(status?.hard, 'status.hard'), ...validateAmounts(status?.used, 'status.used')];
};

/** The used amounts of each resource. With `limits`, those of limits; otherwise, those of requests and counts. */
const quotaCell =
  (limits: boolean): Cell<ResourceQuota> =>
  object =>
    sortedEntries(object.status?.hard)
      .filter(([resource]) => resource.startsWith('limits.') === limits)
      .map(
        ([resource, hard]) =>
          `${resource}: ${textOf(ownValue(object.status?.used, resource), '0')}/${textOf(hard, '0')}`,
      )
      .join(', ');

const COLUMNS: readonly Column<ResourceQuota>[] = [
  NAME,
  AGE,
  column('Request', quotaCell(false)),
  column('Limit', quotaCell(true)),
];

/** ResourceQuota. */
export const resourceQuota = builtInKind<ResourceQuota>('core/resourcequotas', () => ({
  hasStatus: true,
  returnsDeletedObject: true,
  validateCreate: validateQuota,
  validateUpdate: validateQuotaUpdate,
  validateStatus: validateQuotaStatus,
  columns: COLUMNS,
}));
