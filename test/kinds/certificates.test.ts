import { describe, expect, test } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import type { Refusal } from '../../core/model/refusal.js';
import { Api, causesIn } from '../api/support.js';
import { create, contextWith, lines, object, strategyOf } from './helpers.js';
import { CERTIFICATE_REQUEST } from '../access/data/certificateRequest.js';

const NAME = 'certificates.orchestrator.io/certificatesigningrequests';
const pem = (label: string): string =>
  Buffer.from(`-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`).toString('base64');
const asked = { request: CERTIFICATE_REQUEST, signerName: 'example.com/signer', usages: ['client auth'] };
const request = (spec: object = {}, rest: object = {}): ApiObject =>
  object(
    'CertificateSigningRequest',
    { metadata: { name: 'x', uid: 'u1' }, spec: { ...asked, ...spec }, ...rest },
    'certificates.k8s.io/v1',
  );
const condition = (type: string, more: object = {}): object => ({ type, status: 'True', reason: 'R', ...more });
const decided = (...conditions: object[]): ApiObject => request({}, { status: { conditions } });
const wrongWith = (spec: object): string[] => lines(create(NAME, request(spec)).violations);

describe('a certificate signing request', () => {
  const rules = strategyOf(NAME);
  const approval = (body: ApiObject, current: ApiObject): ApiObject =>
    rules.subresources!.get('approval')!(body, structuredClone(current), contextWith());
  const violationsOf = (body: ApiObject, current: ApiObject): string[] => {
    try {
      approval(body, current);
    } catch (error) {
      return ((error as Refusal).details as { causes: { field: string; message: string }[] }).causes.map(
        cause => `${cause.field}: ${cause.message}`,
      );
    }
    return [];
  };

  test('has no list of conditions after an update of its status without one', () => {
    const made = request({}, { status: {} });
    rules.prepareStatus(made, request({}, { status: {} }), contextWith());
    expect(made['status']).toEqual({});
  });

  test('has the authenticated requester, not the one of the client', () => {
    const { made, violations } = create(
      NAME,
      request({ username: 'root', uid: 'x', groups: ['system:masters'], extra: { a: ['b'] } }),
    );
    expect(violations).toEqual([]);
    expect(made.spec).toEqual({
      ...asked,
      username: 'someone',
      uid: 'u-1',
      groups: ['some', 'people'],
      extra: { 'example.com/k': ['v'] },
    });
  });

  test('needs a request, known usages, a signer and ten minutes [R513 R514 R515]', () => {
    expect(wrongWith({ request: pem('CERTIFICATE') })).toEqual([
      expect.stringContaining('PEM block type must be CERTIFICATE REQUEST'),
    ]);
    const indented = Buffer.from(` ${Buffer.from(asked.request, 'base64').toString()}`).toString('base64');
    expect(wrongWith({ request: indented })).toEqual([
      expect.stringContaining('PEM block type must be CERTIFICATE REQUEST'),
    ]);
    expect(wrongWith({ request: 'AAEC' })).toEqual([
      'spec.request: Invalid value: []byte{0x0, 0x1, 0x2}: PEM block type must be CERTIFICATE REQUEST',
    ]);
    expect(wrongWith({ usages: [] })).toEqual(['spec.usages: Required value']);
    expect(wrongWith({ usages: ['client auth', 'client auth'] })).toEqual([
      'spec.usages[1]: Duplicate value: "client auth"',
    ]);
    expect(wrongWith({ usages: ['flying'] })).toEqual([
      expect.stringMatching(
        /^spec\.usages\[0\]: Unsupported value: "flying": supported values: "any", .*"timestamping"$/,
      ),
    ]);
    expect(wrongWith({ expirationSeconds: 599 })).toEqual([
      'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    ]);
    expect(wrongWith({ signerName: undefined })).toEqual(['spec.signerName: Required value']);
    expect(wrongWith({ signerName: 'nodomain' })).toEqual([
      `spec.signerName: Invalid value: "nodomain": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ]);
    expect(wrongWith({ signerName: 'kubernetes.io/legacy-unknown' })).toEqual([
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ]);
    expect(wrongWith({ signerName: 'Bad_Domain/x' })).toEqual([
      expect.stringMatching(
        /^spec\.signerName: Invalid value: "Bad_Domain": validating label "Bad_Domain": a lowercase RFC 1123 label/,
      ),
      'spec.signerName: Invalid value: "Bad_Domain": should be a domain with at least two segments separated by dots',
    ]);
    expect(wrongWith({ signerName: `example.com/${'a'.repeat(600)}` })[0]).toContain('validating label');
  });

  test('may have any path segment as its name, which is checked only if everything else is valid', async () => {
    const api = await Api.shared();
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All';
    const fieldsOf = async (metadata: object): Promise<string[]> => {
      const { body } = await api.post(path, { ...request(), metadata });
      const causes = causesIn(body);
      return causes.map(({ field }) => field);
    };
    expect(await fieldsOf({ name: 'A b' })).toEqual([]);
    expect(await fieldsOf({ name: 'a%', generateName: '/' })).toEqual(['metadata.generateName', 'metadata.name']);
    expect(await fieldsOf({ name: 'a%', labels: { 'a b': '' } })).toEqual(['metadata.labels']);
    await api.close();
  });

  test('is decided only by its approval subresource, of which only conditions and metadata are used', () => {
    const body = request(
      { signerName: 'other.com/x' },
      { status: { conditions: [condition('Approved')], certificate: 'AAAA' } },
    );
    const made = approval(body, request({}, { status: {} }));
    expect(made.spec).toEqual(asked);
    const now = '2024-05-06T07:08:09Z';
    expect(made.status).toEqual({
      conditions: [{ ...condition('Approved'), lastUpdateTime: now, lastTransitionTime: now }],
    });
  });

  test('keeps the time of a condition that does not change', () => {
    const before = decided(
      condition('Denied', { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' }),
    );
    expect(approval(decided(condition('Denied', { reason: 'Other' })), before).status).toEqual({
      conditions: [
        {
          type: 'Denied',
          status: 'True',
          reason: 'Other',
          lastUpdateTime: '2024-05-06T07:08:09Z',
          lastTransitionTime: '2020-01-01T00:00:00Z',
        },
      ],
    });
  });

  test('is approved or denied only once, with conditions in order [R516 R517]', () => {
    const open = request({}, { status: {} });
    expect(violationsOf(decided(), decided(condition('Approved')))).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
    expect(violationsOf(decided(condition('Approved'), condition('Denied')), open)).toEqual([
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    expect(violationsOf(decided(condition('Denied', { status: 'False' })), open)).toEqual([
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ]);
    expect(violationsOf(decided(condition('', { status: 'Maybe' }), condition('X', { status: '' })), open)).toEqual([
      'status.conditions[0].type: Required value',
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      'status.conditions[1].status: Required value',
    ]);
    expect(violationsOf(decided(condition('X'), condition('X')), open)).toEqual([
      'status.conditions[1].type: Duplicate value: "X"',
    ]);
  });

  test('gets its certificate and other conditions once, through its status, which never changes decisions [R518]', () => {
    const status = (made: ApiObject, old: ApiObject): string[] => {
      rules.prepareStatus(made, old, contextWith());
      return lines(rules.validateStatus(made, old, contextWith()));
    };
    expect(status(decided(condition('Approved')), request())).toEqual([
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ]);
    const changed = decided(condition('Approved', { reason: 'Changed' }), condition('Failed'));
    expect(status(changed, decided(condition('Approved')))).toEqual([]);
    expect(changed.status).toMatchObject({ conditions: [{ type: 'Approved', reason: 'R' }, { type: 'Failed' }] });
    const issued = (certificate?: string): ApiObject => request({}, { status: { certificate } });
    expect(status(issued(Buffer.from('no pem').toString('base64')), request())).toEqual([
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ]);
    expect(status(issued(pem('PRIVATE KEY')), request())).toEqual([
      'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
    ]);
    expect(status(issued(pem('CERTIFICATE')), request())).toEqual([expect.stringContaining('malformed certificate')]);
    const empty = Buffer.from('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n').toString('base64');
    expect(status(issued(empty), request())).toEqual([expect.stringContaining('containing 0 certificates')]);
    expect(status(issued(), issued(pem('CERTIFICATE')))).toEqual([
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
  });
});
