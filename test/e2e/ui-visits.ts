/** What the end-to-end tests of the pages share: pages of a tenant, closed after each test, which must have complained of nothing. */
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openPage, signIn, type Look, type Opened } from '../ui/pages/page.ts';
import { until, type Instance } from './instance.ts';

export type Tenant = { readonly id: number; readonly key: string };

export class Visits {
  readonly #browser: Browser;
  readonly #instance: Instance;
  #open: Opened[] = [];

  constructor(browser: Browser, instance: Instance) {
    [this.#browser, this.#instance] = [browser, instance];
  }

  /** A page of the tenant, signed in; `before` is given it before it requests anything. */
  async visit(of: Tenant, at: string, look: Look = {}): Promise<Opened['page']> {
    const opened = await openPage(this.#browser, `${this.#instance.app}/ui/t/${String(of.id)}/${at}`, look);
    this.#open.push(opened);
    await signIn(opened.page, of.key);
    return opened.page;
  }

  /** Closes them all. `isPassed`: then none has complained, requested anything elsewhere, or had the key in an address. */
  async end(isPassed: boolean, keys: readonly string[] = []): Promise<void> {
    const opened = this.#open;
    this.#open = [];
    for (const { context, complaints, requests } of opened) {
      await context.close();
      if (!isPassed) continue;
      // what a test refuses on purpose is told of by the browser itself
      expect(complaints.filter((one) => !/Failed to load resource|WebSocket connection|ERR_/.test(one))).to.deep.equal([]);
      expect(requests.filter((url) => !url.startsWith(this.#instance.app) && !url.startsWith('blob:')), 'requests to anywhere else').to.deep.equal([]); // prettier-ignore
      for (const url of requests) for (const key of keys) expect(url).to.not.contain(key);
    }
  }

  /** Sends entries, and waits until they are stored. */
  async send(of: Tenant, entries: readonly object[]): Promise<void> {
    const headers = { Authorization: `Bearer ${of.key}` };
    const total = async (): Promise<number> => {
      const { body } = await this.#instance.call('GET', `${this.#instance.app}/api/v1/tenants/${String(of.id)}/hits?step=1d&start=-1d`, undefined, headers); // prettier-ignore
      return (body as { hits: { hits: number }[] }).hits.reduce((sum, { hits }) => sum + hits, 0);
    };
    const before = await total();
    const body = `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`;
    const { status } = await this.#instance.call('POST', `${this.#instance.ingest}/api/v1/ingest`, body, { ...headers, 'Content-Type': 'application/x-ndjson' }); // prettier-ignore
    expect(status).to.equal(200);
    await until('that they are stored', total, (all) => all >= before + entries.length);
  }
}
