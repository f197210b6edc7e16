import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { extent } from '../../extent.ts';
import { ExplorePage } from '../../ui/pages/explore.ts';
import { heapOf, scriptOf, tasksOf } from '../../ui/pages/load.ts';
import { expectAccessible } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { manyEntries } from '../many-entries.ts';
import { newTenant, sharedInstance } from '../shared.ts';
import { Visits, type Tenant } from '../ui-visits.ts';

const ROWS = 10_000;
/** Entries a second that a tail takes, and for how long: ten minutes where everything runs. */
const [TAIL_RATE, TAIL_SECONDS] = [2000, extent(6, 600)];
const HEAP_BYTES = 150e6;
/** CPU milliseconds. */
const [LONGEST_TASK, SCRIPT_A_KEY] = [50, 8];

describe('the budgets of Explore', function () {
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
    await visits.send(many, manyEntries(ROWS));
  });
  after(() => browser.close());
  afterEach(function () {
    return visits.end(this.currentTest?.state === 'passed', [many.key]);
  });
  const visit = async (at = 'explore'): Promise<ExplorePage> => new ExplorePage(await visits.visit(many, at));

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
