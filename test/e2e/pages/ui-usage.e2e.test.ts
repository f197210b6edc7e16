import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { expectAccessibleInAllLooks, tabTo } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';
import { Visits, type Tenant } from '../ui-visits.ts';

const MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script> \u202e <b>bold</b>';

describe('the pages of usage and ingest', function () {
  this.timeout(600_000);
  let instance: Instance;
  let browser: Browser;
  let visits: Visits;
  let tenant: Tenant;

  before(async function () {
    const [running, started] = await Promise.all([sharedInstance(), startBrowser()]);
    if (started === null) this.skip();
    [instance, browser] = [running, started];
    visits = new Visits(browser, instance);
    tenant = await newTenant(instance);
    const own = { Authorization: `Bearer ${tenant.key}` };
    // a key, a service and what is refused are named by whoever sends: markup each
    const made = await call('POST', `${base()}/keys`, { name: MARKUP.slice(0, 60), scopes: ['ingest'] }, own);
    const headers = { Authorization: `Bearer ${(made as { key: string }).key}`, 'Content-Type': 'application/x-ndjson' };
    const lines = Array.from({ length: 30 }, (_none, at) => ({ _msg: `${MARKUP} ${String(at)}`, service: at % 3 === 0 ? MARKUP : `service-${String(at)}`, level: 'info' })); // prettier-ignore
    const body = [...lines, { _msg: 'refused', _time: MARKUP }].map((line) => JSON.stringify(line)).join('\n');
    await call('POST', `${instance.ingest}/api/v1/ingest`, body, headers);
    type Usage = { readonly keys: readonly object[]; readonly refused: readonly object[]; readonly services: readonly object[] | null };
    const counted = async (): Promise<Usage> => (await call('GET', `${base()}/usage`, undefined, own)) as Usage;
    await until('the usage', counted, ({ keys, refused, services }) => keys.length > 0 && refused.length > 0 && (services?.length ?? 0) > 10); // prettier-ignore
  });
  after(() => browser.close());
  afterEach(function () {
    return visits.end(this.currentTest?.state === 'passed', [tenant.key]);
  });

  const base = (): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}`;
  async function call(method: string, url: string, body: unknown, headers: Record<string, string>): Promise<unknown> {
    const answer = await instance.call(method, url, body, headers);
    expect(answer.status, url).to.be.within(200, 201);
    return answer.body;
  }
  const markup = (page: Page): Promise<number> =>
    page.locator('main img, main script, main iframe, main b b, main b:has-text("bold")').count();

  it('show what is used, by day, signal, service and key, what bounds it, and what was refused', async () => {
    const page = await visits.visit(tenant, 'explore');
    for (const key of ['g', 'u']) await page.keyboard.press(key);
    await page.locator('[data-test=usage-figures]').filter({ hasText: 'in the plan' }).waitFor();
    const region = (name: string) => page.getByRole('region', { name, exact: true });
    expect(await region('By day').locator('tbody tr').count()).to.equal(3);
    await region('By signal').locator('li').filter({ hasText: 'logs' }).waitFor();
    await region('By service').locator('li').filter({ hasText: '<script>alert(1)</script>' }).waitFor();
    await region('By key').locator('tbody tr').filter({ hasText: '<img src=x' }).filter({ hasText: '30' }).waitFor();
    await region('Limits').locator('tr').filter({ hasText: 'Volume of the day' }).locator('time').waitFor();
    await region('Refused').locator('tbody tr').filter({ hasText: 'logs' }).filter({ hasText: '_time' }).waitFor();
    await region('By service').getByRole('button', { name: /^All \d+ services/ }).click(); // prettier-ignore
    expect(await region('By service').locator('li').count()).to.be.greaterThan(10);
    expect(await markup(page)).to.equal(0);
    await expectAccessibleInAllLooks(page, 'usage');
    // a day before, by keys alone
    await tabTo(page, page.getByRole('combobox', { name: 'Day' }));
    await page.keyboard.press('ArrowDown');
    await page.getByText('No key has sent anything.').waitFor();
    expect(new URL(page.url()).searchParams.get('day')).to.match(/^\d{4}-\d{2}-\d{2}$/);
    await page.goBack();
    await page.goto(`${instance.app}/ui/t/${String(tenant.id)}/usage?day=${encodeURIComponent(MARKUP)}`);
    await page.getByRole('alert').filter({ hasText: 'UTC day' }).waitFor();
  });

  it('lead from a service to its entries', async () => {
    const page = await visits.visit(tenant, 'usage');
    await page.getByRole('region', { name: 'By service' }).getByRole('link', { name: '<script>' }).click();
    await page.locator('#rows .row').nth(9).waitFor();
    expect(await page.locator('#rows .row').count()).to.equal(10);
  });

  it('show how to send in each way, with the key in the copy alone', async () => {
    const page = await visits.visit(tenant, 'ingest');
    const ways = page.getByRole('group', { name: 'Ways to send' }).getByRole('button');
    await ways.nth(10).waitFor();
    for (const name of ['curl', 'Python', 'Vector', 'rsyslog']) {
      await page.getByRole('group', { name: 'Ways to send' }).getByRole('button', { name, exact: true }).click();
      await page
        .getByRole('region', { name: `To send with ${name}`, exact: true })
        .filter({ hasText: '•••' })
        .waitFor();
      await page.locator('[data-test=copy-way]').click();
      const copied = await until('the copy', () => page.evaluate<string>('navigator.clipboard.readText()'), (text) => text.includes(tenant.key)); // prettier-ignore
      expect(copied).to.contain(new URL(instance.app).port);
    }
    expect(new URL(page.url()).searchParams.get('with')).to.equal('rsyslog');
    expect(await page.content()).to.not.contain(tenant.key);
  });

  it('send a test line and find it; show what comes, and what was refused, as text', async () => {
    const page = await visits.visit(tenant, 'ingest');
    await page.locator('[data-test=rejections] tbody tr').filter({ hasText: 'entry 30 of its request' }).filter({ hasText: '<script>' }).waitFor(); // prettier-ignore
    const arriving = page.locator('[data-test=arriving] li');
    await arriving.filter({ hasText: '<img src=x' }).filter({ hasText: '30 today' }).waitFor();
    await tabTo(page, page.locator('[data-test=send-test]'));
    await page.keyboard.press('Enter');
    await page
      .locator('[data-test=test-line]')
      .filter({ hasText: /accepted after .* found after / })
      .waitFor();
    // the page looks again by itself
    await arriving.filter({ hasText: '1 today' }).filter({ hasNotText: '<img' }).waitFor();
    expect(await markup(page)).to.equal(0);
    await expectAccessibleInAllLooks(page, 'ingest');
    await page.getByRole('link', { name: 'Open it in Explore' }).click();
    await page.locator('#rows .row').filter({ hasText: 'a test line' }).waitFor();
  });

  it('do what the key allows, and tell what it does not', async () => {
    const own = { Authorization: `Bearer ${tenant.key}` };
    const made = (await call('POST', `${base()}/keys`, { name: 'reads', scopes: ['read'] }, own)) as { key: string };
    const page = await visits.visit({ id: tenant.id, key: made.key }, 'ingest');
    for (const test of ['send-test', 'copy-way']) {
      const button = page.locator(`[data-test=${test}]`);
      await button.waitFor();
      expect(await button.getAttribute('aria-disabled'), test).to.equal('true');
      expect(await button.getAttribute('title'), test).to.match(/“ingest” scope/);
    }
    expect(await page.locator('pre.snippet').textContent()).to.contain('YOUR_KEY');
    await page.locator('[data-test=rejections]').waitFor();
  });

  it('tell a key of a project what is of the whole tenant, and request none of it', async () => {
    const own = { Authorization: `Bearer ${tenant.key}` };
    const name = MARKUP.slice(0, 60);
    const project = (await call('POST', `${instance.app}/api/v1/account/projects`, { name }, own)) as { id: string };
    const made = (await call('POST', `${base()}/keys`, { name: 'of a project', scopes: ['read', 'write'], project: project.id }, own)) as { key: string }; // prettier-ignore
    const page = await visits.visit({ id: tenant.id, key: made.key }, 'alerts');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    for (const button of ['Rules', 'Webhooks'])
      expect(await page.getByRole('button', { name: button, exact: true }).getAttribute('title'), button).to.contain(`“${name}”`);
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage is of the whole tenant' }).waitFor();
    await page.getByText(`This key is of the project “${name}”`).waitFor();
    await expectAccessibleInAllLooks(page, 'a usage that is not shown');
    await page.getByRole('link', { name: 'Ingest', exact: true }).click();
    await page.getByRole('region', { name: 'What comes, and what was refused' }).filter({ hasText: '<img src=x' }).waitFor();
    await page.locator('[data-test=account]').click();
    await page
      .getByRole('dialog', { name: 'Account' })
      .filter({ hasText: `Project ${name}` })
      .waitFor();
    expect(await markup(page)).to.equal(0);
    expect(await page.locator('.note.error').count()).to.equal(0);
    expect(asked.filter((one) => /\/(?:usage|rejections|rules|webhooks|detectors)$/.test(one))).to.deep.equal([]);
  });
});
