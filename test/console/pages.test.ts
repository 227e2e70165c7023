import type { Browser, Dialog, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { axeFindings, browserWanted, openPage, startBrowser, type Visited, withBrowser } from './browser.js';

/* The pages of objects, and those about the server, in a real browser. */

const NAMESPACE = 'console-pages';
const CONFIGMAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const MERGE = { type: 'application/merge-patch+json' };
/** Timeout of a page in milliseconds, for a busy machine. */
const TIMEOUT = 90_000;

const deployment = (name: string) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example.com/web:1' }] },
    },
  },
});

describe.skipIf(!browserWanted)(withBrowser('a page of the console'), () => {
  let api: Api;
  let browser: Browser;
  let visited: Visited;
  let page: Page;

  const url = (path: string): string => `${api.server.url}/console${path}`;
  const objectUrl = (kind: string, name: string, tab = ''): string =>
    url(`/object/${kind}/${NAMESPACE}/${name}${tab && `?tab=${tab}`}`);
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const added = () => page.locator('.diff-line.added code').allTextContents();
  const review = async (): Promise<void> => {
    await button(/^Review/).click();
    await page.getByRole('button', { name: /^(Save|Create)$/ }).waitFor();
  };
  /** Moves the cursor to the end of a line of the editor. */
  const lineEnd = async (text: string | RegExp): Promise<void> => {
    await page.locator('[contenteditable=true] .cm-line', { hasText: text }).first().click();
    await page.keyboard.press('End');
  };
  /** The element with the focus: its name and its text. */
  const focused = () =>
    page.evaluate<string>('[document.activeElement.tagName, document.activeElement.textContent].join(" ")');
  const read = async (path: string) => (await api.get(path)).body;

  beforeAll(async () => {
    [api, browser] = await Promise.all([Api.shared(), startBrowser()]);
    visited = await openPage(browser);
    page = visited.page;
    page.setDefaultTimeout(TIMEOUT);
    await api.post('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    await page.goto(url('/'));
    await page.getByLabel('Bearer token').fill(api.server.token);
    await button('Sign in').click();
    await page.locator('.table').waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  test('edits YAML with completion, and previews the object that the server would store', async () => {
    await api.post(DEPLOYMENTS, deployment('edited'));
    await page.goto(objectUrl('apps/v1/deployments', 'edited'));
    await lineEnd(/^ {2}replicas: 1/);
    // Nothing is completed before the schema is there.
    await page.locator('.field-help', { hasText: 'spec.replicas' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('min');
    await page.locator('.cm-completionInfo', { hasText: 'Seconds that a new pod' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.cm-line', { hasText: /^ {2}minReadySeconds: $/ }).waitFor();
    await page.keyboard.type('7');
    await lineEnd('image: example.com/web:1');
    await page.keyboard.press('Enter');
    await page.keyboard.type('readinessProbe: {tcpSocket: {port: 80}}');
    await page.keyboard.press('Control+s');
    await button('Save').waitFor();
    expect(await added()).toEqual(expect.arrayContaining(['  minReadySeconds: 7', '          tcpSocket:']));
    // Defaults that the server sets are marked.
    const ofServer = page.locator('.diff-line.added', { hasText: 'by the server' }).locator('code');
    expect(await ofServer.allTextContents()).toContain('          periodSeconds: 10');
    expect((await read(`${DEPLOYMENTS}/edited`))['spec']!['minReadySeconds']).toBeUndefined();
    // The focus returns to where it was.
    await expect.poll(focused).toBe('BUTTON Save');
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    await expect.poll(focused).toMatch(/^DIV Saved\./);
    expect((await read(`${DEPLOYMENTS}/edited`))['spec']!['minReadySeconds']).toBe(7);
  });

  test('marks syntax errors of YAML, and members that the server does not accept', async () => {
    await page.goto(objectUrl('apps/v1/deployments', 'edited'));
    await lineEnd(/^ {2}replicas: /);
    await page.keyboard.press('Backspace');
    await page.keyboard.type('-1');
    await button('Review changes').click();
    await page.getByRole('alert').getByText('spec.replicas').waitFor();
    await page.locator('.cm-lintRange-error', { hasText: '-1' }).waitFor();
    await page.keyboard.type(' : {');
    await lineEnd(/^ {2}replicas: /);
    await page.keyboard.type(': {');
    await button('Review changes').click();
    await page.getByRole('alert').getByText('the text is no YAML').waitFor();
    await button('Discard').click();
  });

  test('merges concurrent changes from the server, and asks if both have changed a field', async () => {
    await api.post(CONFIGMAPS, { metadata: { name: 'merged' }, data: { a: 'one', b: 'one' } });
    await page.goto(objectUrl('core/v1/configmaps', 'merged'));
    await page.getByText('Live', { exact: true }).waitFor();
    await lineEnd('a: one');
    await page.keyboard.type('-mine');
    const theirs = { data: { a: 'theirs', b: 'two', c: 'new' } };
    await api.call('PATCH', `${CONFIGMAPS}/merged?fieldManager=somebody`, { body: theirs, ...MERGE });
    await page.getByText('The object was changed by somebody while you edited it.').waitFor();
    const conflict = page.getByRole('group', { name: 'data.a' });
    expect(await conflict.locator('code').allTextContents()).toEqual(['data.a', 'one-mine', 'theirs']);
    await button('Merge into your text').click();
    await review();
    expect(await added()).toEqual(['  a: one-mine']);
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    expect((await read(`${CONFIGMAPS}/merged`))['data']).toEqual({ a: 'one-mine', b: 'two', c: 'new' });
  });

  test('asks before unsaved changes are lost, also with Back and when another namespace is chosen', async () => {
    await api.post(CONFIGMAPS, { metadata: { name: 'kept' }, data: { a: 'one' } });
    await page.goto(url(`/list/core/v1/configmaps?namespace=${NAMESPACE}`));
    await page.getByRole('link', { name: 'kept', exact: true }).click();
    await lineEnd('a: one');
    await page.keyboard.type('-mine');
    const questions: string[] = [];
    const kinds: string[] = [];
    let isToLeave = false;
    const answer = (dialog: Dialog): void => {
      questions.push(dialog.message());
      kinds.push(dialog.type());
      void (isToLeave ? dialog.accept() : dialog.dismiss());
    };
    page.on('dialog', answer);
    const stays = async (count: number): Promise<void> => {
      await expect.poll(() => [questions.length, page.url().includes('/object/')]).toEqual([count, true]);
      expect(await page.locator('.cm-line', { hasText: 'a: one-mine' }).count()).toBe(1);
    };
    await page.getByRole('link', { name: 'Managers' }).click();
    await page.locator('.owned-line').first().waitFor();
    await page.getByRole('link', { name: 'Console', exact: true }).click();
    await expect.poll(() => questions.length).toBe(1);
    await page.getByRole('link', { name: 'YAML' }).click();
    await page.evaluate('history.go(-3)');
    await stays(2);
    await page.getByLabel('Namespace').selectOption('');
    await stays(3);
    expect(await page.getByLabel('Namespace').inputValue()).toBe(NAMESPACE);
    await button('Sign out').press('Enter');
    await stays(4);
    expect(await button('Sign out').isVisible()).toBe(true);
    // The browser itself words the question before a tab closes.
    await page.close({ runBeforeUnload: true });
    await stays(5);
    expect(kinds).toEqual(['confirm', 'confirm', 'confirm', 'confirm', 'beforeunload']);
    isToLeave = true;
    await page.evaluate('history.go(-3)');
    await page.locator('.table').waitFor();
    page.off('dialog', answer);
    expect(new Set(questions)).toEqual(new Set(['Leave this page without saving your change?', '']));
  });

  test('changes an object as a form, with the descriptions of its fields', async () => {
    await api.post(DEPLOYMENTS, deployment('formed'));
    await page.goto(objectUrl('apps/v1/deployments', 'formed', 'form'));
    await page.getByText('Number of pods, 1 by default.').waitFor();
    await page.getByLabel('replicas', { exact: true }).fill('3');
    const strategy = page
      .locator('details.form-group', { has: page.locator('summary', { hasText: 'strategy' }) })
      .last();
    await strategy.locator('summary').first().click();
    expect(await strategy.getByLabel('type', { exact: true }).locator('option').allTextContents()).toEqual([
      'Recreate',
      'RollingUpdate',
    ]);
    await page.getByLabel('Field to add to spec', { exact: true }).selectOption('paused');
    await page.getByText('Whether the rollout is paused').waitFor();
    await page.locator('.form-add', { hasText: 'Whether the rollout is paused' }).getByRole('button').press('Enter');
    await expect.poll(focused).toMatch(/^SELECT Add a field/);
    await page.getByLabel('paused', { exact: true }).selectOption('true');
    await page.getByLabel('Key to add to metadata.labels').fill('tier');
    await page.keyboard.press('Enter');
    await page.getByLabel('tier', { exact: true }).fill('web');
    await review();
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    const { metadata, spec } = await read(`${DEPLOYMENTS}/formed`);
    expect([metadata!['labels'], spec!['replicas'], spec!['paused']]).toEqual([
      { app: 'formed', tier: 'web' },
      3,
      true,
    ]);
  });

  test('moves the items of a list in the form with the keyboard, with their comments', async () => {
    const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
    const imagePullSecrets = ['first', 'second', 'third'].map(name => ({ name }));
    await api.post(accounts, { metadata: { name: 'moved' }, imagePullSecrets });
    await page.goto(objectUrl('core/v1/serviceaccounts', 'moved'));
    await lineEnd('name: third');
    await page.keyboard.type(' # kept');
    await page.getByRole('link', { name: 'Form' }).click();
    const isOpen = (name: string) =>
      page
        .locator('details.form-group', { has: page.locator('summary', { hasText: new RegExp(`^${name}( |$)`) }) })
        .last()
        .evaluate(element => element.hasAttribute('open'));
    const action = (name: string) => page.getByLabel(name, { exact: true });
    const focusedAction = () => page.evaluate<string | null>('document.activeElement.getAttribute("aria-label")');
    expect(await action('Move imagePullSecrets[2] down').isDisabled()).toBe(true);
    await page.locator('summary', { hasText: /^first/ }).click();
    await action('Move imagePullSecrets[2] up').press('Enter');
    await expect.poll(focusedAction).toBe('Move imagePullSecrets[1] up');
    await page.keyboard.press('Enter');
    await expect.poll(focusedAction).toBe('Move imagePullSecrets[0] down');
    expect(await Promise.all(['third', 'first', 'second'].map(isOpen))).toEqual([true, false, true]);
    expect(await axeFindings(page)).toEqual([]);
    await action('Remove imagePullSecrets[2]').press('Enter');
    await action('Remove imagePullSecrets[2]').waitFor({ state: 'detached' });
    expect(await focused()).toMatch(/^SUMMARY first/);
    expect(await Promise.all(['third', 'first'].map(isOpen))).toEqual([true, false]);
    await page.getByRole('link', { name: 'YAML' }).click();
    await page.locator('.cm-line', { hasText: 'name: third # kept' }).waitFor();
    await review();
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    expect((await read(`${accounts}/moved`))['imagePullSecrets']).toEqual([{ name: 'third' }, { name: 'first' }]);
  });

  test('explains a conflict of an apply with the manager, and takes over the field if the user chooses so', async () => {
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned' }, data: { a: 'one', b: 'one' } };
    const apply = { body: JSON.stringify(applied), type: 'application/apply-patch+yaml' };
    await api.call('PATCH', `${CONFIGMAPS}/owned?fieldManager=deployer`, apply);
    await page.goto(objectUrl('core/v1/configmaps', 'owned'));
    await lineEnd('a: one');
    await page.keyboard.type('-mine');
    await page.getByLabel('How to save').selectOption('apply');
    await button('Review changes').click();
    const conflicts = page.getByRole('alert', { name: 'Conflicts with other managers' });
    expect(await conflicts.locator('li').textContent()).toMatch(
      /^data\.a: set by deployer, which wrote last \d+s ago$/,
    );
    expect(await button('Take over by force').isDisabled()).toBe(true);
    await conflicts.getByRole('checkbox').check();
    await button('Take over by force').click();
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Managers' }).click();
    const fieldA = page.locator('.owned-line', { has: page.locator('code', { hasText: /^a$/ }) });
    const fieldB = page.locator('.owned-line', { has: page.locator('code', { hasText: /^b$/ }) });
    await expect.poll(() => fieldA.locator('.owner').allTextContents()).toEqual(['console']);
    expect(await fieldB.locator('.owner').allTextContents()).toEqual(['deployer']);
  });

  test('creates an object from its fields', async () => {
    await page.goto(url(`/list/core/v1/services?namespace=${NAMESPACE}`));
    await page.getByRole('link', { name: 'New Service' }).click();
    await page.locator('.cm-line', { hasText: `namespace: ${NAMESPACE}` }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(
      'apiVersion: v1\nkind: Service\nmetadata:\n  name: made\nspec:\n  ports:\n  - port: 80\n',
    );
    await review();
    expect(await added()).toContain('  type: ClusterIP');
    await button('Create').click();
    await page.getByRole('heading', { name: 'made' }).waitFor();
    expect((await api.get(`/api/v1/namespaces/${NAMESPACE}/services/made`)).status).toBe(200);
  });

  test('shows owners and dependents as a graph, and which objects a delete would remove', async () => {
    const { metadata } = (await api.post(CONFIGMAPS, { metadata: { name: 'owner' } })).body;
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata!['uid'] };
    const child = { name: 'child', ownerReferences: [owner], finalizers: ['example.com/hold'] };
    const made = await api.post(`/api/v1/namespaces/${NAMESPACE}/secrets`, { metadata: child });
    const grandchild = { apiVersion: 'v1', kind: 'Secret', name: 'child', uid: made.body['metadata']!['uid'] };
    await api.post(CONFIGMAPS, { metadata: { name: 'grandchild', ownerReferences: [grandchild] } });
    await page.goto(objectUrl('core/v1/secrets', 'child', 'owners'));
    await page.locator('.graph').waitFor();
    expect(await page.locator('.graph-name').allTextContents()).toEqual(
      expect.arrayContaining(['owner', 'child', 'grandchild']),
    );
    expect(await page.locator('.graph-edge').count()).toBe(2);
    await page.locator('a.graph-node', { hasText: 'owner' }).click();
    await page.getByRole('heading', { name: 'owner', exact: true }).waitFor();
    await button('Delete …').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('These objects go with it').waitFor();
    expect(await dialog.locator('.by-kind').first().locator('li').allTextContents()).toEqual([
      'Secret 1: child',
      'ConfigMap 1: grandchild',
    ]);
    await dialog.getByText('example.com/hold').waitFor();
    await dialog.getByRole('radio', { name: /^Orphan/ }).check();
    await dialog.getByText('These objects stay, without this owner').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Deleted', { exact: true }).waitFor();
    expect((await api.get(`${CONFIGMAPS}/owner`)).status).toBe(404);
    await api.call('PATCH', `/api/v1/namespaces/${NAMESPACE}/secrets/child`, {
      body: { metadata: { finalizers: null } },
      ...MERGE,
    });
  });

  test('deletes a namespace only after its name has been typed', async () => {
    await api.post('/api/v1/namespaces', { metadata: { name: 'console-gone' } });
    await api.post('/api/v1/namespaces/console-gone/configmaps', { metadata: { name: 'content' } });
    await page.goto(url('/object/core/v1/namespaces/-/console-gone'));
    await button('Delete …').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('link', { name: 'content' }).waitFor();
    const remove = dialog.getByRole('button', { name: 'Delete', exact: true });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('console-gone');
    await remove.click();
    await page.getByText('Deleted', { exact: true }).waitFor();
  });

  test('shows the events of an object live', async () => {
    const { metadata } = (await api.post(CONFIGMAPS, { metadata: { name: 'eventful' } })).body;
    await page.goto(objectUrl('core/v1/configmaps', 'eventful', 'events'));
    await page.getByText('No events.').waitFor();
    await api.post(`/api/v1/namespaces/${NAMESPACE}/events`, {
      metadata: { name: 'eventful.1' },
      involvedObject: { kind: 'ConfigMap', name: 'eventful', namespace: NAMESPACE, uid: metadata!['uid'] },
      type: 'Warning',
      reason: 'Spilled',
      message: 'The tea is cold.',
    });
    await page.getByText('The tea is cold.').waitFor();
  });

  test('offers neither changes nor deletion to a user who may only read', async () => {
    await api.post(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: 'looker' } });
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch', 'get'] }];
    await api.post(`${rbac}/roles`, { metadata: { name: 'looker' }, rules });
    await api.post(`${rbac}/rolebindings`, {
      metadata: { name: 'looker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'looker' },
      subjects: [{ kind: 'ServiceAccount', name: 'looker', namespace: NAMESPACE }],
    });
    const token = await api.post(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/looker/token`, { spec: {} });
    const other = await openPage(browser);
    other.page.setDefaultTimeout(TIMEOUT);
    await other.page.goto(url('/'));
    await other.page.getByLabel('Bearer token').fill(String(token.body['status']!['token']));
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.locator('.navigation').waitFor();
    await other.page.goto(`${objectUrl('core/v1/configmaps', 'merged')}?namespace=${NAMESPACE}`);
    await other.page.locator('.cm-line', { hasText: 'kind: ConfigMap' }).waitFor();
    await other.page.getByText('Live', { exact: true }).waitFor();
    const kinds = other.page.locator('.navigation section a');
    await expect.poll(() => kinds.allTextContents()).toEqual(['ConfigMap']);
    expect(await other.page.locator('main').getByRole('button').count()).toBe(0);
    expect(await other.page.locator('.navigation').getByRole('link', { name: 'Charts' }).count()).toBe(0);
    expect(other.faults).toEqual([]);
    await other.context.close();
  });

  test('has live charts of the load of the server', async () => {
    await page.goto(url('/charts'));
    const value = (label: string) =>
      page
        .locator('.chart-legend div', { has: page.getByText(label, { exact: true }) })
        .locator('dd')
        .first();
    await expect.poll(() => value('Resident').textContent(), { timeout: TIMEOUT }).toMatch(/^[\d.,]+ [MG]iB$/);
    await expect.poll(() => value('Cores').textContent(), { timeout: TIMEOUT }).toMatch(/^\d/);
    await expect.poll(() => value('Front end').textContent(), { timeout: TIMEOUT }).toMatch(/^[\d.]*[1-9]/);
    expect(await page.locator('.chart canvas').count()).toBe(9);
  });

  test('lists plugins, policies and webhooks with their times', async () => {
    const group = '/apis/admissionregistration.k8s.io/v1';
    const variables = {
      resourceRules: [
        { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nones'] },
      ],
    };
    await api.post(`${group}/validatingadmissionpolicies`, {
      metadata: { name: 'console-policy' },
      spec: { matchConstraints: variables, validations: [{ expression: 'true' }] },
    });
    await page.goto(url('/plugins'));
    await page
      .getByRole('row', { name: /console-policy/ })
      .getByText('not bound')
      .waitFor();
    const kinds = page
      .getByRole('row', { name: /^rbac authorizer/ })
      .or(page.getByRole('row', { name: /^system-masters/ }));
    await kinds.first().waitFor();
    await api.call('DELETE', `${group}/validatingadmissionpolicies/console-policy`);
  });

  test('explains why a request was refused, and creates the role that would allow it', async () => {
    const as = { headers: { 'impersonate-user': 'console-wanda' } };
    const refused = await api.post(CONFIGMAPS, { metadata: { name: 'by-wanda' } }, as);
    expect(refused.status).toBe(403);
    await page.goto(url('/why?text=console-wanda'));
    await page.locator('.decision-line').first().click();
    await page.getByText('403 Forbidden').waitFor();
    expect(page.url()).toBe(url(`/why/${refused.headers['audit-id'] as string}`));
    await page.getByText('This would allow it, and no more:').waitFor();
    await button('Create').click();
    await page.getByText('Created: the request is allowed now.').waitFor();
    expect((await api.post(CONFIGMAPS, { metadata: { name: 'by-wanda' } }, as)).status).toBe(201);
    // Errors of the console link to this page.
    await page.goto(objectUrl('core/v1/configmaps', 'none'));
    await page.getByRole('link', { name: 'Why?' }).click();
    await page.getByText('404 NotFound').waitFor();
  });

  describe('is accessible and fits, wide and light as well as narrow and dark:', () => {
    let looked: Page;
    beforeAll(async () => {
      // A new page: axe copies elements with their styles, which violates the policy of the page.
      looked = await visited.context.newPage();
      looked.setDefaultTimeout(TIMEOUT);
    });

    test.each([
      ['/object/apps/v1/deployments/console-pages/edited', '.cm-line'],
      ['/object/apps/v1/deployments/console-pages/edited?tab=form', '.form-field'],
      ['/object/apps/v1/deployments/console-pages/edited?tab=managers', '.owned-line'],
      ['/object/core/v1/configmaps/console-pages/eventful?tab=events', '.events .card'],
      ['/object/core/v1/secrets/console-pages/child?tab=owners', '.graph-node'],
      ['/create/core/v1/configmaps?namespace=console-pages', '.cm-line'],
      ['/charts', '.chart canvas'],
      ['/plugins', '.times tbody tr'],
      ['/why?show=all', '.decision-line'],
    ])('%s', async (path, shown) => {
      for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
      ] as const) {
        await looked.setViewportSize({ width, height: 800 });
        // During a transition of colors, the contrast is too low.
        await looked.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        if (width === 1280) await looked.goto(url(path));
        await looked.locator(shown).first().waitFor();
        expect(await axeFindings(looked)).toEqual([]);
        expect(await looked.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    });
  });

  test('has caused no policy violations and no errors in these tests', () => expect(visited.faults).toEqual([]));
});
