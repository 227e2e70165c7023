import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../../../kinds/apiserverinternal/v1alpha1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import type { Frozen } from '../../../../core/model/object.js';
import { dns1035Label, dns1123Subdomain, patternText, qualifiedName } from '../../../../core/model/names.js';
import { duplicate, invalid, required, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import { AGE, type Cell, column, NAME, shortList } from '../../shared/columns.js';
import { toViolations } from '../../shared/violations.js';

const versionsCell: Cell<StorageVersion> = object =>
  shortList(
    (object.status?.storageVersions ?? []).map(entry => `${entry.apiServerID ?? ''}=${entry.encodingVersion ?? ''}`),
    3,
    '<unset>',
  );

const COLUMNS: readonly Column<StorageVersion>[] = [
  NAME,
  column('CommonEncodingVersion', object => object.status?.commonEncodingVersion || '<unset>'),
  column('StorageVersions', versionsCell),
  AGE,
];

/** Checks the name: that of a group, or `core`, and of a resource, with a dot between them. */
function checkName(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123Subdomain(name.slice(0, dot)).map(why => `the group segment ${why}`),
    ...dns1035Label(name.slice(dot + 1)).map(why => `the resource segment ${why}`),
  ];
}

const VERSION_TEXT =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an " +
  'alphabetic character, and end with an alphanumeric character';

/** The messages about a part of an apiVersion. */
const partProblems = (name: string, text: string, check: (text: string) => string[]): string[] =>
  (text === '' ? ['must be non-empty'] : check(text)).map(why => `${name} part: ${why}`);

function apiVersionProblems(text: string): string[] {
  const parts = text.split('/');
  const version = partProblems('version', parts.at(-1)!, dns1035Label);
  if (parts.length === 1) return version;
  if (parts.length === 2) return [...partProblems('group', parts[0]!, dns1123Subdomain), ...version];
  const form = patternText(VERSION_TEXT, '[a-z]([-a-z0-9]*[a-z0-9])?', 'my-name', 'abc-123');
  return [`${form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`];
}

/** The violation of an apiVersion, which has all messages about it. */
function validateApiVersion(text: string, field: string): Violation[] {
  const messages = apiVersionProblems(text);
  return messages.length === 0 ? [] : [invalid(field, text, messages.join(','))];
}

function validateEntry(entry: ServerStorageVersion, field: string): Violation[] {
  const { apiServerID: id = '', encodingVersion: encoding = '' } = entry;
  const [decodable, servedVersions] = [entry.decodableVersions ?? [], entry.servedVersions ?? []];
  const included = new Set(decodable);
  // Made once: each served version may have a message that shows the whole list.
  const shown = `[${decodable.join(' ')}]`;
  return [
    ...toViolations(`${field}.apiServerID`, id, dns1123Subdomain(id)),
    ...validateApiVersion(encoding, `${field}.encodingVersion`),
    ...decodable.flatMap((version, i) => validateApiVersion(version, `${field}.decodableVersions[${i}]`)),
    ...(included.has(encoding)
      ? []
      : [
          invalid(
            `${field}.decodableVersions`,
            decodable.length > 0 ? goStrings(decodable) : new Verbatim('[]string(nil)'),
            `decodableVersions must include encodingVersion ${encoding}`,
          ),
        ]),
    ...servedVersions.flatMap((version, i) => {
      const why = `individual served version : ${version} must be included in decodableVersions : `;
      const served = `${field}.servedVersions[${i}]`;
      return [
        ...validateApiVersion(version, served),
        ...(included.has(version) ? [] : [invalid(served, version, why + shown)]),
      ];
    }),
  ];
}

/** The version in which all servers store the objects; undefined if they differ, or if there is no server. */
export function commonEncodingVersionOf(entries: readonly Frozen<ServerStorageVersion>[]): string | undefined {
  const [first, ...others] = entries.map(({ encodingVersion }) => encodingVersion ?? '');
  return others.every(version => version === first) ? first : undefined;
}

/** Violations of the common version, which follows from the versions of the servers. */
function validateCommonVersion({ storageVersions, commonEncodingVersion: given }: StorageVersionStatus): Violation[] {
  const actual = commonEncodingVersionOf(storageVersions ?? []);
  if ((given ?? undefined) === actual) return [];
  const why =
    actual === undefined
      ? 'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the ' +
        'supported versions yet'
      : `the ${typeof given === 'string' ? 'actual ' : ''}common encoding version is ${actual}`;
  return [invalid('status.commonEncodingVersion', given, why)];
}

/** Violations of the conditions. Upstream's fields lack the name of the list. */
function validateConditions(conditions: readonly StorageVersionCondition[]): Violation[] {
  const last = new Map<string, number>();
  return conditions.flatMap(({ type, status, reason, message }, i) => {
    const field = `status[${i}]`;
    const other = last.get(type);
    last.set(type, i);
    const twice = `the type of the condition is not unique, it also appears in conditions[${other}]`;
    return [
      ...(other === undefined ? [] : [invalid(`${field}.type`, type, twice)]),
      ...toViolations(`${field}.type`, type, qualifiedName(type)),
      ...toViolations(`${field}.status`, status, qualifiedName(status)),
      ...(reason === '' ? [required(`${field}.reason`, 'reason cannot be empty')] : []),
      ...((message ?? '') === '' ? [required(`${field}.message`, 'message cannot be empty')] : []),
    ];
  });
}

function validateStatus({ status = {} }: StorageVersion): Violation[] {
  const seen = new Set<string>();
  return [
    ...(status.storageVersions ?? []).flatMap((entry, i) => {
      const [field, id] = [`status.storageVersions[${i}]`, entry.apiServerID ?? ''];
      const twice = seen.has(id) ? [duplicate(`${field}.apiServerID`, id)] : [];
      seen.add(id);
      return [...twice, ...validateEntry(entry, field)];
    }),
    ...validateCommonVersion(status),
    ...validateConditions(status.conditions ?? []),
  ];
}

/** StorageVersion: in which version each server stores the objects of a resource. */
export const storageVersion = builtInKind<StorageVersion>('internal.apiserver.orchestrator.io/storageversions', () => ({
  hasStatus: true,
  allowUnconditionalUpdate: false,
  columns: COLUMNS,
  checkName,
  validateStatus,
}));
