import { expect } from 'chai';
import type { Browser, Locator } from 'playwright-core';
import { AlertsPage } from '../../ui/pages/alerts.ts';
import { expectAccessible, expectAccessibleInAllLooks, openPage, signIn, tabTo, type Look, type Opened } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { startReceiver } from '../receiver.ts';
import { newTenant, sharedInstance, shareWith } from '../shared.ts';
import type { Tenant } from '../ui-visits.ts';
import { authorized, MARKUP, watched } from '../watched.ts';

shareWith(() => Promise.resolve({ LOGWEIR_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }));
before(() => void watched().catch(() => undefined));

describe('the pages of alerts, patterns and first steps', function () {
  this.timeout(600_000);
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

  for (const way of ['mouse', 'keys'] as const)
    it(`see the first entry come by itself, with the key only in the copy, by ${way}`, async () => {
      const tenant = await newTenant(instance);
      const { page, listening } = await visit(tenant, 'start');
      const press = async (target: Locator): Promise<void> => {
        if (way === 'mouse') return target.click();
        await tabTo(page, target);
        await page.keyboard.press('Enter');
      };
      await listening.filter({ hasText: 'Listening' }).waitFor();
      expect(await page.content()).to.not.contain(tenant.key);
      await press(page.locator('[data-test=copy-snippet]'));
      await page.getByText('Snippet with your key copied').waitFor();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.contain(tenant.key);
      await send(tenant, `${MARKUP} came`);
      await listening.filter({ hasText: 'It is here.' }).filter({ hasText: '<script>' }).waitFor();
      await expectAccessible(page, 'heard');
      expect(await page.locator('main img, main script').count()).to.equal(0);
      await press(page.getByRole('link', { name: 'Open it in Explore' }));
      await page.locator('#rows .row').filter({ hasText: 'came' }).waitFor();
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

  it('see a rule that is watched fire live, on any page, and what it says as text', async () => {
    const { tenant } = await watched();
    const [byMouse, byKeys] = [await visit(tenant, 'patterns'), await visit(tenant, 'start')];
    const { page } = byKeys;
    // the badge comes by itself
    for (const own of [byMouse, byKeys])
      await own.page.locator('[data-test=badge-alerts]').filter({ hasText: '1' }).waitFor({ timeout: 150_000 });
    await byMouse.page.getByRole('link', { name: /^Alerts/ }).click();
    await byMouse.list.first().click();
    await byMouse.page.getByRole('article', { name: 'Alert' }).waitFor();
    for (const key of ['g', 'a']) await page.keyboard.press(key);
    await byKeys.list.first().waitFor();
    const opened = page.getByRole('article', { name: 'Alert' });
    // a key that is pressed in the moment in which the list appears is none of its keys yet
    await until('the alert', () => page.keyboard.press('j').then(() => opened.count()), (many) => many > 0); // prettier-ignore
    await page.getByRole('region', { name: 'Samples' }).filter({ hasText: '<script>' }).waitFor();
    expect(await page.locator('main img, main script, main iframe, main b b').count()).to.equal(0);
    expect(await page.title()).to.equal('(1) Alerts · Logweir');
    await expectAccessible(page, 'an alert');
    // its window is fixed in the link to its entries
    const href = (await page.getByRole('link', { name: 'Logs of this window' }).getAttribute('href')) ?? '';
    const params = new URL(href, instance.app).searchParams;
    expect(params.get('from')).to.match(/^\d{4}-.*Z$/);
    expect(params.get('to')).to.match(/^\d{4}-.*Z$/);
    await page.getByRole('link', { name: /same time yesterday/ }).waitFor();
  });

  it('look again for an alert that is announced before it is stored, and for why it came', async () => {
    const { tenant } = await watched();
    const { page, list } = await visit(tenant, 'alerts');
    let looks = 0;
    type Shown = { readonly evidence: Readonly<Record<string, unknown>> };
    const announced = ({
      evidence: { why: _why, sample_messages: _samples, templates: _templates, ...evidence },
      ...rest
    }: Shown): Shown => ({
      ...rest,
      evidence,
    });
    await page.routeWebSocket('**/ws/alerts/**', () => undefined);
    await page.route(/\/alerts\?/, async (route) => {
      const body = (await (await route.fetch()).json()) as { readonly items: readonly Shown[] };
      return route.fulfill({ json: { ...body, items: body.items.map(announced) } });
    });
    await page.route(/\/alerts\/\d+$/, async (route) => {
      looks += 1;
      if (looks === 1) return route.fulfill({ status: 404, json: { detail: 'No such alert.' } });
      const alert = (await (await route.fetch()).json()) as Shown;
      return route.fulfill({ json: looks === 2 ? announced(alert) : alert });
    });
    await page.reload();
    await list.first().click();
    await page.getByRole('region', { name: 'Samples' }).waitFor();
    expect(looks).to.be.at.least(3);
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('set how easily a detector fires, with what each choice would have fired', async () => {
    const { tenant } = await watched();
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/alerts`;
    const own = await visit(tenant, 'alerts');
    // an alert of a detector of counts takes a day of entries: what the service answers is made to be of one
    const { body } = await instance.call('GET', url, undefined, authorized(tenant));
    const [alert] = (body as { items: { id: number }[] }).items;
    const changed = { ...alert, detector_type: 'log_rate', stream: '{service="shop"}' };
    await own.page.routeWebSocket('**/ws/alerts/**', () => undefined);
    await own.page.route(`**/alerts/${String(alert?.id)}`, (route) => route.fulfill({ json: changed }));
    await own.page.route('**/alerts?**', (route) => route.fulfill({ json: { items: [changed], total: 1, limit: 100, offset: 0, has_more: false } })); // prettier-ignore
    await own.page.reload();
    await own.list.first().click();
    await own.page.locator('[data-test=change-sensitivity]').click();
    await own.page.locator('.strength-fired b').nth(3).waitFor();
    await expectAccessible(own.page, 'sensitivity');
    await own.page.locator('.strength').filter({ hasText: 'High' }).click();
    await own.page.locator('[data-test=save-sensitivity]').click();
    await own.page.getByText('Sensitivity saved').waitFor();
    const set = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/detectors`, undefined, authorized(tenant));
    expect((set.body as { rules: unknown }).rules).to.deep.equal([{ detector: 'log_rate', stream: '{service="shop"}', sensitivity: 'high' }]); // prettier-ignore
  });

  it('resolve an alert with a note, which is text; the other who looks at it sees it by itself', async () => {
    const { tenant } = await watched();
    const [one, other] = [await visit(tenant, 'alerts'), await visit(tenant, 'alerts')];
    for (const { list } of [one, other]) await list.first().click();
    await one.page.keyboard.press('r');
    await one.page.locator('textarea[name=note]').fill(`it was ${MARKUP}`);
    await expectAccessible(one.page, 'resolving');
    await one.page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    for (const { page } of [one, other]) {
      await page.locator('.alert .note').filter({ hasText: '<script>alert(1)</script>' }).waitFor();
      expect(await page.locator('main img, main script').count()).to.equal(0);
      await until('the badge to go', () => page.locator('[data-test=badge-alerts]').count(), (many) => many === 0); // prettier-ignore
    }
  });

  it('change its rule in place, with what it would have fired before it is saved', async () => {
    const { tenant, rule } = await watched();
    const { page, list } = await visit(tenant, 'alerts');
    await list.first().click();
    await page.locator('[data-test=change-rule]').click();
    const preview = page.locator('[data-test=preview]');
    await preview.filter({ hasText: /would have fired [1-9]/ }).waitFor();
    await expectAccessible(page, 'a rule that is changed');
    await page.locator('input[name=rule-if]').fill('value > 1000000');
    await preview.filter({ hasText: 'would have fired nothing' }).waitFor();
    await page.locator('input[name=rule-if]').fill('volume > 3');
    await preview.getByRole('alert').filter({ hasText: /condition/ }).waitFor(); // prettier-ignore
    await page.locator('input[name=rule-if]').fill('value >= 3');
    await preview.filter({ hasText: /would have fired [1-9]/ }).waitFor();
    await page.locator('[data-test=save-rule]').click();
    await page.getByText('The rule is changed').waitFor();
    const { body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/rules/${rule}`, undefined, authorized(tenant)); // prettier-ignore
    expect(body).to.include({ if: 'value >= 3', severity: 'critical' });
    await page.getByRole('button', { name: 'Rules', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change…' }).waitFor();
    await expectAccessible(page, 'the list of rules');
  });

  it('add a webhook, and send a test to it', async () => {
    const { tenant } = await watched();
    const receiver = await startReceiver();
    receiver.status = 200;
    try {
      const { page } = await visit(tenant, 'alerts');
      await page.getByRole('button', { name: 'Webhooks' }).click();
      await page.getByRole('heading', { name: 'Alerts are sent nowhere yet' }).waitFor();
      await page.getByRole('textbox', { name: 'Another one' }).fill(receiver.url);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('Its secret, which signs what is sent').waitFor();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByRole('dialog').getByRole('status').filter({ hasText: '✓ delivered' }).waitFor();
      await expectAccessible(page, 'webhooks');
      expect(receiver.taken[0]?.signature).to.match(/\S/);
      receiver.status = 503;
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByRole('dialog').getByRole('status').filter({ hasText: 'not delivered' }).filter({ hasText: '503' }).waitFor();
    } finally {
      receiver.stop();
    }
  });

  for (const way of ['mouse', 'keys'] as const)
    it(`lead from a pattern to its entries, by ${way} alone`, async () => {
      const { tenant } = await watched();
      const { page, patterns } = await visit(tenant, 'patterns');
      const press = async (target: Locator): Promise<void> => {
        if (way === 'mouse') return target.click();
        await tabTo(page, target);
        await page.keyboard.press('Enter');
      };
      await press(patterns.first());
      await page.getByRole('region', { name: 'First example' }).first().waitFor();
      expect(await page.locator('main img, main script').count()).to.equal(0);
      await press(page.getByRole('link', { name: 'Show its logs' }));
      const row = page.locator('#rows .row').filter({ hasText: 'broke' }).first();
      await row.waitFor();
      if (way === 'mouse') await row.click();
      else for (const key of ['j', 'Enter']) await page.keyboard.press(key);
      await page.getByRole('complementary', { name: 'Entry' }).filter({ hasText: '<script>' }).waitFor();
      expect(await page.locator('main img, main script').count()).to.equal(0);
    });

  it('are accessible in both themes, wide and narrow', async () => {
    const empty = await newTenant(instance);
    const { page: none } = await visit(empty, 'start');
    for (const [at, words] of [['start', 'See it come'], ['alerts', 'All is as usual'], ['alerts/7', 'There is no such alert'], ['patterns', 'No pattern is like this'], ['patterns/zz', 'There is no such pattern'], ['patterns?view=diff', 'Nothing is different']] as const) {
        await none.goto(`${instance.app}/ui/t/${String(empty.id)}/${at}`);
        await none.getByRole('heading', { name: words }).waitFor();
        await expectAccessibleInAllLooks(none, at);
      } // prettier-ignore
    const { tenant } = await watched();
    const { page, list, patterns } = await visit(tenant, 'alerts?state=all');
    await list.first().waitFor();
    await expectAccessibleInAllLooks(page, 'a list of alerts');
    for (const name of ['Rules', 'Webhooks']) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog', { name }).waitFor();
      await page.locator('.bar.busy').first().waitFor({ state: 'detached' });
      await expectAccessibleInAllLooks(page, name);
      await page.keyboard.press('Escape');
    }
    await list.first().click();
    await page.getByRole('region', { name: 'Samples' }).waitFor();
    await expectAccessibleInAllLooks(page, 'an alert');
    await page.locator('[data-test=change-rule]').click();
    await page.locator('input[name=rule-if]').waitFor();
    await expectAccessibleInAllLooks(page, 'a rule');
    await page.goto(`${instance.app}/ui/t/${String(tenant.id)}/patterns`);
    await patterns.first().waitFor();
    await expectAccessibleInAllLooks(page, 'patterns');
    await patterns.first().click();
    await page.getByRole('region', { name: 'First example' }).first().waitFor();
    await expectAccessibleInAllLooks(page, 'a pattern');
    await page.getByRole('button', { name: 'Watch it…' }).click();
    await page.locator('input[name=rule]').waitFor();
    await expectAccessibleInAllLooks(page, 'watching a pattern');
  });
});
