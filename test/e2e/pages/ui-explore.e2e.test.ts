import { expect } from 'chai';
import type { Browser, Page, Route } from 'playwright-core';
import { extent } from '../../extent.ts';
import { ExplorePage } from '../../ui/pages/explore.ts';
import { heapOf, scriptOf, tasksOf } from '../../ui/pages/load.ts';
import { expectAccessible } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';
import { Visits, type Tenant } from '../ui-visits.ts';

const ROWS = 10_000;
/** Entries a second that a tail takes, and for how long: ten minutes where everything runs. */
const [TAIL_RATE, TAIL_SECONDS] = [2000, extent(6, 600)];
const HEAP_BYTES = 150e6;
/** CPU milliseconds. */
const [LONGEST_TASK, SCRIPT_A_KEY] = [50, 8];

describe('Explore, with much', function () {
  this.timeout(1_800_000);
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
    const now = Date.now();
    const entry = (at: number): object => ({
      _time: new Date(now - at * 100).toISOString(),
      service: ['api', 'web', 'db'][Math.floor(at / 5) % 3],
      level: ['info', 'error', 'warn', 'debug'][Math.floor(at / 5) % 4],
      _msg: `request ${String(at)} took ${String(at % 97)} ms`,
      app: 'shop',
      zone: `z${String(at % 3)}`,
      ...Object.fromEntries(Array.from({ length: 60 }, (_none, of) => [`rare_${String(of)}`, at % 50 === 0 ? 'yes' : undefined])),
    });
    await visits.send(many, Array.from({ length: ROWS }, (_none, at) => entry(at))); // prettier-ignore
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
    await page.route('**/api/v1/account/key', async (route) => {
      const response = await route.fetch();
      const known = (await response.json()) as { plan: object };
      await route.fulfill({
        response,
        json: { ...known, demo: true, scopes: ['read', 'write'], plan: { ...known.plan, name: 'trial_expired' } },
      });
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
    expect(await start.getAttribute('title')).to.match(/“ingest” scope/);
  });

  it(`has ${String(ROWS)} rows without a task over ${String(LONGEST_TASK)} ms, and little work a key at 10,000 characters`, async () => {
    const scrolled = async (): Promise<{ readonly page: Page; readonly longest: number }> => {
      const explore = await visit();
      const { page } = explore;
      await explore.waitForTotal('10,000 entries');
      const scroll = (by: string): Promise<unknown> => page.evaluate(`new Promise((done) => { document.getElementById('rows').scrollTop ${by}; requestAnimationFrame(() => requestAnimationFrame(done)); })`); // prettier-ignore
      const tasks = await tasksOf(browser, page, async () => {
        const label = (): Promise<string | null> => page.locator('#rows').getAttribute('aria-label');
        while (!/10,000 loaded/.test((await label()) ?? '')) await scroll('+= 5000');
        for (let at = 0; at < 60; at += 1) await scroll(`= ${String(at * 3500)}`);
      });
      expect(await page.locator('#rows .row').count()).to.be.at.most(70);
      console.log(`      the longest tasks: ${tasks.slice(0, 3).map((ms) => ms.toFixed(1)).join(', ')} ms of CPU`); // prettier-ignore
      expect(tasks.length).to.be.greaterThan(100);
      return { page, longest: tasks[0] ?? Number.NaN };
    };
    // other load of the machine makes a task's CPU time longer too, and what the clock says: the best of some rounds is that of the page
    let { page, longest } = await scrolled();
    for (let round = 1; round < 4 && longest > LONGEST_TASK; round++) ({ page, longest } = await scrolled());
    expect(longest).to.be.at.most(LONGEST_TASK);
    const long = Array.from({ length: 900 }, (_none, at) => `field${String(at % 50)}:value${String(at)}`).join(' or ').slice(0, 9950); // prettier-ignore
    await page.locator('#query').fill(long);
    await page.locator('#query').focus();
    await page.keyboard.press('End');
    const rounds: number[] = [];
    for (const keys of ['abcdef', 'ghijkl', 'mnopqr', 'stuvwx', 'yzabcd'])
      rounds.push(
        await scriptOf(page, async () => {
          for (const key of keys) await page.keyboard.press(key);
        }).then((ms) => ms / keys.length),
      );
    const best = Math.min(...rounds);
    console.log(`      ${best.toFixed(1)} ms of script a key`);
    expect(best).to.be.greaterThan(0);
    expect(best).to.be.at.most(SCRIPT_A_KEY);
  });

  it(`takes ${String(TAIL_RATE)} entries a second, draws gaps, and counts honestly`, async () => {
    const explore = await visit();
    const { page } = explore;
    await page.addInitScript({ content: floodOf(TAIL_RATE) });
    await page.reload();
    await explore.rows.first().waitFor();
    await page.locator('[data-test=live]').click();
    const seen = async (): Promise<number> => Number(/([\d,]+) seen/.exec((await page.locator('[data-test=live-state]').textContent()) ?? '')?.[1]?.replaceAll(',', '') ?? 0); // prettier-ignore
    const heaps: number[] = [];
    for (let part = 1; part <= 6; part += 1) {
      await until('what comes', seen, (many_) => many_ >= (TAIL_RATE * TAIL_SECONDS * part) / 6, 900_000);
      heaps.push(await heapOf(page));
    }
    const sent = await page.evaluate<number>('flood.stop()');
    await page.locator('.gap-row').filter({ hasText: '1,203 entries not shown' }).filter({ hasText: 'too slow' }).waitFor(); // prettier-ignore
    await until('all that was sent', seen, (many_) => many_ === sent);
    await page.locator('[data-test=live-state]').filter({ hasText: '1,203 dropped' }).waitFor();
    console.log(`      ${String(sent)} entries, heap ${heaps.map((heap) => (heap / 1e6).toFixed(1)).join(', ')} MB`);
    expect(Math.max(...heaps)).to.be.at.most(HEAP_BYTES);
    await expectAccessible(page, 'a gap in the tail');
    await page.locator('.gap-row button').click();
    await until('the window of the gap', () => Promise.resolve(new URL(page.url()).searchParams.get('live')), (live) => live === null); // prettier-ignore
  });

  it('has its first rows 100 ms after the service has them', async () => {
    const explore = await visit();
    await explore.rows.first().waitFor();
    const { page } = explore;
    await page.evaluate(WATCH);
    const waits: number[] = [];
    const words = ['took', 'request', 'ms', 'level:warn', 'level:error'];
    for (const query of [...words, ...words.map((word) => `${word} *`), ...words.map((word) => `* ${word}`)]) {
      if (Math.min(...waits) <= 100) break;
      await page.evaluate('drawn = null');
      await explore.runByKeys(query);
      const own = await until('the rows', () => page.evaluate<number | null>('drawn'), (at) => at !== null); // prettier-ignore
      waits.push(own ?? Number.NaN);
    }
    const best = Math.min(...waits);
    console.log(`      rows ${best.toFixed(0)} ms beyond the service's time`);
    expect(best).to.be.at.most(100);
  });
});

/** Notes how long it takes from Enter until rows are there, without the time of the request itself. */
const WATCH = `
  var entered = 0, isBusy = false, drawn = null;
  addEventListener('keydown', (event) => { if (event.key === 'Enter') { entered = event.timeStamp; isBusy = false; } }, true);
  new MutationObserver(() => {
    const now = document.querySelector('.explore > .bar.busy') !== null;
    if (isBusy && !now) requestAnimationFrame(() => {
      const answer = performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/search') && one.startTime >= entered).at(-1);
      if (answer !== undefined) drawn = performance.now() - entered - (answer.responseEnd - answer.requestStart);
    });
    isBusy = now;
  }).observe(document.body, { subtree: true, attributes: true, childList: true });
`;

/** Tails of the page come from the page itself, so many entries a second by the clock; `stop()` has it report a gap, and gives how many were sent. */
const floodOf = (rate: number): string => `
  globalThis.flood = null;
  const Real = WebSocket;
  const fake = () => {
    let [sent, began, timer] = [0, 0, 0];
    const frame = (body) => socket.onmessage?.({ data: JSON.stringify(body) });
    const socket = {
      close: () => clearInterval(timer),
      send: () => {
        frame({ _control: { type: 'ready' } });
        began = performance.now();
        timer = setInterval(() => {
          for (const due = (performance.now() - began) * ${String(rate / 1000)}; sent < due; sent += 1)
            frame({ _time: new Date().toISOString(), _msg: 'entry ' + sent + ' of the tail', level: 'info', service: 'web', _stream: '{}' });
        }, 50);
      },
    };
    globalThis.flood = {
      stop: () => {
        clearInterval(timer);
        const [since, until] = [new Date(Date.now() - 5000).toISOString(), new Date().toISOString()];
        frame({ _control: { type: 'dropped', count: 1203, reason: 'too slow', since, until } });
        return sent;
      },
    };
    setTimeout(() => socket.onopen?.());
    return socket;
  };
  WebSocket = class extends Real {
    constructor(url, protocols) {
      if (String(url).includes('/ws/livetail/')) return fake();
      return new Real(url, protocols);
    }
  };
`;
