import { describe, expect, it } from 'vitest';
import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  pathSegment,
  qualifiedName,
} from '../../core/model/names.js';
import type { ApiObject, ObjectMeta } from '../../core/model/object.js';
import { matchesLabels } from '../../core/model/selectors/selector.js';
import { parseFieldSelector, parseLabelSelector } from '../../core/model/selectors/selectorSyntax.js';
import { validateMetadata, validateMetadataUpdate } from '../../core/schema/decode/metadata.js';

const rules = { namespaced: true, checkName: (name: string) => dns1123Subdomain(name) };
const object = (metadata: ObjectMeta): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', namespace: 'n', resourceVersion: '1', ...metadata },
});
const created = (metadata: ObjectMeta) =>
  validateMetadata(object(metadata), rules).map(v => `${v.field}: ${v.message}`);
const updated = (metadata: ObjectMeta, old: ObjectMeta) =>
  validateMetadataUpdate(object(metadata), object(old), rules).map(v => `${v.field}: ${v.message}`);

describe('names', () => {
  it('have the messages of upstream', () => {
    expect(dns1123Label('A')).toEqual([
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ]);
    expect(labelValue('v'.repeat(64))).toEqual(['must be no more than 63 characters']);
    expect(qualifiedName('a/b/c')[0]).toMatch(
      /^a qualified name must consist of .* with an optional DNS subdomain prefix/,
    );
    expect(qualifiedName('/a')).toEqual(['prefix part must be non-empty']);
    expect(qualifiedName('')).toHaveLength(2);
  });

  it('are accepted or refused', () => {
    expect(dns1035Label('1a')).toHaveLength(1);
    expect(dns1035Label('a1')).toEqual([]);
    expect(dns1123Subdomain('a.b-c.1')).toEqual([]);
    expect(dns1123Subdomain('a..b')).toHaveLength(1);
    expect(pathSegment('..')).toEqual(["may not be '..'"]);
    expect(pathSegment('a/b%')).toHaveLength(2);
    expect(labelValue('')).toEqual([]);
  });
});

describe('metadata of a create', () => {
  it('needs a name and a valid namespace', () => {
    expect(created({ name: '' })).toEqual(['metadata.name: Required value: name or generateName is required']);
    expect(created({ namespace: 'A' })[0]).toMatch(/^metadata.namespace: Invalid value: "A"/);
    expect(validateMetadata(object({}), { ...rules, namespaced: false })[0]?.message).toBe(
      'Forbidden: not allowed on this type',
    );
    expect(created({ labels: { a: 'b' }, annotations: { 'Example.com/a': 'x' } })).toEqual([]);
  });

  it('checks labels, annotations and their size', () => {
    expect(created({ labels: { 'bad key': 'bad value!' } })).toHaveLength(2);
    expect(created({ annotations: { a: 'x'.repeat(262145) } })).toEqual([
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ]);
  });

  it('checks finalizers and owners', () => {
    expect(created({ finalizers: ['a'] })).toEqual([
      'metadata.finalizers[0]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(created({ finalizers: ['orphan', 'foregroundDeletion'] })[0]).toMatch(
      /^metadata\.finalizers: Invalid value: \[\]string\{"orphan", "foregroundDeletion"\}: .* cannot be both set$/,
    );
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
    expect(created({ ownerReferences: [{ ...owner, apiVersion: 'a/b/c', uid: '' }] })).toEqual([
      'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
    ]);
    const two = [
      { ...owner, controller: true },
      { ...owner, name: 'p', controller: true },
    ];
    expect(created({ ownerReferences: two })[0]).toMatch(/in references for ConfigMap\/o and ConfigMap\/p$/);
  });
});

describe('metadata of an update', () => {
  it('keeps name, uid and times', () => {
    expect(updated({ uid: 'b' }, { uid: 'a' })).toEqual(['metadata.uid: Invalid value: "b": field is immutable']);
    expect(updated({}, {})).toEqual([]);
    expect(updated({ deletionTimestamp: '2020-01-02T03:04:05Z' }, {})).toEqual([
      'metadata.deletionTimestamp: Invalid value: 2020-01-02 03:04:05 +0000 UTC: field is immutable',
    ]);
  });

  it('validates generateName only as a path segment', () => {
    expect(updated({ generateName: 'NEW-' }, {})).toEqual([]);
    expect(updated({ generateName: 'a/b' }, {})).toEqual([
      `metadata.generateName: Invalid value: "a/b": may not contain '/'`,
    ]);
  });

  it('accepts no new finalizers once deletion has begun', () => {
    const deletionTimestamp = '2020-01-01T00:00:00Z';
    expect(updated({ deletionTimestamp, finalizers: ['x/b'] }, { deletionTimestamp, finalizers: ['x/a'] })).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new ' +
        'finalizers []string{"x/b"}',
    ]);
  });
});

describe('label selectors', () => {
  it.each([
    '=',
    'a=b=c',
    'a in',
    'a in b',
    'a in (b',
    'a in b)',
    'a in (b))',
    'a b',
    '!',
    '!a=b',
    'a,,b',
    ',',
    'a,',
    ',a',
    '(a)',
    'a>b',
    'a>',
    'a<1.5',
    'a=!b',
    '-a',
    'a-',
    'a/b/c',
    'a=-b',
    'a=b c',
    'a=== b',
    'a!b',
    'a in (b c)',
    'a in ((b))',
    'a=é',
    'UPPER.com/a',
    'k'.repeat(64),
    `a=${'v'.repeat(64)}`,
    'a notin',
    'a not in (b)',
    'a>1,<2',
    'rank>-3',
  ])('%s is refused', text => {
    expect(() => parseLabelSelector(text)).toThrow();
  });

  it.each<[string, object, boolean]>([
    ['', {}, true],
    ['a==', { a: '' }, true],
    ['a', { a: '1' }, true],
    ['!a', { a: '1' }, false],
    ['a!=1', {}, true],
    ['a in (1, 2),b notin (3)', { a: '2' }, true],
    ['a in ()', { a: '' }, true],
    ['a in (,1)', { a: '' }, true],
    ['a>3', { a: '10' }, true],
    ['a<3', { a: 'x' }, false],
    ['in in (in)', { in: 'in' }, true],
    ['toString', {}, false],
  ])('%s on %j', (text, labels, want) => {
    expect(matchesLabels(parseLabelSelector(text), labels as { [key: string]: string })).toBe(want);
  });
});

describe('field selectors', () => {
  it('parses terms, escapes and operators', () => {
    expect(parseFieldSelector('metadata.name=pl\\,ain,status.phase!=x,,a== b')).toEqual([
      { key: 'metadata.name', operator: '=', values: ['pl,ain'] },
      { key: 'status.phase', operator: '!=', values: ['x'] },
      { key: 'a', operator: '=', values: [' b'] },
    ]);
    expect(parseFieldSelector('=')).toEqual([]);
    expect(parseFieldSelector(',')).toEqual([]);
  });

  it.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=plain\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('%s: %s', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });
});
