import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { timeText } from '../../../pipeline/alerting/book/shown-alert.ts';
import { alert } from '../../fakes/alerts-record.ts';
import { alertTeller } from '../alert-source.ts';
import { startBrowser, startNginx, type RunningProxy } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const root = path.resolve(import.meta.dirname, '../../..');
/** The example page, opened as a file. */
const PAGE = pathToFileURL(path.join(root, 'examples/live/page.html')).href;

/** What docs/live.md says of nginx, with the address of the app host in place of its own. */
function locations(app: string): string {
  const [, block] = /```nginx\n([^]*?)```/.exec(readFileSync(path.join(root, 'docs/live.md'), 'utf8')) ?? [];
  if (block === undefined) throw new Error('docs/live.md has no configuration of nginx.');
  return block.replaceAll('http://127.0.0.1:8080', app);
}

describe('a browser', function () {
  this.timeout(600_000);
  let instance: Instance;
  let browser: Browser | null;
  let proxy: RunningProxy | null;
  let page: Page;
  let tenant: { readonly id: number; readonly key: string };

  before(async function () {
    [instance, browser] = await Promise.all([sharedInstance(), startBrowser()]);
    if (browser === null) this.skip();
    proxy = await startNginx(locations(instance.app));
  });
  after(async () => {
    await browser?.close();
    await proxy?.stop();
  });
  beforeEach(async () => {
    tenant = await newTenant(instance);
    page = (await browser?.newPage()) as Page;
  });
  afterEach(() => page.close());

  async function ingest(message: string): Promise<void> {
    const own = { Authorization: `Bearer ${tenant.key}` };
    const { status } = await instance.call(
      'POST',
      `${instance.ingest}/api/v1/ingest`,
      [{ _msg: message, level: 'error', service: 'web' }],
      own,
    );
    expect(status).to.equal(200);
  }
  const text = async (id: string): Promise<string> => (await page.locator(`#${id}`).textContent()) ?? '';

  for (const way of ['directly', 'through nginx, as docs/live.md configures it'])
    it(`follows a query with the page of the examples, ${way}`, async function () {
      const address = way === 'directly' ? instance.app.replace('http', 'ws') : `ws://127.0.0.1:${String(proxy?.port)}`;
      if (way !== 'directly' && proxy === null) this.skip();
      await ingest('before it looked');
      const query = new URLSearchParams({ url: address, tenant: String(tenant.id), key: tenant.key, query: 'level:error' });
      await page.goto(`${PAGE}?${query.toString()}`);
      await until('the stored entry', () => text('entries'), (shown) => shown.includes('before it looked')); // prettier-ignore
      await until('that it is live', () => text('state'), (shown) => shown === 'live'); // prettier-ignore
      await ingest('while it looks');
      const shown = await until('the live entry', () => text('entries'), (all) => all.includes('while it looks')); // prettier-ignore
      expect(shown.trim().split('\n')).to.have.length(2);
    });

  it('is let in by the subprotocol alone, and told of alerts', async () => {
    await page.goto(`${instance.app}/health`);
    await page.evaluate(
      ([url, key]) => {
        const got: unknown[] = [];
        const socket = new WebSocket(String(url), ['logweir.v1', `logweir.bearer.${String(key)}`]);
        socket.onopen = () => got.push(socket.protocol);
        socket.onclose = ({ code, reason }) => got.push(code, reason);
        socket.onmessage = ({ data }) => got.push(JSON.parse(String(data)));
        Object.assign(globalThis, { got });
      },
      [`${instance.app.replace('http', 'ws')}/ws/alerts/${String(tenant.id)}`, tenant.key],
    );
    const got = (): Promise<unknown[]> => page.evaluate(() => (globalThis as unknown as { got: unknown[] }).got);
    await until('the connection', got, (all) => all.length > 0);
    const now = Math.floor(Date.now() / 1000);
    const evidence = JSON.stringify({ opened_at: timeText(now) });
    const fired = alert({ tenantId: tenant.id, id: 950_000 + tenant.id, firedAt: now, updatedAt: now, evidence });
    const teller = alertTeller(instance);
    let version = 1;
    // until the reader is there, which nobody is told
    const all = await until('the alert', async () => {
      await teller.tell(fired, version++);
      return got();
    }, ({ length }) => length > 1); // prettier-ignore
    await teller.close();
    expect(all[0]).to.equal('logweir.v1');
    expect(all[1]).to.have.property('type', 'fired');
    expect(all[1]).to.have.nested.property('alert.id', fired.id);
  });

  it('is not let in with another key', async () => {
    await page.goto(`${instance.app}/health`);
    const code = await page.evaluate(
      (url) =>
        new Promise<number>((resolve) => {
          new WebSocket(url, ['logweir.v1', 'logweir.bearer.nobody']).onclose = (event) => {
            resolve(event.code);
          };
        }),
      `${instance.app.replace('http', 'ws')}/ws/livetail/${String(tenant.id)}`,
    );
    // what browsers say of an answer that is no upgrade
    expect(code).to.equal(1006);
  });
});
