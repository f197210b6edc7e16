import { expect } from 'chai';
import { build } from 'esbuild';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { pino } from 'pino';
import { embeddedEngines } from '../../../main/engines.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { auditedLog } from '../../../pipeline/bus/measured/audited-log.ts';
import type { Signal } from '../../../pipeline/bus/records/signal.ts';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { entriesOf } from '../../../pipeline/logs/record-entries.ts';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { replayLayout } from '../../../pipeline/replay/chunk.ts';
import { replaySignal } from '../../../pipeline/replay/replay-signal.ts';
import { sinkGroup } from '../../../main/roles/sink-group.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { buildRecorder } from '../../../web/build-recorder.mjs';
import { maskText } from '../../../web/replay-recorder/masks.ts';
import { freePorts } from '../../free-ports.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { startShop, type Shop } from '../replay-page/shop.ts';
import { newTenant, sharedInstance, shareWith } from '../shared.ts';

type Event = {
  readonly type: number;
  readonly timestamp: number;
  readonly data: { readonly tag?: string; readonly payload?: { readonly n?: number } };
};
type Moment = { readonly n: number; readonly dom: readonly string[] };
type Session = Readonly<Record<string, unknown>>;

const ports = freePorts(1);
// the page is of another origin than the service
shareWith(async () => ({ LOGWEIR_CORS_ORIGINS: `http://127.0.0.1:${String((await ports)[0])}` }));

/** What must not leave the page, and what may. */
const SECRETS = ['Ada Typed Name', 'pass-w0rd-typed', '5555 5555 5555 4444', 'typed note of mine', 'ada.lovelace@example.com', '4111 1111 1111 1111', 's3cr3t-t0k3n-value', 'Sesame Street 123']; // prettier-ignore
const VISIBLE = 'The Timeless Way of Building';

/** A DOM as lines that a page and its replay share: tags, ids, and texts; without scripts, what is private, and the values of fields. Runs in browsers. */
const LINES_OF = `(doc) => {
  const lines = [];
  const walk = (node, depth) => {
    if (node.nodeType === 3) {
      const text = node.nodeValue.trim();
      if (text !== '') lines.push(' '.repeat(depth) + text);
      return;
    }
    if (node.nodeType !== 1) return;
    const tag = node.tagName.toLowerCase();
    if (['script', 'noscript', 'style', 'link', 'head'].includes(tag)) return;
    const isPrivate = node.id === 'address';
    lines.push(' '.repeat(depth) + tag + (node.id === '' || isPrivate ? '' : '#' + node.id));
    if (!isPrivate) for (const child of node.childNodes) walk(child, depth + 1);
  };
  walk(doc.body, 0);
  return lines;
}`;

/** Counts what is not acknowledged. Runs in browsers. */
const WAITING = `() =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('logweir-replay', 1);
    request.onerror = () => reject(new Error('There is no database.'));
    request.onsuccess = () => {
      const count = request.result.transaction('batches').objectStore('batches').count();
      count.onsuccess = () => {
        request.result.close();
        resolve(count.result);
      };
    };
  })`;

/** Sends an event, and tries to read something of the service. Runs in browsers. */
const BEACON = `async ({ app, key, id, at }) => {
  const body = JSON.stringify({ session_id: id, events: [{ type: 4, data: { href: location.href }, timestamp: at }] });
  const canRead = await fetch(app + '/health').then(() => true, () => false);
  return [navigator.sendBeacon(app + '/v1/rum/replay?api_key=' + key, body), canRead];
}`;

describe('a page that is recorded', function () {
  this.timeout(600_000);
  let instance: Instance;
  let browser: Browser | null = null;
  let shop: Shop | null = null;
  let context: BrowserContext;
  let page: Page;
  let tenant: { readonly id: number; readonly key: string };
  let folder: string;
  let recorder: string;
  let session = '';
  let marks = 0;
  const moments: Moment[] = [];

  before(async function () {
    [instance, browser] = await Promise.all([sharedInstance(), startBrowser()]);
    if (browser === null) this.skip();
    tenant = await newTenant(instance);
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-replay-'));
    recorder = await buildRecorder(folder);
    const player = await build({
      entryPoints: [path.resolve(import.meta.dirname, '../replay-page/player.js')],
      ...{ bundle: true, format: 'iife', target: 'es2022', write: false, logLevel: 'warning' },
    });
    const [port = 0] = await ports;
    shop = await startShop({ port, app: instance.app, key: tenant.key, recorder, player: player.outputFiles[0]?.text ?? '' });
    context = await browser.newContext();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  const base = (): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}/replay/sessions`;
  async function events(query = ''): Promise<Event[]> {
    const response = await fetch(`${base()}/${session}/events${query}`, { headers: own() });
    if (!response.ok) return [];
    return (await response.text()).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Event]));
  }
  const marksOf = (all: readonly Event[]): number[] => all.flatMap(({ data }) => (data.tag === 'mark' ? [data.payload?.n ?? -1] : []));
  /** Notes where the test is, in the recording. */
  async function mark(): Promise<number> {
    const n = marks++;
    await page.evaluate((number) => {
      type Recording = { readonly recorder: Promise<{ addEvent(tag: string, payload: unknown): void }> };
      return (globalThis as unknown as { LogweirReplay: Recording }).LogweirReplay.recorder.then((one) => {
        one.addEvent('mark', { n: number });
      });
    }, n);
    return n;
  }
  /** Notes the DOM of the page as it is now. */
  async function moment(): Promise<void> {
    const dom = await page.evaluate<string[]>(`(${LINES_OF})(document)`);
    moments.push({ n: await mark(), dom: dom.map((line) => maskText(line)) });
  }
  async function open(url: string): Promise<void> {
    await page.goto(url);
    await recording();
  }
  async function recording(): Promise<void> {
    session = await page.evaluate(() => {
      type Recording = { readonly recorder: Promise<{ readonly sessionId: string }> };
      return (globalThis as unknown as { LogweirReplay: Recording }).LogweirReplay.recorder.then(({ sessionId }) => sessionId);
    });
  }
  /** How many batches wait in the page's database. */
  const waiting = (): Promise<number> => page.evaluate<number>(`(${WAITING})()`);

  it('has a recorder of at most 32 kB gzipped, without eval', () => {
    const script = readFileSync(recorder);
    expect(gzipSync(script, { level: 9 }).length).to.be.at.most(32_000);
    expect(script.toString()).to.not.match(/\beval\(|new Function\b/);
  });

  it('has every event back, in order and once: form, navigation, error, failed request, reload, no network, a closed tab', async () => {
    const complaints: string[] = [];
    page.on('console', (message) => void (/Content Security Policy/.test(message.text()) && complaints.push(message.text())));
    await open(`${shop?.url ?? ''}/`);
    const begun = session;
    await moment();
    await page.fill('#name', SECRETS[0] ?? '');
    await page.fill('#password', SECRETS[1] ?? '');
    await page.fill('#card', SECRETS[2] ?? '');
    await page.fill('#note', SECRETS[3] ?? '');
    await mark();
    await page.click('#books button');
    await moment();
    await page.click('#pay');
    // playwright's own wait evaluates a string in the page, which its policy forbids
    const isFailed = (): Promise<boolean> => page.evaluate("document.getElementById('answer').textContent.includes('failed')");
    await until('the failed request', isFailed, (failed) => failed);
    await moment();
    await page.click('#navigate');
    await page.click('#break');
    for (let click = 0; click < 3; click++) await page.click('#cart');
    await moment();
    await page.reload();
    await recording();
    expect(session).to.equal(begun);
    await mark();
    await context.setOffline(true);
    // two batches, five seconds each
    for (let batches = 0; batches < 2;) {
      await page.click('#books li:last-child button');
      await mark();
      batches = await until('a batch that waits', waiting, (count) => count > batches);
    }
    await context.setOffline(false);
    await moment();
    await until('that nothing waits', waiting, (count) => count === 0);
    await page.click('#books button');
    await mark();
    await page.close({ runBeforeUnload: true });
    const all = await until('every event', () => events(), (found) => marksOf(found).length >= marks); // prettier-ignore
    expect(marksOf(all)).to.deep.equal(Array.from({ length: marks }, (_none, n) => n));
    const times = all.map(({ timestamp }) => timestamp);
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
    expect(all.slice(0, 2).map(({ type }) => type)).to.deep.equal([4, 2]);
    expect(complaints).to.deep.equal([]);
  });

  it('may be of an origin that no list names, where it sends by sendBeacon', async () => {
    const other = await context.newPage();
    // the same server, by a name that is another origin
    await other.goto((shop?.url ?? '').replace('127.0.0.1', 'localhost'));
    const beacon = { app: instance.app, key: tenant.key, id: `beacon-${String(Date.now())}`, at: Date.now() };
    const [isSent, isReadable] = await other.evaluate<[boolean, boolean]>(`(${BEACON})(${JSON.stringify(beacon)})`);
    expect([isSent, isReadable]).to.deep.equal([true, false]);
    await other.close();
    const stored = await until(
      'what it sent',
      () => fetch(`${base()}/${beacon.id}/events`, { headers: own() }),
      ({ ok }) => ok,
    );
    expect((JSON.parse(await stored.text()) as { readonly data: unknown }).data).to.deep.equal({
      href: `${(shop?.url ?? '').replace('127.0.0.1', 'localhost')}/`,
    });
  });

  it('has an error in the log once that a tab without a network was closed with', async () => {
    const tab = await context.newPage();
    await tab.goto(`${shop?.url ?? ''}/?tab=closed`);
    await context.setOffline(true);
    await tab.click('#break');
    await tab.evaluate(() => {
      type Recording = { readonly recorder: Promise<{ flush(): Promise<void> }> };
      return (globalThis as unknown as { LogweirReplay: Recording }).LogweirReplay.recorder.then((one) => one.flush());
    });
    const closed = tab.waitForEvent('close');
    await tab.close({ runBeforeUnload: true });
    await closed;
    await context.setOffline(false);
    const next = await context.newPage();
    await next.goto(`${shop?.url ?? ''}/?tab=next`);
    type Hits = { readonly hits: readonly { readonly hits: number }[] };
    const count = async (query: string): Promise<number> => {
      const parameters = new URLSearchParams({ query, start: '-1h', end: 'now', step: '1d' });
      const { body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/hits?${parameters.toString()}`, undefined, own()); // prettier-ignore
      return (body as Hits).hits.reduce((sum, { hits }) => sum + hits, 0);
    };
    const error = 'rum:error url:"tab=closed"';
    await until('the error', () => count(error), (found) => found > 0); // prettier-ignore
    // what the page after it sends comes behind all that waited
    await next.click('#break');
    await until('the error of the next tab', () => count('rum:error url:"tab=next"'), (found) => found > 0); // prettier-ignore
    expect(await count(error)).to.equal(1);
    await next.close();
  });

  it('is a session with what went wrong, whose errors are in the log', async () => {
    const { body } = await instance.call('GET', `${base()}/${session}`, undefined, own());
    const found = body as Session;
    expect(found).to.include({ service: 'shop', version: '1.4', errors: 1, failed_requests: 1, rage_clicks: 1 });
    expect(found['pages']).to.equal(2);
    type Logs = { readonly logs: readonly Readonly<Record<string, unknown>>[] };
    const logs = await until(
      'the entries',
      async () => ((await instance.call('GET', `${base()}/${session}/logs`, undefined, own())).body as Logs).logs,
      (all) => all.filter(({ rum }) => rum === 'error').length === 1 && all.some(({ rum }) => rum === 'request'),
    );
    const error = logs.find(({ rum }) => rum === 'error');
    expect(error).to.include({ _msg: 'TypeError: cart.total is not a function', level: 'error', service: 'shop', session_id: session });
  });

  it('is played in a sandbox without scripts, with the DOM that the page had at five times', async () => {
    expect(moments).to.have.length(5);
    const all = await events();
    const player = await context.newPage();
    await player.goto(`${shop?.url ?? ''}/player`);
    const lines = await fetch(`${base()}/${session}/events`, { headers: own() }).then((response) => response.text());
    await player.evaluate((text) => {
      (globalThis as unknown as { player: { load(lines: string): void } }).player.load(text);
    }, lines);
    expect(await player.evaluate('player.sandbox')).to.equal('allow-same-origin');
    for (const { n, dom } of moments) {
      const at = all.find(({ data }) => data.tag === 'mark' && data.payload?.n === n)?.timestamp ?? 0;
      const replayed = await player.evaluate<string[]>(`player.at(${String(at)}).then(${LINES_OF})`);
      expect(replayed, `moment ${String(n)}`).to.deep.equal(dom);
    }
    await player.close();
  });

  it('lets nothing out that was typed, or is private: neither on the log nor in a table', async () => {
    const config = loadConfig({ ...instance.env, ...embeddedEngines(instance.env) });
    const kafka = createKafka({ ...config.kafka, clientId: 'test-replay', log: pino({ level: 'silent' }) });
    const found: string[] = [];
    const readAll = async (signal: Signal<never>, group: string, textOf: (record: never) => string): Promise<void> => {
      const log = auditedLog(kafka, signal, group);
      const positions = await log.positions(null, null);
      await log.read(new Map(positions.map((position) => [position.partition, position])), (_partition, records) => {
        for (const record of records)
          if (record.fault === null && record.count > 0 && record.tenantId === tenant.id) found.push(textOf(record as never));
        return Promise.resolve();
      });
    };
    await readAll(replaySignal as never, sinkGroup('replay_chunks'), ({ value, count }: { value: Buffer; count: number }) => {
      const rows = replayLayout.read(value, count);
      return typeof rows === 'string' ? rows : rows.map((row) => JSON.stringify({ ...row, seq: '', body: row.body.toString() })).join('\n');
    });
    await readAll(logsSignal as never, sinkGroup('logs'), (record: LogRecord) =>
      JSON.stringify(entriesOf(record).map((entry) => [...entry])),
    );
    const { clickhouse } = config;
    const store = new Store(clickhouse);
    for (const table of ['replay_chunks', 'logs', 'streams', 'patterns'])
      found.push(
        JSON.stringify(await store.ownerRows(`SELECT * EXCEPT (retention_days) FROM ${table} WHERE tenant_id = ${String(tenant.id)}`)),
      );
    await store.close();
    const everything = found.join('\n');
    expect(everything).to.include(VISIBLE);
    for (const secret of SECRETS) expect(everything, secret).to.not.include(secret);
    // as they lie on the disk, where something may be left in the clear
    const read = new Set<string>();
    for (let isWhole = false; !isWhole;) {
      isWhole = true;
      for (const file of filesOf(instance.dataDir).filter((name) => !read.has(name))) {
        const bytes = bytesOf(file);
        // merged meanwhile: what it had is in another file
        isWhole &&= bytes !== null;
        if (bytes === null) continue;
        read.add(file);
        for (const secret of SECRETS) expect(bytes.includes(secret), `${secret} in ${file}`).to.equal(false);
      }
    }
  });
});

/** Null of a file that no longer exists. */
function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The files of the engines, none of which is too large for a test. */
const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(root, name))
    .filter((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.size < 100_000_000;
    });
