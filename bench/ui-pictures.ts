/**
 * `npm run -s docs:ui-pictures -- OUT_DIR`: the pictures of docs/ui.md. Needs an instance that has the demo's logs (`logweir demo`): its address in
 * LOGWEIR_URL, its key in LOGWEIR_API_KEY, and a Chromium on this machine, which makes them WebP. Each page is taken light and dark, wide and narrow.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { startBrowser } from '../test/e2e/browser.ts';
import { openPage, signIn } from '../test/ui/pages/page.ts';

const [out = '', only = ''] = process.argv.slice(2);
const { LOGWEIR_URL: url = 'http://127.0.0.1:8080', LOGWEIR_API_KEY: key = '' } = process.env;
if (out === '' || key === '') throw new Error('It takes a folder, and the key in LOGWEIR_API_KEY.');
mkdirSync(out, { recursive: true });
const QUALITY = 82;

const explore = (query: string, more = ''): string => `/ui/explore?q=${encodeURIComponent(query)}&from=-3h${more}`;
const settled = async (page: Page): Promise<void> => {
  await page.locator('.bar.busy').first().waitFor({ state: 'detached' });
  await page.locator('.stale, .skeleton').first().waitFor({ state: 'detached' });
};

type State = { readonly name: string; readonly at: string; readonly until: (page: Page) => Promise<void>; readonly height?: number };

/** The first alert whose evidence names what has changed. */
async function openAlert(page: Page): Promise<void> {
  const alerts = page.locator('[data-alert]').filter({ hasText: 'Errors of payments' });
  await alerts.first().click();
  await page.locator('.course canvas').waitFor();
  await page.locator('.earlier b').first().filter({ hasText: /\d/ }).waitFor();
}

const STATES: readonly State[] = [
  { name: 'explore', at: explore('level:error'), until: (page) => page.locator('#rows .row').first().waitFor() },
  { name: 'entry', at: explore('level:error'), until: (page) => page.locator('#rows .row').nth(3).click() },
  {
    name: 'bars',
    at: explore('* | stats by (service, level) count() as n | sort by (n desc)'),
    until: (page) => page.locator('.bar-line').first().waitFor(),
  },
  { name: 'lines', at: explore('* | stats by (_time:5m, service) count() as n'), until: (page) => page.locator('.u-over').waitFor() },
  { name: 'live', at: '/ui/explore?live=1&from=-15m', until: (page) => page.locator('#rows .row').nth(3).waitFor() },
  {
    name: 'nothing',
    at: explore('levle:error'),
    until: (page) => page.getByRole('button', { name: /in place of/ }).waitFor(),
  },
  { name: 'alerts', at: '/ui/alerts', until: (page) => page.locator('[data-alert]').first().waitFor() },
  { name: 'alert', at: '/ui/alerts', until: openAlert },
  {
    name: 'sensitivity',
    at: '/ui/alerts',
    until: async (page) => {
      await openAlert(page);
      await page.locator('[data-test=change-sensitivity]').click();
      await page.locator('.strength-fired b').nth(3).waitFor({ timeout: 60_000 });
      await page.locator('[data-test=save-sensitivity]').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'rule',
    at: '/ui/alerts',
    until: async (page) => {
      await page.getByRole('button', { name: 'Rules', exact: true }).click();
      await page.getByRole('button', { name: 'New rule…' }).click();
      await page.locator('input[name=rule-if]').fill('value > 15');
      await page.locator('[data-test=preview]').filter({ hasText: 'alert' }).waitFor({ timeout: 60_000 });
    },
  },
  { name: 'patterns', at: '/ui/patterns', until: (page) => page.locator('.pattern-line').nth(3).waitFor() },
  {
    name: 'pattern',
    at: '/ui/patterns',
    until: async (page) => {
      await page.locator('.pattern-line').filter({ hasText: 'payment of' }).first().click();
      await page.getByRole('region', { name: 'First example' }).first().waitFor();
    },
  },
  { name: 'changes', at: '/ui/patterns?view=diff&since=-1h', until: (page) => page.locator('.diff-line').first().waitFor() },
  { name: 'ingest', at: '/ui/ingest?with=vector', until: (page) => page.locator('[data-test=arriving] li').first().waitFor() },
  { name: 'usage', at: '/ui/usage', until: (page) => page.locator('[data-test=usage-figures]').waitFor() },
  { name: 'start', at: '/ui/start', until: (page) => page.locator('.listening.heard').waitFor() },
];

/** Pictures as WebP, by the browser itself: it is on the machine anyway. */
async function picture(page: Page, file: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await session.detach();
  writeFileSync(file, Buffer.from(data, 'base64'));
  process.stdout.write(`${file}\n`);
}

const browser = await startBrowser();
if (browser === null) throw new Error('There is no Chromium.');
for (const isDark of [false, true])
  for (const width of [1440, 390]) {
    const { context, page } = await openPage(browser, `${url}/ui/`, { isDark, width, height: width > 500 ? 900 : 780 });
    await page.locator('input[name=key]').waitFor();
    const file = (name: string): string => path.join(out, `ui-${name}-${isDark ? 'dark' : 'light'}-${String(width)}.webp`);
    if (only === '') await picture(page, file('sign-in'));
    await signIn(page, key);
    for (const { name, at, until } of STATES.filter(({ name: one }) => only === '' || only.split(',').includes(one))) {
      await page.goto(url + at);
      await until(page);
      await settled(page);
      await picture(page, file(name));
    }
    await context.close();
  }
await browser.close();
