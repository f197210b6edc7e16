import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { RELEASE } from '../../../cli/shop/shop.ts';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { AlertsPage } from '../../ui/pages/alerts.ts';
import { ExplorePage } from '../../ui/pages/explore.ts';
import { expectAccessible, openPage, signIn, type Opened } from '../../ui/pages/page.ts';
import { startBrowser, startFirefox } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';
import { Visits, type Tenant } from '../ui-visits.ts';

type Shop = { readonly instance: Instance; readonly browser: Browser; readonly tenant: Tenant; readonly opened: Opened };
type Why = { readonly field: string; readonly value: string };

/** The demo, begun by its button before the files that run before this one, since its past and its alerts take a minute or two. */
let shop: Promise<Shop | null>;

async function runShop(): Promise<Shop | null> {
  const [instance, own] = await Promise.all([sharedInstance(), startFirefox()]);
  // where there is no Firefox, the button is tried all the same
  const browser = own ?? (await startBrowser());
  if (browser === null) return null;
  const tenant = await newTenant(instance);
  const opened = await openPage(browser, `${instance.app}/ui/t/${String(tenant.id)}/start`);
  await signIn(opened.page, tenant.key);
  await opened.page.locator('[data-test=start-demo]').waitFor();
  await expectAccessible(opened.page, 'first steps');
  await new AlertsPage(opened.page).startShop();
  return { instance, browser, tenant, opened };
}

before(() => {
  shop = runShop();
  shop.catch(() => undefined);
});

describe('the pages in Firefox', function () {
  this.timeout(600_000);
  let running: Shop;
  let visits: Visits;
  before(async function () {
    const known = await shop;
    if (known === null) return this.skip();
    running = known;
    visits = new Visits(known.browser, known.instance);
    console.log(`      ${known.browser.browserType().name()} ${known.browser.version()}`);
  });
  after(async () => (await shop)?.browser.close());
  afterEach(function () {
    return visits.end(this.currentTest?.state === 'passed', [running.tenant.key]);
  });

  it('see the first entry come, and search in it, by mouse and by keys', async () => {
    const own = await newTenant(running.instance);
    const { page, listening } = new AlertsPage(await visits.visit(own, 'start'));
    await listening.filter({ hasText: 'Listening' }).waitFor();
    await page.locator('[data-test=copy-snippet]').click();
    await page.getByText('Snippet with your key copied').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.contain(own.key);
    await visits.send(own, [{ _time: new Date().toISOString(), service: 'web', level: 'error', _msg: '<b>the first</b> one' }]);
    await listening.filter({ hasText: 'It is here.' }).filter({ hasText: '<b>the first</b>' }).waitFor();
    await expectAccessible(page, 'heard');
    await page.getByRole('link', { name: 'Open it in Explore' }).click();
    const explore = new ExplorePage(page);
    await explore.rows.filter({ hasText: 'the first' }).waitFor();
    await explore.runByKeys('level:error first');
    await explore.waitForTotal('1 entry');
    await explore.toList();
    for (const key of ['j', 'Enter']) await page.keyboard.press(key);
    await explore.drawer.filter({ hasText: '<b>the first</b> one' }).waitFor();
    expect(await page.locator('main b b').count()).to.equal(0);
    await expectAccessible(page, 'an entry');
  });

  it('have the alerts of the shop that a button has made run', async () => {
    const { instance, tenant, opened } = running;
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/alerts?detector_type=error_rate`;
    const own = { Authorization: `Bearer ${tenant.key}` };
    const listed = async (): Promise<readonly ShownAlert[]> => ((await instance.call('GET', url, undefined, own)).body as { readonly items: readonly ShownAlert[] }).items; // prettier-ignore
    const isExplained = ({ title, evidence }: ShownAlert): boolean =>
      title.startsWith('Errors of payments') && ((evidence['why'] ?? []) as readonly Why[]).some(({ field, value }) => field === 'version' && value === RELEASE.after); // prettier-ignore
    await until('the alert that names its cause', listed, (alerts) => alerts.some(isExplained));
    // the tab that sends has them by itself, and goes on as other pages are read
    const { page, complaints } = opened;
    await page.locator('[data-test=badge-alerts]').filter({ hasText: /\d/ }).waitFor();
    await page.getByRole('link', { name: 'Find out what' }).click();
    await new AlertsPage(page).list.filter({ hasText: 'Errors of payments' }).first().waitFor();
    await page.goBack();
    await page.locator('[data-test=demo-run]').filter({ hasText: 'The shop runs' }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  for (const way of ['mouse', 'keys'] as const)
    it(`lead from an alert of the shop to its cause within a minute, by ${way}`, async () => {
      const page = new AlertsPage(await visits.visit(running.tenant, 'alerts'));
      const seconds = await (way === 'mouse' ? page.solveByMouse('Errors of payments') : page.solveByKeys('Errors of payments'));
      console.log(`      ${seconds.toFixed(1)} s from the alert to its cause`);
      const text = (await page.page.getByRole('complementary', { name: 'Entry' }).textContent()) ?? '';
      for (const part of [RELEASE.after, 'SignatureError']) expect(text).to.contain(part);
      expect(seconds).to.be.below(60);
      await expectAccessible(page.page, 'the cause');
    });
});
