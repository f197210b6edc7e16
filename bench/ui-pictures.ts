/**
 * `npm run -s docs:ui-pictures -- OUT_DIR`: the pictures of docs/ui.md. Needs an instance that has the demo's logs (`logweir demo`): its address in
 * LOGWEIR_URL, its key in LOGWEIR_API_KEY, and a Chromium on this machine. Each state is taken light and dark, wide and narrow.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { startBrowser } from '../test/e2e/browser.ts';
import { openPage, signIn } from '../test/ui/pages/page.ts';

const [out = ''] = process.argv.slice(2);
const { LOGWEIR_URL: url = 'http://127.0.0.1:8080', LOGWEIR_API_KEY: key = '' } = process.env;
if (out === '' || key === '') throw new Error('It takes a folder, and the key in LOGWEIR_API_KEY.');
mkdirSync(out, { recursive: true });

const explore = (query: string, more = ''): string => `/ui/explore?q=${encodeURIComponent(query)}&from=-3h${more}`;
const settled = async (page: Page): Promise<void> => {
  await page.locator('.bar.busy').first().waitFor({ state: 'detached' });
  await page.locator('.stale').first().waitFor({ state: 'detached' });
  await page.locator('.side .facet').first().waitFor({ state: 'attached' });
};

type State = { readonly name: string; readonly at: string; readonly until: (page: Page) => Promise<void> };

const STATES: readonly State[] = [
  { name: 'explore', at: explore('level:error'), until: (page) => page.locator('#rows .row').first().waitFor() },
  { name: 'entry', at: explore('level:error'), until: (page) => page.locator('#rows .row').nth(3).click() },
  {
    name: 'bars',
    at: explore('* | stats by (service, level) count() as n | sort by (n desc)'),
    until: (page) => page.locator('.bar-line').first().waitFor(),
  },
  { name: 'lines', at: explore('* | stats by (_time:5m, service) count() as n'), until: (page) => page.locator('.u-over').waitFor() },
  { name: 'nothing', at: explore('zzz level:=error'), until: (page) => page.getByRole('heading', { name: 'Nothing matches' }).waitFor() },
  { name: 'styleguide', at: '/ui/styleguide', until: (page) => page.getByRole('heading', { name: 'Colours' }).waitFor() },
];

const browser = await startBrowser();
if (browser === null) throw new Error('There is no Chromium.');
for (const isDark of [false, true])
  for (const width of [1440, 360]) {
    const { context, page } = await openPage(browser, `${url}/ui/`, { isDark, width, height: width > 500 ? 900 : 740 });
    await page.locator('input[name=key]').waitFor();
    const file = (name: string): string => path.join(out, `ui-${name}-${isDark ? 'dark' : 'light'}-${String(width)}.png`);
    await page.screenshot({ path: file('sign-in') });
    await signIn(page, key);
    for (const { name, at, until } of STATES) {
      await page.goto(url + at);
      await until(page);
      // the page of components has one that is always busy
      if (name !== 'styleguide') await settled(page);
      await page.screenshot({ path: file(name) });
      process.stdout.write(`${file(name)}\n`);
    }
    await context.close();
  }
await browser.close();
