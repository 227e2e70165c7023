import type { Browser, Page } from 'playwright-core';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { axeFindings, browserWanted, openPage, startBrowser, type Visited, withBrowser } from './browser.js';

/* The console in a real browser, with 100,000 objects in one namespace. */

const MANY = 100_000;
/** Each test waits for conditions in a browser, which draws slowly on a busy machine. */
const TIMEOUT = 90_000;
const storage = pathToFileURL(resolve('dist/test/console/fixtures/manyObjects.js')).href;

describe.skipIf(!browserWanted)(withBrowser('the console'), () => {
  let api: Api;
  let browser: Browser;
  let visited: Visited;
  let page: Page;
  const url = (path: string): string => `${api.server.url}/console${path}`;
  const listUrl = (resource: string, query = ''): string => url(`/list/core/v1/${resource}${query}`);
  const rowOf = (name: string) => page.locator('.table .space .line', { hasText: name });
  const countText = () => page.locator('.status [role=status]');
  const post = (path: string, body: object) => api.post(path, body);

  beforeAll(async () => {
    [api, browser] = await Promise.all([
      Api.start({ plugins: [{ use: storage, config: { namespace: 'many', count: MANY } }] }),
      startBrowser(),
    ]);
    visited = await openPage(browser);
    page = visited.page;
    page.setDefaultTimeout(TIMEOUT);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  async function signInWithToken(on: Page, token: string): Promise<void> {
    await on.goto(url('/'));
    await on.getByLabel('Bearer token').fill(token);
    await on.getByRole('button', { name: 'Sign in' }).click();
    await on.locator('.table .space .line, .notice').first().waitFor();
  }

  test('signs in with the one-time link, which works only once', async () => {
    const link = api.server.consoleUrl!;
    await page.goto(link);
    await rowOf('kube-system').waitFor();
    expect(page.url()).toBe(listUrl('namespaces'));
    await page.reload();
    await rowOf('kube-system').waitFor();
    const other = await openPage(browser);
    await other.page.goto(link);
    await other.page.getByRole('alert').waitFor();
    expect(await other.page.getByRole('alert').textContent()).toContain('this link was used');
    expect(await axeFindings(other.page)).toEqual([]);
    await other.context.close();
  });

  test('lists objects live', async () => {
    await page.goto(listUrl('namespaces'));
    await page.getByText('Live', { exact: true }).waitFor();
    await post('/api/v1/namespaces', { metadata: { name: 'appears' } });
    await rowOf('appears').waitFor();
    await api.call('DELETE', '/api/v1/namespaces/appears');
    await rowOf('appears').waitFor({ state: 'detached' });
  });

  test('shows new custom kinds at once, with their columns', async () => {
    const names = { kind: 'Boat', plural: 'boats', singular: 'boat', listKind: 'BoatList' };
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { masts: { type: 'integer' } } } },
    };
    const additionalPrinterColumns = [{ name: 'Masts', type: 'integer', jsonPath: '.spec.masts' }];
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: schema },
      additionalPrinterColumns,
    };
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'boats.sea.example.com' },
      spec: { group: 'sea.example.com', scope: 'Namespaced', names, versions: [version] },
    });
    const boats = '/apis/sea.example.com/v1/namespaces/default/boats';
    await api.until(
      async () =>
        (
          await post(boats, {
            apiVersion: 'sea.example.com/v1',
            kind: 'Boat',
            metadata: { name: 'ketch' },
            spec: { masts: 2 },
          })
        ).status === 201,
    );
    await page.getByRole('navigation').getByRole('link', { name: 'Boat' }).click();
    await rowOf('ketch').waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(['Name', 'Namespace', 'Masts']);
    expect(await rowOf('ketch').getByRole('gridcell').allTextContents()).toEqual(['ketch', 'default', '2']);
  });

  test('scrolls through 100,000 objects with only a few of them in the document', async () => {
    await page.goto(listUrl('configmaps', '?namespace=many'));
    await rowOf('map-000000').waitFor();
    expect(await page.locator('.table').getAttribute('aria-rowcount')).toBe(String(MANY + 1));
    const scrollTo = (part: number) =>
      page
        .locator('.table')
        .evaluate((table, to) => (table.scrollTop = (table.scrollHeight - table.clientHeight) * to), part);
    await scrollTo(0.5);
    await rowOf('map-050000').waitFor();
    await scrollTo(1);
    await rowOf('map-099999').waitFor();
    await scrollTo(0);
    await rowOf('map-000000').waitFor();
    expect(await page.locator('.table .space .line').count()).toBeLessThan(80);
    await api.call('DELETE', '/api/v1/namespaces/many/configmaps/map-000001');
    await rowOf('map-000001').waitFor({ state: 'detached' });
    expect(await countText().textContent()).toBe('99,999 objects');
  });

  test('finds objects by a part of their name, and by selectors', async () => {
    await page.goto(listUrl('configmaps', '?namespace=many'));
    await rowOf('map-000000').waitFor();
    await page.getByLabel('Label selector').fill('part=p3');
    await expect.poll(() => countText().textContent(), { timeout: TIMEOUT }).toBe('500+ objects');
    expect(new URL(page.url()).searchParams.get('labels')).toBe('part=p3');
    await page.locator('.table').focus();
    await page.keyboard.press('/');
    await page.keyboard.type('map-0777');
    await expect.poll(() => countText().textContent(), { timeout: TIMEOUT }).toBe('10 objects');
    await page.getByLabel('Field selector').fill('metadata.name=map-077703');
    await expect.poll(() => countText().textContent(), { timeout: TIMEOUT }).toBe('1 object');
    await page.getByLabel('Label selector').fill('part in');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('400 BadRequest');
  });

  test('can be used with the keyboard alone', async () => {
    await page.goto(listUrl('namespaces'));
    await rowOf('kube-system').waitFor();
    const focused = () =>
      page.evaluate<string>('document.activeElement.getAttribute("role") ?? document.activeElement.tagName');
    await page.keyboard.press('/');
    expect(await focused()).toBe('INPUT');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('grid');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    const name = await page.locator('.table .line.active a').textContent();
    await page.keyboard.press('Enter');
    expect(page.url()).toContain(`/console/object/core/v1/namespaces/-/${name}`);
    await page.goBack();
    await rowOf('kube-system').waitFor();
    for (let i = 0; i < 30 && (await focused()) !== 'grid'; i++) await page.keyboard.press('Tab');
    expect(await focused()).toBe('grid');
  });

  test.each([
    [1280, false],
    [1280, true],
    [390, false],
    [390, true],
  ])('is accessible and fits at a width of %i pixels, dark: %s', async (width, isDark) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
    await page.goto(listUrl('configmaps'));
    await rowOf('kube-root-ca.crt').first().waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    if (width < 768) await page.getByRole('button', { name: 'Kinds' }).click();
    await page.getByRole('link', { name: 'Secret' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    if (width < 768) await page.getByRole('link', { name: 'Secret' }).click();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('shows a user only what the user may read, and says what was refused', async () => {
    await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'reader' } });
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch', 'get'] }];
    await post(`${rbac}/roles`, { metadata: { name: 'reader' }, rules });
    await post(`${rbac}/rolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
    });
    const token = await post('/api/v1/namespaces/default/serviceaccounts/reader/token', { spec: {} });
    const other = await openPage(browser);
    await signInWithToken(other.page, String(token.body['status']!['token']));
    await other.page.goto(listUrl('configmaps', '?namespace=default'));
    await other.page.locator('.table .space .line', { hasText: 'kube-root-ca.crt' }).waitFor();
    const kinds = other.page.locator('.navigation section a');
    await expect.poll(() => kinds.allTextContents(), { timeout: TIMEOUT }).toEqual(['ConfigMap']);
    await other.page.goto(listUrl('secrets', '?namespace=default'));
    await other.page.getByRole('alert').waitFor();
    expect(await other.page.getByRole('alert').textContent()).toContain('cannot list resource "secrets"');
    await other.page.getByRole('button', { name: 'Sign out' }).click();
    // The field for the token has the focus.
    await other.page.locator('input[name=token]:focus').waitFor();
    expect(other.faults).toEqual([]);
    await other.context.close();
  });

  test('has caused no policy violations and no errors in these tests', () => expect(visited.faults).toEqual([]));
});
