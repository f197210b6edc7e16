import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { AlertsPage } from '../../ui/pages/alerts.ts';
import { expectAccessible, openPage, signIn, type Look, type Opened } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import type { Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script> <b>bold</b>';
type Tenant = { readonly id: number; readonly key: string };

describe('the pages of alerts, patterns and first steps', function () {
  this.timeout(240_000);
  let instance: Instance;
  let browser: Browser;
  let open: Opened[] = [];

  before(async function () {
    const [running, started] = await Promise.all([sharedInstance(), startBrowser()]);
    if (started === null) this.skip();
    [instance, browser] = [running, started];
  });
  after(() => browser.close());
  afterEach(async function () {
    const opened = open;
    open = [];
    for (const { context, complaints } of opened) {
      await context.close();
      if (this.currentTest?.state === 'passed') expect(complaints).to.deep.equal([]);
    }
  });

  async function visit(of: Tenant, at: string, look: Look = {}): Promise<AlertsPage> {
    const opened = await openPage(browser, `${instance.app}/ui/t/${String(of.id)}/${at}`, look);
    open.push(opened);
    await signIn(opened.page, of.key);
    return new AlertsPage(opened.page);
  }
  async function send(of: Tenant, message: string): Promise<void> {
    const entry = { _time: new Date().toISOString(), service: MARKUP, level: 'error', _msg: message };
    const headers = { Authorization: `Bearer ${of.key}`, 'Content-Type': 'application/json' };
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, JSON.stringify(entry), headers);
    expect(status).to.equal(200);
  }

  it('see the first entry come by itself, with the key only in the copy', async () => {
    const tenant = await newTenant(instance);
    const { page, listening } = await visit(tenant, 'start');
    await listening.filter({ hasText: 'Listening' }).waitFor();
    await expectAccessible(page, 'listening');
    expect(await page.content()).to.not.contain(tenant.key);
    await page.locator('[data-test=copy-snippet]').click();
    await page.getByText('Snippet with your key copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).to.contain(tenant.key);
    await send(tenant, `${MARKUP} came`);
    await listening.filter({ hasText: 'It is here.' }).filter({ hasText: '<script>' }).waitFor();
    await expectAccessible(page, 'heard');
    expect(await page.locator('main img, main script').count()).to.equal(0);
  });

  it('make a rule of a pattern; alerts are followed live', async () => {
    const tenant = await newTenant(instance);
    await send(tenant, `${MARKUP} broke 17`);
    const list = await visit(tenant, 'patterns');
    const { page } = list;
    // a pattern is there some seconds after its entry
    while ((await list.patterns.count()) === 0) {
      await page.getByRole('button', { name: 'Show all of 7 days' }).or(list.patterns.first()).first().waitFor();
      if ((await list.patterns.count()) === 0) await page.reload();
    }
    await list.patterns.first().click();
    await page.getByRole('region', { name: 'First example' }).first().waitFor();
    await expectAccessible(page, 'a pattern');
    await list.watch(MARKUP);
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'All is as usual' }).waitFor();
    await expectAccessible(page, 'no alerts');
    const headers = { Authorization: `Bearer ${tenant.key}` };
    const { body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/rules`, undefined, headers);
    expect(JSON.stringify(body)).to.contain('value > 0').and.contain('_fingerprint:');
  });

  for (const isDark of [false, true])
    for (const width of [1280, 320])
      it(`are accessible ${isDark ? 'dark' : 'light'}, ${String(width)} wide`, async () => {
        const tenant = await newTenant(instance);
        for (const [at, words] of [['alerts', 'All is as usual'], ['alerts/7', 'There is no such alert'], ['patterns', 'No pattern is like this'], ['patterns/zz', 'There is no such pattern'], ['patterns?view=diff', 'Nothing is different'], ['start', 'See it come']] as const) {
          const { page } = await visit(tenant, at, { isDark, width, height: 740 });
          await page.getByRole('heading', { name: words }).waitFor();
          await expectAccessible(page, at);
          const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
          expect(overflow, at).to.equal(0);
        } // prettier-ignore
      });
});
