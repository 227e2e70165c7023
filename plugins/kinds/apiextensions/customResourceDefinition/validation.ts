import type { TextMember } from '../../shared/values/members.js';
import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionVersion,
} from '../../../../kinds/apiextensions/v1.js';
import { isDeepStrictEqual } from 'node:util';
import { dns1035Label, dns1123Subdomain } from '../../../../core/model/names.js';
import type { StructuralSchema } from '../../../../core/api/resource.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../../../core/model/refusal.js';
import { hasDefault } from '../../../../core/schema/custom/structural/schemaWalk.js';
import type { Naming } from '../../../../core/naming.js';
import { groupRows } from '../../../../core/schema/table/resources.js';
import { isConditionTrue } from './source.js';
import { requireSchemas, validateVersions } from './versions.js';
import { validateClientConfig } from '../../shared/admission/webhookClients.js';

const SCOPES = ['Cluster', 'Namespaced'];

/** Versions of the conversion review that the server knows. */
const REVIEWS = ['v1', 'v1beta1'];

/** Largest length of the warning of a deprecated version. */
const WARNING_LENGTH = 256;

/** Violations of a new definition. */
export function validateNewDefinition(definition: CustomResourceDefinition, naming: Naming): Violation[] {
  const spec = definition.spec;
  const { name = '' } = definition.metadata;
  const found: Violation[] = [];
  if (name && name !== `${spec.names.plural}.${spec.group}`)
    found.push(invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  return [
    ...found,
    ...validateSpec(spec),
    ...validateStoredVersions(definition),
    ...validateGroupOwner(definition, naming),
    ...validatePreserving(spec),
  ];
}

/** Violations of an update of the spec or the status of a definition. */
export function validateChangedDefinition(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
  naming: Naming,
): Violation[] {
  const spec = definition.spec;
  const before = old.spec;
  return [
    ...validateSpec(spec, before),
    ...validateImmutableFields(spec, before, isConditionTrue(old, 'Established')),
    ...validateStoredVersions(definition),
    ...validateApproval(definition, naming, old),
    ...validatePreserving(spec),
  ];
}

/**
 * Violations for changes of immutable fields. Scope and kind are immutable once the definition is established, because
 * objects may then exist.
 */
function validateImmutableFields(
  spec: CustomResourceDefinitionSpec,
  before: CustomResourceDefinitionSpec,
  established: boolean,
): Violation[] {
  const found: Violation[] = [];
  const requireUnchanged = (path: string, value: string, old: string): void => {
    if (value !== old) found.push(invalid(path, value, 'field is immutable'));
  };
  requireUnchanged('spec.group', spec.group, before.group);
  requireUnchanged('spec.names.plural', spec.names.plural, before.names.plural);
  if (!established) return found;
  requireUnchanged('spec.scope', spec.scope, before.scope);
  requireUnchanged('spec.names.kind', spec.names.kind, before.names.kind);
  return found;
}

function validateSpec(spec: CustomResourceDefinitionSpec, before?: CustomResourceDefinitionSpec): Violation[] {
  const versions = spec.versions ?? [];
  const found = [...validateGroup(spec.group), ...validateScope(spec.scope)];
  const names = versions.map(version => version.name);
  const isPreserving = spec.preserveUnknownFields === true;
  // Versions that did not change are not validated again.
  const hasChanged = !before || !isDeepStrictEqual(versions, before.versions ?? []);
  if (hasChanged) found.push(...requireSchemas(versions));
  if (isPreserving && versions.some(hasDefaultValue))
    found.push(invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'));
  const byVersion = groupByVersion(hasChanged ? validateVersions(versions) : []);
  for (const [i, version] of versions.entries()) {
    const path = `spec.versions[${i}]`;
    found.push(...validateVersionName(version, path), ...(byVersion.get(path) ?? []));
  }
  if (new Set(names).size < names.length)
    found.push(invalid('spec.versions', versions, 'must contain unique version names'));
  if (versions.filter(version => version.storage === true).length !== 1)
    found.push(invalid('spec.versions', versions, 'must have exactly one version marked as storage version'));
  // Upstream keeps the name of the first version a second time.
  const first = names[0] ?? '';
  if (first !== '') found.push(...joined('spec.version', first, dns1035Label(first)));
  return [
    ...found,
    ...validateNames(spec.names),
    ...(byVersion.get(WHOLE) ?? []),
    ...validateConversion(spec.conversion ?? { strategy: '' }, isPreserving),
  ];
}

/**
 * The key of violations of parts that all versions share, such as a schema, whose field is one of the whole definition.
 */
const WHOLE = '';

/** Groups violations by the field of the version that they are in. */
function groupByVersion(violations: readonly Violation[]): ReadonlyMap<string, readonly Violation[]> {
  const groups = new Map<string, Violation[]>();
  for (const violation of violations) {
    const [version = WHOLE] = /^spec\.versions\[\d+\]/.exec(violation.field) ?? [];
    const group = groups.get(version);
    if (group) group.push(violation);
    else groups.set(version, [violation]);
  }
  return groups;
}

function validatePreserving({ preserveUnknownFields }: CustomResourceDefinitionSpec): Violation[] {
  const why = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return preserveUnknownFields === true ? [invalid('spec.preserveUnknownFields', true, why)] : [];
}

const hasDefaultValue = (version: CustomResourceDefinitionVersion): boolean => {
  const schema = version.schema?.openAPIV3Schema;
  return schema !== undefined && hasDefault(schema as StructuralSchema);
};

/** One violation with all complaints about a value, as upstream reports them. */
const joined = (path: string, value: string, complaints: readonly string[], rule = ''): Violation[] =>
  complaints.length > 0 ? [invalid(path, value, `${rule}${complaints.join(',')}`)] : [];

function validateGroup(group: string): Violation[] {
  if (group === '') return [required('spec.group')];
  const found = joined('spec.group', group, dns1123Subdomain(group));
  if (found.length === 0 && !group.includes('.'))
    found.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  return found;
}

const validateScope = (scope: string): Violation[] =>
  scope === '' ? [required('spec.scope')] : SCOPES.includes(scope) ? [] : [notSupported('spec.scope', scope, SCOPES)];

function validateVersionName(version: CustomResourceDefinitionVersion, path: string): Violation[] {
  const name = version.name;
  const warning = version.deprecationWarning;
  const found = joined(`${path}.name`, name, dns1035Label(name));
  if (typeof warning !== 'string') return found;
  if (version.deprecated !== true)
    found.push(invalid(`${path}.deprecationWarning`, warning, 'can only be set for deprecated versions'));
  if (warning.length > WARNING_LENGTH)
    found.push(invalid(`${path}.deprecationWarning`, warning, `must be <= ${WARNING_LENGTH} characters long`));
  if (warning === '') found.push(invalid(`${path}.deprecationWarning`, warning, 'must not be an empty string'));
  const unprintable = warning.search(/[^\P{C}]/u);
  if (unprintable >= 0)
    found.push(
      invalid(
        `${path}.deprecationWarning`,
        warning,
        `must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`,
      ),
    );
  return found;
}

const MIXED_CASE = 'may have mixed case, but should otherwise match: ';

function validateNames(names: CustomResourceDefinitionNames): Violation[] {
  const found: Violation[] = [];
  const validateLabel = (path: string, value: string): void =>
    void found.push(...joined(path, value, dns1035Label(value)));
  const requireValid = (
    member: TextMember<CustomResourceDefinitionNames>,
    check: (path: string, value: string) => void,
  ): void => {
    const path = `spec.names.${member}`;
    const value = names[member] ?? '';
    if (value === '') found.push(required(path));
    else check(path, value);
  };
  const mixedCase = (path: string, value: string): void =>
    void found.push(...joined(path, value, dns1035Label(value.toLowerCase()), MIXED_CASE));
  const validateLabels = (member: 'shortNames' | 'categories'): void => {
    for (const [i, value] of (names[member] ?? []).entries()) validateLabel(`spec.names.${member}[${i}]`, value);
  };
  requireValid('plural', validateLabel);
  requireValid('singular', validateLabel);
  requireValid('kind', mixedCase);
  requireValid('listKind', mixedCase);
  validateLabels('shortNames');
  const listKind = names.listKind ?? '';
  if (listKind !== '' && listKind === names.kind)
    found.push(invalid('spec.names.listKind', listKind, 'kind and listKind may not be the same'));
  validateLabels('categories');
  return found;
}

function validateConversion(conversion: CustomResourceConversion, preserving: boolean): Violation[] {
  const { strategy } = conversion;
  const webhook = conversion.webhook;
  const reviews = webhook ? (webhook.conversionReviewVersions ?? []) : [];
  const [clientPath, reviewPath] = ['spec.conversion.webhookClientConfig', 'spec.conversion.conversionReviewVersions'];
  const client = webhook?.clientConfig;
  const found =
    preserving && strategy !== 'None'
      ? [invalid('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true')]
      : [];
  if (strategy === '') found.push(required('spec.conversion.strategy'));
  else if (strategy !== 'None' && strategy !== 'Webhook')
    found.push(notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook']));
  if (strategy !== 'Webhook') {
    const unset = 'should not be set when strategy is not set to Webhook';
    return [
      ...found,
      ...(client ? [forbiddenField(clientPath, unset)] : []),
      ...(reviews.length > 0 ? [forbiddenField(reviewPath, unset)] : []),
    ];
  }
  if (!client) found.push(required(clientPath, 'required when strategy is set to Webhook'));
  else found.push(...validateClientConfig(client, clientPath));
  return [...found, ...validateReviewVersions(reviews, reviewPath)];
}

function validateReviewVersions(reviews: readonly string[], path: string): Violation[] {
  if (reviews.length === 0) return [required(path)];
  const seen = new Set<string>();
  const found = reviews.flatMap((review, i) => {
    const wrong = joined(`${path}[${i}]`, review, dns1035Label(review));
    if (seen.has(review)) wrong.push(invalid(`${path}[${i}]`, review, 'duplicate version'));
    seen.add(review);
    return wrong;
  });
  if (!reviews.some(review => REVIEWS.includes(review)))
    found.push(invalid(path, goStrings(reviews), `must include at least one of ${REVIEWS.join(', ')}`));
  return found;
}

/** Checks that all stored versions are versions of the definition, and that the storage version is one of them. */
function validateStoredVersions(definition: CustomResourceDefinition): Violation[] {
  const path = 'status.storedVersions';
  const stored = definition.status?.storedVersions ?? [];
  const left = new Map(stored.map((name, i) => [name, i]));
  const found = stored.length === 0 ? [invalid(path, goStrings(stored), 'must have at least one stored version')] : [];
  if (stored.length === 0) return found;
  for (const version of definition.spec.versions ?? []) {
    const name = version.name;
    if (version.storage === true && !left.has(name))
      found.push(invalid(path, goStrings(stored), `must have the storage version ${name}`));
    left.delete(name);
  }
  return [...found, ...[...left].map(([name, i]) => invalid(`${path}[${i}]`, name, 'must appear in spec.versions'))];
}

/**
 * The groups of the server's own kinds are not available for definitions, nor are the domains that these groups have in
 * the other naming. Upstream accepts the former with an approval, and serves none of their objects.
 */
function validateGroupOwner(definition: CustomResourceDefinition, naming: Naming): Violation[] {
  const { group } = definition.spec;
  if (naming.isOtherNamingGroup(group))
    return [
      invalid('spec.group', group, 'belongs to the server, which has it in its other naming: use another domain'),
    ];
  const approval = validateApproval(definition, naming);
  if (approval.length > 0 || !groupRows().some(({ name }) => group.includes('.') && naming.group(name) === group))
    return approval;
  return [invalid('spec.group', group, 'is the group of built-in kinds: use a group of your own')];
}

/** The state that the annotation of an approval expresses. */
function approvalIn(given: string): 'approved' | 'unapproved' | 'invalid' | 'missing' {
  if (given === '') return 'missing';
  if (given.startsWith('unapproved')) return 'unapproved';
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]+/i.test(given) ? 'approved' : 'invalid';
}

/**
 * The domains of the system are reserved: a definition with such a group needs an annotation with its approval. An
 * update may keep an invalid annotation.
 */
function validateApproval(
  { metadata, spec }: CustomResourceDefinition,
  naming: Naming,
  old?: CustomResourceDefinition,
): Violation[] {
  if (!naming.isReservedGroup(spec.group)) return [];
  const name = naming.label('api-approved.orchestrator.io');
  const given = metadata.annotations?.[name] ?? '';
  const approval = approvalIn(given);
  if (old && approvalIn(old.metadata.annotations?.[name] ?? '') === approval) return [];
  const path = `metadata.annotations[${name}]`;
  const where = `see https://github.com/${naming.product}/enhancements/pull/1111`;
  const protectedText = `protected groups must have approval annotation ${JSON.stringify(name)}`;
  if (approval === 'missing') return [required(path, `${protectedText}, ${where}`)];
  if (approval !== 'invalid') return [];
  return [invalid(path, given, `${protectedText} with either a URL or a reason starting with "unapproved", ${where}`)];
}
