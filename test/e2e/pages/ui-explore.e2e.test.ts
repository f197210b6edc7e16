import { expect } from 'chai';
import type { Browser, Route } from 'playwright-core';
import { ExplorePage } from '../../ui/pages/explore.ts';
import { expectAccessible, tabTo } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { manyEntries } from '../many-entries.ts';
import { newTenant, sharedInstance } from '../shared.ts';
import { Visits, type Tenant } from '../ui-visits.ts';

const ROWS = 10_000;

describe('Explore, with much', function () {
  this.timeout(600_000);
  let instance: Instance;
  let browser: Browser;
  let visits: Visits;
  let many: Tenant;

  before(async function () {
    const [running, started] = await Promise.all([sharedInstance(), startBrowser()]);
    if (started === null) this.skip();
    [instance, browser] = [running, started];
    visits = new Visits(browser, instance);
    many = await newTenant(instance);
    await visits.send(many, manyEntries(ROWS));
  });
  after(() => browser.close());
  afterEach(function () {
    return visits.end(this.currentTest?.state === 'passed', [many.key]);
  });
  const visit = async (at = 'explore'): Promise<ExplorePage> => new ExplorePage(await visits.visit(many, at));

  it('keeps searches for the tenant, with window and columns', async () => {
    const explore = await visit('explore?q=level:warn&from=-3h&cols=app,zone');
    const { page } = explore;
    await explore.rows.first().waitFor();
    await explore.toList();
    await page.keyboard.press('s');
    await page.getByRole('textbox', { name: 'Name of this search' }).fill('slow <b>warnings</b>');
    await page.keyboard.press('Enter');
    await page.locator('[data-test=saved] li').first().waitFor();
    await expectAccessible(page, 'saved searches');
    const other = await visit();
    await other.rows.first().waitFor();
    await other.toList();
    await other.page.keyboard.press('s');
    await other.page.locator('[data-test=saved] button.option').filter({ hasText: '<b>warnings</b>' }).click();
    await other.waitForTotal('2,500 entries');
    const { searchParams } = new URL(other.page.url());
    expect([...searchParams]).to.deep.include.members([['q', 'level:warn'], ['from', '-3h'], ['cols', 'app,zone']]); // prettier-ignore
  });

  it('zooms into the bars by a drag and by keys, and compares them with the window before', async () => {
    const explore = await visit();
    const { page } = explore;
    await explore.waitForTotal('10,000 entries');
    const bars = page.getByRole('application', { name: /^Entries over time/ });
    await page.locator('.hist-bars rect').first().waitFor();
    const { x = 0, y = 0, width = 0, height = 0 } = (await bars.boundingBox()) ?? {};
    /** The window of the address, in minutes. */
    const minutes = (): number => {
      const { searchParams } = new URL(page.url());
      return (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / 6e4;
    };
    await page.mouse.move(x + width * 0.75, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.99, y + height / 2, { steps: 5 });
    await page.mouse.up();
    await until(
      'the window of the drag',
      () => Promise.resolve(minutes()),
      (many_) => many_ >= 14 && many_ <= 17,
    );
    await bars.focus();
    for (const key of ['ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight']) await page.keyboard.press(key);
    await page
      .locator('.hist-words')
      .filter({ hasText: / entries$/ })
      .waitFor();
    await page.keyboard.press('Enter');
    await until(
      'the window of the keys',
      () => Promise.resolve(minutes()),
      (many_) => many_ === 3,
    );
    await page.goBack();
    await page.goBack();
    await explore.waitForTotal('10,000 entries');
    await page.getByRole('button', { name: /^Compare/ }).click();
    await page.locator('.hist-before').waitFor({ state: 'attached' });
    await page.route((url) => url.pathname.endsWith('/hits'), (route) => {
      const { searchParams } = new URL(route.request().url());
      const isEarlier = searchParams.has('fields_by') && Date.parse(searchParams.get('end') ?? '') < Date.now() - 30 * 6e4;
      return isEarlier ? route.fulfill({ status: 504, json: { detail: 'It was stopped after 30 s.' } }) : route.continue();
    }); // prettier-ignore
    await page.getByRole('button', { name: /^Compare/ }).click();
    await page.getByRole('button', { name: /^Compare/ }).click();
    const note = page.locator('.hist .note.error').filter({ hasText: 'It was stopped' });
    await note.waitFor();
    await page.locator('.hist-bars rect').first().waitFor();
    await page.unrouteAll();
    await note.getByRole('button', { name: 'Try again' }).click();
    await note.waitFor({ state: 'detached' });
    await page.locator('.hist-before').waitFor({ state: 'attached' });
  });

  it('narrows by values, with and without them and by them alone, and goes through earlier queries', async () => {
    const explore = await visit('explore?q=level:warn');
    const { page } = explore;
    const tool = async (field: string, value: string, name: string): Promise<void> => {
      const one = page.locator(`.side .facet[aria-label=${field}] .facet-value`).filter({ hasText: value });
      // what filters otherwise comes as the value is pointed at
      await one.hover();
      await one.getByRole('button', { name: `${name} ${field} ${value}` }).click();
    };
    await tool('service', 'api', 'Without');
    await until(
      'the query',
      () => Promise.resolve(explore.query()),
      (query) => query === 'level:warn NOT service:=api',
    );
    await tool('level', 'warn', 'Only');
    await until(
      'the next query',
      () => Promise.resolve(explore.query()),
      (query) => query === 'NOT service:=api level:=warn',
    );
    await page.locator('#query').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Alt+ArrowUp');
    await page.keyboard.press('Alt+ArrowUp');
    await page.keyboard.press('Enter');
    await until(
      'the earlier query',
      () => Promise.resolve(explore.query()),
      (query) => query === 'level:warn NOT service:=api',
    );
    // the fields of an entry, by keys
    await explore.toList();
    for (const key of ['f', 'j', 'Enter']) await page.keyboard.press(key);
    await tabTo(page, explore.drawer.getByRole('button', { name: 'Only with app shop' }));
    await page.keyboard.press('Enter');
    await until('the query of the field', () => Promise.resolve(explore.query()), (query) => query === 'level:warn NOT service:=api app:=shop'); // prettier-ignore
  });

  it('tells why a tail ended, and opens it again', async () => {
    const explore = await visit();
    const { page } = explore;
    await explore.rows.first().waitFor();
    let isRefused = true;
    await page.routeWebSocket('**/ws/livetail/**', (socket) => {
      if (!isRefused) return void socket.connectToServer();
      const detail = 'Too many tails are opened.';
      socket.onMessage(() => socket.send(JSON.stringify({ _control: { type: 'error', status: 429, detail, retry_after: 90 } })));
    });
    await page.reload();
    await explore.rows.first().waitFor();
    await page.locator('[data-test=live]').click();
    const note = page.locator('.explore-rows .note.error').filter({ hasText: 'Too many tails are opened.' });
    await note.filter({ hasText: 'It may work in 90 s' }).waitFor();
    await page.locator('[data-test=live-state]').filter({ hasText: 'refused' }).waitFor();
    await expectAccessible(page, 'a tail that is refused');
    isRefused = false;
    await note.getByRole('button', { name: 'Try again' }).click();
    await page.locator('[data-test=live-state]').filter({ hasText: 'live' }).waitFor();
    await note.waitFor({ state: 'detached' });
  });

  it('finds fields that are not listed on the server, and moves columns by keys and by a drag', async () => {
    const explore = await visit('explore?cols=app,zone,service');
    const { page } = explore;
    await explore.rows.first().waitFor();
    const names = (): Promise<string[]> => page.locator('.rows-head .col-name').allTextContents();
    await page.locator('.rows-head .col-name').first().focus();
    await page.keyboard.press('Shift+ArrowRight');
    await until('the moved column', names, (list) => list.join() === 'zone,app,service');
    await page.locator('.rows-head .col').nth(2).dragTo(page.locator('.rows-head .col').nth(0));
    await until('the dragged column', names, (list) => list.join() === 'service,zone,app');
    await page.getByRole('searchbox', { name: 'Find a field' }).fill('rare_5');
    const found = page.locator('.more-field');
    await found.first().waitFor();
    await found.first().click();
    await page.locator('.side .facet-value').filter({ hasText: 'yes' }).first().waitFor();
    await expectAccessible(page, 'fields that were looked for');
  });

  it('folds neighbours that are alike, and tells what a query was read as, with what it may have meant', async () => {
    const explore = await visit();
    const { page } = explore;
    await explore.rows.first().waitFor();
    await explore.toList();
    await page.keyboard.press('a');
    await explore.rows.locator('.alike').filter({ hasText: '× 5' }).first().waitFor();
    await expectAccessible(page, 'folded rows');
    await explore.runByKeys('level="warn"');
    await page.locator('[data-test=hints]').getByRole('button', { name: /level:=warn/ }).click(); // prettier-ignore
    await explore.waitForTotal('2,500 entries');
    await page.locator('#query').fill('level:error AND (took');
    await page.locator('.q-fix').filter({ hasText: 'level:error AND (took)' }).click();
    await page.locator('#query-problem').filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await explore.waitForTotal('2,500 entries');
  });

  it('lets each panel fail alone, with what can be done', async () => {
    const explore = await visit();
    const { page } = explore;
    await explore.rows.first().waitFor();
    const refuse = (status: number, detail: string, headers: Record<string, string> = {}) => (route: Route): Promise<void> =>
      route.fulfill({ status, headers: { 'x-request-id': 'r-17', ...headers }, contentType: 'application/json', body: JSON.stringify({ detail }) }); // prettier-ignore
    // the bars and the total are both counts: only the bars are refused
    const isOfBars = (url: URL): boolean => url.pathname.endsWith('/hits') && url.searchParams.has('fields_by');
    // tried once more after the time that a 429 names, thrice more where the service is not ready
    const cases = [
      [isOfBars, refuse(429, 'Too many queries.', { 'retry-after': '2' }), '.hist', 'Too many queries', 2, 'took'],
      [(url: URL) => url.pathname.endsWith('/facets'), refuse(503, 'The store is not reached.'), '.side', 'The store is not reached', 4, 'request'],
      [(url: URL) => url.pathname.endsWith('/search'), refuse(403, 'This key must not search.'), '.explore-rows', 'This key must not search', 1, 'ms'],
    ] as const; // prettier-ignore
    for (const [at, handler, panel, words, tries, word] of cases) {
      let requests = 0;
      await page.route(at, (route) => (requests++, handler(route)));
      await explore.runByMouse(`level:error ${word}`);
      const note = page.locator(panel).locator('.note.error').filter({ hasText: words }).filter({ hasText: 'r-17' });
      await note.waitFor();
      expect(await page.getByRole('alert').count(), panel).to.equal(1);
      await expectAccessible(page, `${panel} refused`);
      await until(`${String(tries)} requests`, () => Promise.resolve(requests), (many_) => many_ === tries); // prettier-ignore
      await note.filter({ hasNotText: 'tried again' }).waitFor();
      await page.unroute(at);
      await note.getByRole('button', { name: 'Try again' }).click();
      await note.waitFor({ state: 'detached' });
    }
    let requests = 0;
    const first = refuse(429, 'Too many queries.', { 'retry-after': '1' });
    await page.route(isOfBars, (route) => (requests++ === 0 ? first(route) : route.continue()));
    await explore.runByMouse('level:warn');
    await until('the second request', () => Promise.resolve(requests), (many_) => many_ === 2); // prettier-ignore
    await page.locator('.hist .note.error').waitFor({ state: 'detached' });
  });

  it('shows how long a search takes, stops it, and keeps what was there', async () => {
    const explore = await visit();
    const { page } = explore;
    await explore.rows.first().waitFor();
    await page.route(
      (url) => url.pathname.endsWith('/search'),
      () => undefined,
    );
    await explore.runByMouse('level:error');
    const elapsed = page.locator('[data-test=elapsed]');
    await elapsed.filter({ hasText: 'A shorter window' }).waitFor();
    await expectAccessible(page, 'a search that takes long');
    await elapsed.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.explore > .bar.busy').waitFor({ state: 'detached' });
    expect(await explore.rows.count()).to.be.greaterThan(0);
  });

  it('finds the field that a query misspells, and shows which part of the bars is listed', async () => {
    const explore = await visit();
    const { page } = explore;
    await page.locator('.hist-unloaded').waitFor({ state: 'attached' });
    await page.locator('.hist-seen').waitFor({ state: 'attached' });
    await explore.runByKeys('levle:error');
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    await page.getByRole('button', { name: /2,500 entries with level in place of levle/ }).click();
    await explore.waitForTotal('2,500 entries');
    expect(explore.query()).to.equal('level:error');
  });

  it('reports a lost connection, how old what is shown is, and that it is back', async () => {
    const explore = await visit();
    const { page } = explore;
    const stale = page.locator('[data-test=stale]');
    await page.locator('[data-test=account]').waitFor();
    let isLost = true;
    await page.routeWebSocket('**/ws/alerts/**', (socket) => (isLost ? void socket.close() : void socket.connectToServer()));
    await page.reload();
    await page.locator('.banner').filter({ hasText: 'The service cannot be reached' }).waitFor();
    await stale.filter({ hasText: / old$/ }).waitFor();
    await expectAccessible(page, 'a lost connection');
    isLost = false;
    await page.locator('.banner').waitFor({ state: 'detached' });
    await page.context().setOffline(true);
    await page.locator('.banner').filter({ hasText: 'This machine is offline' }).waitFor();
    await explore.runByMouse('level:info');
    await page.locator('.explore-rows .note.error').filter({ hasText: 'The service cannot be reached' }).waitFor();
    expect(await explore.rows.count()).to.be.greaterThan(0);
    await stale.waitFor();
    await page.context().setOffline(false);
    await page.locator('.banner').waitFor({ state: 'detached' });
    // what failed meanwhile is asked for again, without a press
    await page.locator('.note.error').first().waitFor({ state: 'detached' });
    await explore.waitForTotal('2,500 entries');
    await stale.waitFor({ state: 'detached' });
  });

  it('shows what the service knows of a plan and a demo, and nothing that it does not allow', async () => {
    const { page } = await visit();
    await page.locator('[data-test=account]').waitFor();
    let isExpired = true;
    await page.route('**/api/v1/account/key', async (route) => {
      const response = await route.fetch();
      const known = (await response.json()) as { plan: object; bounds: object };
      const expired = { plan: { ...known.plan, name: 'trial_expired' }, bounds: { ...known.bounds, daily_bytes: 0 } };
      await route.fulfill({ response, json: { ...known, demo: true, ...(isExpired ? expired : { scopes: ['read', 'write'] }) } });
    });
    await page.route('**/usage', async (route) => {
      const response = await route.fetch();
      const usage = (await response.json()) as { limits: { name: string }[] };
      const limits = usage.limits.map((one) => (one.name === 'daily_volume' ? { ...one, used: 92e6, limit: 1e8 } : one));
      await route.fulfill({ response, json: { ...usage, limits } });
    });
    await page.reload();
    await page.locator('.banner').filter({ hasText: '92 % of the volume of today is used, 92.0 MB of 100 MB' }).waitFor();
    await page.locator('.banner').filter({ hasText: 'The trial has expired' }).waitFor();
    await page.locator('.banner').filter({ hasText: 'public demo' }).waitFor();
    await expectAccessible(page, 'banners');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    const start = page.locator('[data-test=start-demo]');
    await start.waitFor();
    expect(await start.getAttribute('aria-disabled')).to.equal('true');
    expect(await start.getAttribute('title')).to.equal('The trial has expired: new logs are refused.');
    isExpired = false;
    await page.goto(page.url().replace(/t\/\d+/, 't/1000'));
    await page.locator('.banner').filter({ hasText: 'This address is of tenant 1000; the key belongs to tenant' }).waitFor();
    expect(await start.getAttribute('title')).to.match(/“ingest” scope/);
  });
});
