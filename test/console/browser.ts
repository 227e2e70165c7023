import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/* A real browser for the tests of the console: Chromium. */

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** True if the tests with a browser run: a browser is installed, or is required. */
export const browserWanted = executablePath !== undefined || process.env['CAPSTAN_TEST_REQUIRE'] === 'all';

/** The name of the tests, with the reason if they are skipped. */
export const withBrowser = (name: string): string =>
  browserWanted ? name : `${name} (skipped: there is no Chromium; CAPSTAN_TEST_REQUIRE=all makes this a failure)`;

/** Starts the browser. Throws if none is installed. */
export async function startBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('there is no Chromium: install the package chromium');
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** A page of the console, with its violations. */
export interface Visited {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Violations of the policy of the page, uncaught errors and errors of the console so far. */
  readonly faults: string[];
}

/** Opens a page in a new context, which has no cookies. */
export async function openPage(browser: Browser, options: { width?: number; dark?: boolean } = {}): Promise<Visited> {
  const { width = 1280, dark = false } = options;
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', error => faults.push(String(error.stack)));
  // Chromium reports violations of the policy as errors; refused requests are the subject of some tests.
  page.on('console', message => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  return { context, page, faults };
}

/** The findings of axe in a page, one line for each. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate(async () => {
    const { axe: run } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    const { violations } = await run.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}
