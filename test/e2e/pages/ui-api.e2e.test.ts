import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { expectAccessible, openPage, signIn, type Opened } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import { sharedInstance, newTenant } from '../shared.ts';
import type { Instance } from '../instance.ts';

describe('the description of the API as a page', function () {
  this.timeout(600_000);
  let instance: Instance;
  let browser: Browser;
  let tenant: { readonly id: number; readonly key: string };
  let open: Opened[] = [];

  before(async function () {
    const [running, started] = await Promise.all([sharedInstance(), startBrowser()]);
    if (started === null) this.skip();
    [instance, browser] = [running, started];
    tenant = await newTenant(instance);
  });
  after(() => browser.close());
  afterEach(async function () {
    const opened = open;
    open = [];
    for (const { context, complaints, requests } of opened) {
      await context.close();
      if (this.currentTest?.state !== 'passed') continue;
      // refused by the policy of the page, or thrown by a script of it
      expect(complaints).to.deep.equal([]);
      expect(requests.filter((url) => !url.startsWith(instance.app))).to.deep.equal([]);
      for (const url of requests) expect(url).to.not.contain(tenant.key);
    }
  });

  async function opened(at: string, look: Parameters<typeof openPage>[2] = {}): Promise<Opened> {
    const one = await openPage(browser, instance.app + at, look);
    open.push(one);
    return one;
  }

  it('asks to sign in where there is neither key nor cookie', async () => {
    const { page } = await opened('/ui/api/');
    await page.getByRole('heading', { name: 'Sign in first' }).waitFor();
    await expectAccessible(page, 'not signed in');
    await page.getByRole('link', { name: 'To the sign-in' }).click();
    await page.locator('input[name=key]').waitFor();
  });

  for (const isDark of [false, true])
    it(`shows operations, ${isDark ? 'dark' : 'light'}, from the ${isDark ? 'palette' : 'menu'} of the pages`, async () => {
      const { page } = await opened('/ui/', { isDark });
      await signIn(page, tenant.key);
      if (isDark) {
        await page.keyboard.press('Control+k');
        await page.keyboard.type('API reference');
        await page.keyboard.press('Enter');
      } else {
        await page.locator('[data-test=account]').click();
        await page.getByRole('link', { name: 'API reference' }).click();
      }
      await page.waitForURL(`${instance.app}/ui/api/`);
      await page.getByRole('heading', { name: 'The streams of a window' }).waitFor();
      await page.getByText('/api/v1/tenants/{tenant_id}/streams').first().waitFor({ state: 'attached' });
      const ink = String(await page.evaluate("getComputedStyle(document.querySelector('.api h2')).color"));
      expect(ink).to.match(/^rgb\(/);
      expect(Number(/\d+/.exec(ink)?.[0]) > 127, ink).to.equal(isDark);
      await page.getByRole('combobox', { name: 'Section' }).selectOption('alerts');
      await page.waitForURL(/section=alerts/);
      await page.getByRole('heading', { name: 'One incident' }).waitFor();
      await expectAccessible(page, 'operations');
    });

  it('finds an operation of another section, and takes a cookie', async () => {
    const { context, page } = await opened('/ui/');
    const answer = await context.request.post(`${instance.app}/api/v1/session`, {
      data: { key: tenant.key },
      headers: { Origin: instance.app },
    });
    expect(answer.status()).to.equal(200);
    await page.goto(`${instance.app}/ui/api/`);
    const found = page.getByRole('combobox', { name: 'Find an operation' });
    await found.waitFor();
    const name = await page.locator('#api-operations option[value^="DELETE "][value*="/keys/"]').first().getAttribute('value');
    await found.fill(name ?? '');
    await page.waitForURL(/section=account#operation\//);
    await page.getByRole('heading', { name: (name ?? '').split(' · ')[1] ?? 'none' }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
    const saved = JSON.parse(readFileSync(await download.path(), 'utf8')) as { openapi: string };
    expect(saved.openapi).to.match(/^3\.1/);
  });
});
