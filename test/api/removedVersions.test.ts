import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { Api, listOf } from './support.js';

/* Versions that earlier releases served, as the requirements list them. */

let api: Api;
beforeAll(async () => {
  api = await Api.shared();
});

const TEXT = /^(1\.\d+): (\w+) (\S+) no longer served; use (\S+)/;

/** The names that requirements abbreviate. */
const FULL = new Map([
  ['flowcontrol.orchestrator.io', 'flowcontrol.apiserver.orchestrator.io'],
  ['apiregistration', 'apiregistration.orchestrator.io'],
]);

/** An apiVersion of the requirements; one without a group is in the group of `other`. */
function fullVersion(text: string, other = ''): string {
  const [group = '', version = ''] = text.includes('/') ? text.split('/') : [other.split('/')[0], text];
  return namingOf('kubernetes').apiVersion(`${FULL.get(group) ?? group}/${version}`);
}

const ROWS = readFileSync('docs/reference/requirements.tsv', 'utf8')
  .split('\n')
  .map(line => line.split('\t'))
  .flatMap(([id = '', , text = '']) => {
    const [, release, kind = '', old = '', use = ''] = TEXT.exec(text) ?? [];
    // PodSecurityPolicy has no replacement of the same kind.
    const replacement = kind === 'PodSecurityPolicy' ? undefined : fullVersion(use, old);
    return release === undefined ? [] : [{ id, release, kind, apiVersion: fullVersion(old), replacement }];
  });

/** The replacements of a version, without those that were removed later. */
const isLasting = (replacement: string): boolean => !ROWS.some(({ apiVersion }) => apiVersion === replacement);

/** True if the server lists the kind in the version. */
async function isServed(apiVersion: string, kind: string): Promise<boolean> {
  const { status, body } = await api.get(`/apis/${apiVersion}`);
  expect([200, 404]).toContain(status);
  return status === 200 && listOf(body['resources']).some(one => String(one['kind']) === kind);
}

/** The ids of the rows of a release. */
const IDS = {
  '1.32': '[R449 R450]',
  '1.29': '[R453 R454]',
  '1.27': '[R456]',
  '1.26': '[R457 R458 R459]',
  '1.25': '[R461 R462 R466 R476 R478 R481 R483]',
  '1.22':
    '[R484 R485 R492 R505 R506 R507 R508 R509 R510 R512 R519 R520 R521 R527 R528 R529 R530 R531] ' +
    '[R532 R533 R534 R535 R536]',
  '1.16': '[R537 R538 R539 R543 R544 R545 R551 R552 R555 R556 R557 R559]',
};

describe('versions that a release has removed', () => {
  it.each(Object.entries(IDS))('%s are not served, and their replacements are %s', async (release, ids) => {
    const rows = ROWS.filter(row => row.release === release);
    expect(rows.map(({ id }) => id)).toEqual(ids.match(/R\d{3}/g));
    for (const { id, kind, apiVersion, replacement } of rows) {
      expect(await isServed(apiVersion, kind), `${id}: ${kind} ${apiVersion}`).toBe(false);
      if (replacement !== undefined && isLasting(replacement))
        expect(await isServed(replacement, kind), `${id}: ${kind} ${replacement}`).toBe(true);
    }
  });

  it('of reviews that webhooks still use are answered with 404, and v1 is served [A451] [A452]', async () => {
    const review = (apiVersion: string) => ({ apiVersion, kind: 'TokenReview', spec: { token: 'x' } });
    const group = 'authentication.k8s.io';
    const old = await api.post(`/apis/${group}/v1beta1/tokenreviews`, review(`${group}/v1beta1`));
    expect(old.status).toBe(404);
    expect((await api.post(`/apis/${group}/v1/tokenreviews`, review(`${group}/v1`))).status).toBe(201);
    const access = { spec: { user: 'a', nonResourceAttributes: { path: '/', verb: 'get' } } };
    expect((await api.post('/apis/authorization.k8s.io/v1beta1/subjectaccessreviews', access)).status).toBe(404);
  });
});
