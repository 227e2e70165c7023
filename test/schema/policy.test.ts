import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ApiField, ApiKind, ApiVersion } from '../../core/command/manifests/lint/api.js';
import { kindBreaches } from '../../core/command/manifests/lint/rules.js';
import { gatesOf } from '../../core/features/table.js';
import { RELEASE } from '../../core/release.js';
import type { Struct, Type } from '../../core/schema/model.js';
import { stabilityRank } from '../../core/schema/registry/versionNames.js';
import { REMOVED_VERSIONS } from '../../core/schema/table/removed.js';
import { groupRows, type ResourceRow, type VersionRow } from '../../core/schema/table/resources.js';
import { typeOf } from '../../core/schema/table/types.js';
import { builtInStrategies } from '../kinds/builtIn.js';

/* The deprecation policy, checked on the tables of the server itself. */

const describeType = (type: Type): string =>
  type.is === 'scalar' ? type.name : type.is === 'struct' ? 'object' : type.is === 'list' ? 'array' : 'map';

/** Adds the fields of a struct by their paths. Types that contain themselves are entered once. */
function addFields(struct: Struct, path: string, found: Map<string, ApiField>, above: readonly string[]): void {
  if (above.includes(struct.id)) return;
  for (const { name, type, required } of struct.fields) add(`${path}${path && '.'}${name}`, type, required);
  function add(at: string, type: Type, isRequired: boolean): void {
    found.set(at, { type: describeType(type), isRequired, hasDefault: false, values: undefined, isOpen: false });
    if (type.is === 'struct') addFields(type, at, found, [...above, struct.id]);
    else if (type.is !== 'scalar') add(`${at}[*]`, type.of, false);
  }
}

function versionOf(version: VersionRow, row: ResourceRow): ApiVersion {
  const fields = new Map<string, ApiField>();
  fields.set('', { type: 'object', isRequired: true, hasDefault: false, values: undefined, isOpen: false });
  addFields(typeOf(`${version.package}.${row.kind}`), '', fields, []);
  const isDeprecated = row.deprecated !== undefined && Number(row.deprecated.slice(2)) <= Number(RELEASE.minor);
  return {
    name: version.version,
    field: `${version.package}.${row.kind}`,
    isServed: true,
    isStored: false,
    isDeprecated,
    introducedIn: row.introduced,
    deprecatedIn: row.deprecated,
    removedIn: row.removed,
    fields,
    fieldPath: path => path,
  };
}

/** Every kind of the table with all of its versions, the storage version first. */
const KINDS: readonly ApiKind[] = groupRows().flatMap(({ name: group, versions }) => {
  const names = new Set(versions.flatMap(({ resources }) => resources.map(({ kind }) => kind)));
  return [...names].map(kind => {
    const own = versions.flatMap(version =>
      version.resources.filter(row => row.kind === kind).map(row => versionOf(version, row)),
    );
    const plural = versions.flatMap(({ resources }) => resources).find(row => row.kind === kind)!.plural;
    const converts = builtInStrategies('neutral').get(`${group || 'core'}/${plural}`)?.convert !== undefined;
    return {
      name: `${group}/${kind}`,
      group,
      kind,
      scope: '',
      versions: own.map((version, i) => ({ ...version, isStored: i === 0 })),
      convertsByName: !converts,
    };
  });
});

describe('the table of built-in kinds', () => {
  it('follows the rules of the deprecation policy for versions [R363] [R380x] [R381x] [R387]', () => {
    const found = KINDS.flatMap(kind =>
      kindBreaches(kind).map(({ rule, field, message }) => `${kind.name}: rule ${rule}: ${field}: ${message}`),
    );
    // Component statuses are deprecated, and have no replacement.
    expect(found).toEqual([
      '/ComponentStatus: rule 3: core.v1.ComponentStatus.deprecated: v1 is deprecated, and no version that is as ' +
        'stable stays',
    ]);
  });

  it('prefers in each group a version that is served [R387]', () => {
    for (const { name, preferred, versions } of groupRows()) {
      const served = versions.filter(({ enabled }) => enabled).map(({ version }) => version);
      expect(served.length === 0 || served.includes(preferred), name).toBe(true);
    }
  });

  it('removes no stable version, and beta versions only if a replacement is at least as stable [R400]', () => {
    for (const { apiVersion, kind, release, replacement } of REMOVED_VERSIONS) {
      expect(apiVersion, kind).toMatch(/beta/);
      expect(Number(release.slice(2))).toBeLessThanOrEqual(Number(RELEASE.minor));
      if (replacement === undefined) continue;
      const [group = '', version = ''] = replacement.split('/');
      expect(stabilityRank(version), kind).toBeGreaterThanOrEqual(stabilityRank(apiVersion.split('/')[1]!));
      const row = groupRows().find(({ name }) => name === group);
      const kinds = row?.versions.find(one => one.version === version)?.resources.map(one => one.kind);
      expect(kinds, `${apiVersion} ${kind}`).toContain(kind);
    }
  });
});

describe('kinds of several versions', () => {
  /** Objects with the members whose form differs between versions, by the version that they are written in. */
  const slice = (version: string, capacity: object) => ({
    apiVersion: `resource.orchestrator.io/${version}`,
    kind: 'ResourceSlice',
    metadata: { name: 'a' },
    spec: { driver: 'd', pool: { name: 'p' }, devices: [{ name: 'x', basic: { capacity } }] },
  });

  it('lose nothing where their forms differ [R381x]', () => {
    const convert = builtInStrategies('neutral').get('resource.orchestrator.io/resourceslices')!.convert!;
    const newer = slice('v1beta1', { memory: { value: '1Gi' } });
    const older = slice('v1alpha3', { memory: '1Gi' });
    expect(convert(newer, older.apiVersion)).toEqual(older);
    expect(convert(older, newer.apiVersion)).toEqual(newer);
    const none = { ...newer, spec: { ...newer.spec, devices: undefined } };
    expect(convert(none, older.apiVersion)).toEqual({ ...none, apiVersion: older.apiVersion });
  });
});

describe('the table of feature gates', () => {
  const [then, now] = [gatesOf(Number(RELEASE.minor) - 1), gatesOf(Number(RELEASE.minor))];
  const STAGES = ['preAlpha', 'alpha', 'beta', 'ga'];

  it('advances gates by one stage in a release, or deprecates them [R401] [R402] [R403] [R419]', () => {
    for (const [name, { stage }] of now) {
      const before = then.get(name)!.stage;
      if (stage === 'deprecated') continue;
      const steps = STAGES.indexOf(stage) - STAGES.indexOf(before);
      const isNew = before === 'preAlpha';
      expect(isNew || steps === 0 || steps === 1, `${name}: ${before} to ${stage}`).toBe(true);
    }
  });

  it('keeps gates working in the release that makes them stable, unless they could not be turned off before', () => {
    for (const [name, { stage, isOnByDefault }] of now) if (stage === 'ga') expect(isOnByDefault, name).toBe(true);
    const locked = [...then].filter(([, { stage, isLocked }]) => isLocked && stage !== 'ga' && stage !== 'deprecated');
    expect(locked).toEqual([]);
  });

  it('agrees with the changelog on gates that become non-operational [R405]', () => {
    const [, rest = ''] = readFileSync('CHANGELOG.md', 'utf8').split(
      `Non-operational since release 1.${RELEASE.minor}:`,
    );
    const named = rest.slice(0, rest.indexOf('.')).match(/[A-Z]\w+/g);
    expect(named).toEqual(
      [...now].filter(([name, gate]) => gate.isLocked && !then.get(name)!.isLocked).map(([name]) => name),
    );
  });
});
