/**
 * `npm run pictures`: starts a server with the objects of `capstan demo`, opens the pages of its console in
 * Chromium, and writes docs/images/console-NAME.png. `CHROMIUM` is the path of the browser if it differs from Debian's.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { build, install, root, run } from '../project.mjs';

const CATALOG = '/object/apps/v1/deployments/demo-storefront/catalog';

/** Changes the replicas in the editor, and requests the object that the server would store. */
async function review(page) {
  await page.locator('.cm-line', { hasText: /^ {2}replicas: / }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  await page.keyboard.type('paused: true');
  await page.keyboard.press('Control+s');
  await page.locator('.review').waitFor();
}

/** Waits until charts have lines. */
const drawLines = page => page.waitForTimeout(9000);

/** The pictures: name, page, the text that must be visible, the actions then, and the settings of the browser. */
const PICTURES = [
  { name: 'object', page: CATALOG, until: '.cm-line' },
  { name: 'review', page: CATALOG, until: '.cm-line', act: review },
  { name: 'form', page: `${CATALOG}?tab=form`, until: '.form-field' },
  { name: 'managers', page: `${CATALOG}?tab=managers`, until: '.owned-line' },
  {
    name: 'owners',
    page: '/object/demo.example.com/v1/websites/demo-storefront/shop?tab=owners',
    until: '.graph-node',
  },
  {
    name: 'delete',
    page: '/object/core/v1/namespaces/-/demo-storefront',
    until: '.cm-line',
    act: async page => {
      await page.getByRole('button', { name: 'Delete …' }).click();
      await page.locator('.dialog .by-kind').first().waitFor();
    },
  },
  { name: 'charts', page: '/charts', until: '.chart canvas', act: drawLines, dark: true },
  { name: 'plugins', page: '/plugins', until: '.times tbody tr' },
  {
    name: 'why',
    page: '/why?text=cannot%20list',
    until: '.decision-line',
    act: async page => {
      await page.locator('.decision-line').first().click();
      await page.locator('.authorizers').waitFor();
    },
  },
  { name: 'objectPhone', page: `${CATALOG}?tab=form`, until: '.form-field', width: 390, dark: true },
  { name: 'list', page: '/list/apps/v1/deployments', until: '.table .space .line' },
  { name: 'dark', page: '/list/rbac.authorization.k8s.io/v1/clusterroles', until: '.table .space .line', dark: true },
  { name: 'phone', page: '/list/apps/v1/deployments', until: '.table .space .line', width: 390 },
  { name: 'signIn', page: '/', until: 'form', signedOut: true },
];

const { startServer } = createRequire(import.meta.url)(join(root, 'dist', 'core', 'index.js'));

/** Writes a picture. */
async function draw(browser, server, { name, page: path, until, width = 1280, dark = false, signedOut = false, act }) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width, height: width < 768 ? 780 : 720 },
    colorScheme: dark ? 'dark' : 'light',
  });
  const page = await context.newPage();
  if (!signedOut) {
    await page.goto(`${server.url}/console/`);
    await page.getByLabel('Bearer token').fill(server.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.table').waitFor();
  }
  await page.goto(`${server.url}/console${path}`);
  await page.locator(until).first().waitFor();
  await page.waitForLoadState('load');
  await act?.(page);
  await page.screenshot({ path: join(root, 'docs', 'images', `console-${name}.png`) });
  await context.close();
}

await install();
await build();
const server = await startServer({ storage: 'memory', port: 0, naming: 'kubernetes' });
try {
  const main = join(root, 'dist', 'core', 'command', 'main.js');
  const demo = ['demo', '--once', `--kubeconfig=${server.kubeconfigPath}`];
  const code = await run(process.execPath, [main, ...demo]);
  if (code !== 0) throw new Error(`capstan demo ended with ${code}`);
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  for (const picture of PICTURES) await draw(browser, server, picture);
  await browser.close();
} finally {
  await server.close();
}
