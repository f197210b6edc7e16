import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { buildRecorder } from '../../../web/build-recorder.mjs';
import { freePorts } from '../../free-ports.ts';
import { startBrowser } from '../browser.ts';
import { until } from '../instance.ts';
import { startShop, type Shop } from '../replay-page/shop.ts';
import { startStubService, type StubService } from '../replay-page/stub-service.ts';

const ERROR = 'TypeError: cart.total is not a function';

/** Counts the batches of entries that wait in the browser. Runs there. */
const WAITING = `() =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('logweir-rum', 1);
    request.onerror = () => reject(new Error('There is no database.'));
    request.onsuccess = () => {
      const count = request.result.transaction('batches').objectStore('batches').count();
      count.onsuccess = () => {
        request.result.close();
        resolve(count.result);
      };
    };
  })`;

describe('entries of a page that is recorded', function () {
  this.timeout(60_000);
  let browser: Browser | null = null;
  let service: StubService;
  let shop: Shop;
  let context: BrowserContext;
  let folder: string;

  before(async function () {
    browser = await startBrowser();
    if (browser === null) this.skip();
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-rum-'));
    const [app = 0, port = 0] = await freePorts(2);
    service = await startStubService(app);
    shop = await startShop({ port, app: service.url, key: 'key', recorder: await buildRecorder(folder), player: '' });
  });
  after(async () => {
    if (browser === null) return;
    await browser.close();
    await Promise.all([shop.stop(), service.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  // storage that no other test has
  beforeEach(async () => {
    context = await (browser as Browser).newContext();
    Object.assign(service, { ingest: 200, replay: 202 });
    Object.assign(service.requests, { ingest: 0, replay: 0 });
    service.entries.length = 0;
  });
  afterEach(() => context.close());

  async function open(): Promise<Page> {
    const page = await context.newPage();
    await page.goto(shop.url);
    await recording(page);
    return page;
  }
  /** Waits until the page is recorded, and has its recorder send what there is. */
  const recording = (page: Page, then: 'flush' | '' = ''): Promise<unknown> =>
    page.evaluate(async (isFlushed) => {
      type Recording = { readonly recorder: Promise<{ flush(): Promise<void> }> };
      const recorder = await (globalThis as unknown as { LogweirReplay: Recording }).LogweirReplay.recorder;
      if (isFlushed) await recorder.flush();
    }, then === 'flush');
  const waiting = (page: Page): Promise<number> => page.evaluate<number>(`(${WAITING})()`);
  const waits = (page: Page, isEnough: (count: number) => boolean): Promise<number> => until('batches that wait', () => waiting(page), isEnough); // prettier-ignore
  /** Waits on what the test's own process knows. */
  const is = <T>(what: string, now: () => T, holds: (value: T) => boolean): Promise<T> => until(what, () => Promise.resolve(now()), holds);
  const countOf = (message: string): number => service.entries.filter((entry) => entry['message'] === message).length;
  /** Waits for so many entries of each message, and for anything more that may come of them. */
  async function taken(page: Page, counts: Readonly<Record<string, number>>): Promise<void> {
    const now = (): Record<string, number> => Object.fromEntries(Object.keys(counts).map((message) => [message, countOf(message)]));
    await is('the entries', now, (found) => Object.entries(counts).every(([message, count]) => (found[message] ?? 0) >= count)); // prettier-ignore
    await waits(page, (count) => count === 0);
    expect(now()).to.deep.equal(counts);
  }

  it('survive a reload while the service is unavailable, and are there once', async () => {
    service.ingest = 503;
    const page = await open();
    await page.click('#break');
    await waits(page, (count) => count > 0);
    await page.reload();
    await recording(page);
    await waits(page, (count) => count > 1);
    expect(service.entries).to.deep.equal([]);
    service.ingest = 200;
    await taken(page, { [ERROR]: 1, 'view /': 2, vitals: 1 });
    expect(new Set(service.entries.map(({ session_id: id }) => id)).size).to.equal(1);
  });

  it('survive a tab that is closed without a network', async () => {
    const page = await open();
    await is('the view', () => countOf('view /'), (count) => count === 1); // prettier-ignore
    await context.setOffline(true);
    await page.click('#break');
    await waits(page, (count) => count > 0);
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
    await context.setOffline(false);
    const next = await open();
    await taken(next, { [ERROR]: 1, 'view /': 2 });
    const [error] = service.entries.filter(({ message }) => message === ERROR);
    expect(error).to.include({ level: 'error', rum: 'error', service: 'shop' });
  });

  it('are sent by one tab each', async () => {
    service.ingest = 429;
    const pages = [await open(), await open()] as const;
    for (const page of pages) await page.click('#break');
    await waits(pages[0], (count) => count >= 2);
    service.ingest = 200;
    await taken(pages[0], { [ERROR]: 2, 'view /': 2 });
  });

  for (const [status, what] of [
    [403, 'the key has no right to replay'],
    [503, 'the plan has no replay'],
  ] as const)
    it(`go on where ${what}`, async () => {
      service.replay = status;
      const page = await open();
      await is('a batch of replay', () => service.requests.replay, (count) => count > 0); // prettier-ignore
      await page.click('#break');
      await taken(page, { [ERROR]: 1, 'view /': 1 });
      expect(service.requests.replay).to.equal(1);
    });

  it('end alone where their own path is refused', async () => {
    service.ingest = 403;
    const page = await open();
    await is('the refusal', () => service.requests.ingest, (count) => count === 1); // prettier-ignore
    await waits(page, (count) => count === 0);
    const before = service.requests.replay;
    await page.click('#break');
    await recording(page, 'flush');
    await is('more of replay', () => service.requests.replay, (count) => count > before); // prettier-ignore
    expect([service.requests.ingest, await waiting(page)]).to.deep.equal([1, 0]);
  });
});
