import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { ExplorePage } from '../../ui/pages/explore.ts';
import { buildUi } from '../../../web/build-ui.mjs';
import { expectAccessible, expectAccessibleInAllLooks, openPage, signIn, type Look, type Opened } from '../../ui/pages/page.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const DIST = path.resolve(import.meta.dirname, '../../../dist/web/ui');
const MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script> <b>bold</b> {{x}} ${x}';
const HOSTILE = [
  MARKUP,
  'right \u202eto left\u202c and \u200bnothing',
  '\u001b[31mred\u001b[0m and \u001b]0;title\u0007 done',
  `long ${'x'.repeat(1_000_000)}`,
  'javascript:alert(1) https://evil.example/ data:text/html,<script>',
];

type Tenant = { readonly id: number; readonly key: string };

describe('the pages', function () {
  this.timeout(600_000);
  let instance: Instance;
  let browser: Browser;
  let tenant: Tenant;
  let hostile: Tenant;

  before(async function () {
    const [running, started] = await Promise.all([sharedInstance(), startBrowser()]);
    if (started === null) this.skip();
    [instance, browser] = [running, started];
    [tenant, hostile] = [await newTenant(instance), await newTenant(instance)];
    const now = Date.now();
    const entry = (at: number): object => ({
      ...{
        _time: new Date(now - at * 1000).toISOString(),
        service: ['api', 'web', 'db'][at % 3],
        level: ['info', 'error', 'warn', 'debug'][at % 4],
      },
      ...{
        _msg: `request ${String(at)} took ${String(at % 97)} ms path=/items/${String(at)}`,
        trace_id: String(at % 7).repeat(32),
        app: 'shop',
      },
    });
    await send(
      tenant,
      Array.from({ length: 1500 }, (_none, at) => entry(at)),
    );
    await send(hostile, HOSTILE.map((text, at) => ({ _time: new Date(now - at * 1000).toISOString(), _msg: text, service: MARKUP, level: MARKUP.slice(0, 40), [MARKUP.slice(0, 30)]: text.slice(0, 3000) }))); // prettier-ignore
  });
  after(() => browser.close());

  const headers = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });
  const base = (of: Tenant): string => `${instance.app}/api/v1/tenants/${String(of.id)}`;
  async function send(of: Tenant, entries: readonly object[]): Promise<void> {
    const body = `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`;
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, body, { ...headers(of.key), 'Content-Type': 'application/x-ndjson' }); // prettier-ignore
    expect(status).to.equal(200);
    const counted = async (): Promise<number> => {
      const { body: found } = await instance.call('GET', `${base(of)}/hits?step=1d&start=-2h`, undefined, headers(of.key));
      return (found as { hits: { hits: number }[] }).hits.reduce((sum, { hits }) => sum + hits, 0);
    };
    await until('that they are stored', counted, (all) => all >= entries.length);
  }

  let open: Opened[] = [];
  afterEach(async function () {
    const opened = open;
    open = [];
    for (const { context, complaints, requests } of opened) {
      const others = requests.filter((url) => !url.startsWith(instance.app) && !url.startsWith('blob:'));
      await context.close();
      if (this.currentTest?.state === 'passed') {
        expect(complaints).to.deep.equal([]);
        expect(others, 'requests to anywhere else').to.deep.equal([]);
        for (const url of requests) expect(url).to.not.contain(tenant.key).and.not.contain(hostile.key);
      }
    }
  });

  async function visit(of: Tenant, at = '/ui/', look: Look = {}): Promise<ExplorePage> {
    const opened = await openPage(browser, instance.app + at, look);
    open.push(opened);
    await signIn(opened.page, of.key);
    return new ExplorePage(opened.page);
  }

  it('asks for a key, and reports one that is not accepted', async () => {
    const opened = await openPage(browser, `${instance.app}/ui/`);
    open.push(opened);
    const { page } = opened;
    await page.locator('input[name=key]').fill('not-a-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: /key/ }).waitFor();
    await expectAccessible(page, 'a key that is not accepted');
    expect(await page.evaluate('Object.keys(sessionStorage).length')).to.equal(0);
  });

  it('signs in with the address that a start prints, once, and stays signed in', async () => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const { body } = await instance.call(
      'POST',
      `${instance.admin}/admin/tenants/${String(tenant.id)}/session-codes`,
      {},
      { Authorization: `Bearer ${token}` },
    );
    const { code } = body as { code: string };
    const opened = await openPage(browser, `${instance.app}/ui/#code=${code}`);
    open.push(opened);
    const { page, requests } = opened;
    await new ExplorePage(page).waitForTotal('1,500 entries');
    expect(page.url()).to.not.contain(code);
    await page.reload();
    await new ExplorePage(page).waitForTotal('1,500 entries');
    for (const url of requests) expect(new URL(url).search).to.not.contain(code);
    // somebody else who has read it
    const second = await openPage(browser, `${instance.app}/ui/#code=${code}`);
    open.push(second);
    await second.page.getByRole('alert').filter({ hasText: /code/ }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Sign out');
    await page.keyboard.press('Enter');
    await page.locator('input[name=key]').waitFor();
    await page.reload();
    await page.locator('input[name=key]').waitFor();
  });

  it('has a first search, by mouse', async () => {
    const explore = await visit(tenant);
    await explore.waitForTotal('1,500 entries');
    await explore.runByMouse('level:error took');
    await explore.waitForTotal('375 entries');
    await explore.page.getByRole('button', { name: /^api/ }).first().click();
    await explore.waitForTotal('125 entries');
    expect(explore.query()).to.equal('level:error took service:=api');
    await explore.rows.first().click();
    await explore.drawer.waitFor();
    expect(await explore.drawer.textContent())
      .to.contain('trace_id')
      .and.contain('took');
    await explore.openTab('Context');
    await explore.drawer.locator('.context-line.on').waitFor();
    await explore.openTab('Trace');
    await explore.drawer.locator('.context-line').first().waitFor();
    await explore.page.getByRole('button', { name: 'Remove service api' }).click();
    await explore.waitForTotal('375 entries');
    await explore.page.goBack();
    await explore.waitForTotal('125 entries');
  });

  it('has a first search, by keys alone', async () => {
    const explore = await visit(tenant);
    const { page } = explore;
    await explore.waitForTotal('1,500 entries');
    await explore.runByKeys('level:error took');
    await explore.waitForTotal('375 entries');
    await explore.toList();
    for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key);
    await explore.drawer.waitFor();
    const first = await explore.drawer.textContent();
    await page.keyboard.press('j');
    await until('the next entry', () => explore.drawer.textContent(), (text) => text !== first); // prettier-ignore
    await page.keyboard.press('c');
    await explore.drawer.locator('.context-line.on').waitFor();
    await page.keyboard.press('Escape');
    await explore.drawer.waitFor({ state: 'detached' });
    await page.keyboard.press('t');
    await page.getByRole('textbox', { name: /A time/ }).waitFor();
    await page.keyboard.type('-15m');
    await page.keyboard.press('Enter');
    await until('the window', () => Promise.resolve(new URL(page.url()).searchParams.get('from')), (from) => from === '-15m'); // prettier-ignore
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox', { name: 'Command' }).fill('light or dark');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme=dark]').waitFor();
  });

  for (const way of ['mouse', 'keys'] as const)
    it(`shares a link that stays, by ${way}`, async () => {
      const explore = await visit(tenant, `/ui/t/${String(tenant.id)}/explore?q=level:warn&cols=service,app`);
      await explore.rows.nth(3).waitFor();
      await explore.waitForTotal('entries ·');
      const total = /^[\d,]+ entries/.exec((await explore.summary.textContent()) ?? '')?.[0] ?? '';
      if (way === 'mouse') {
        await explore.rows.nth(2).click();
        await explore.drawer.getByRole('button', { name: 'Copy link' }).click();
      } else {
        await explore.toList();
        for (const key of ['j', 'j', 'j', 'Enter', 'y']) await explore.page.keyboard.press(key);
      }
      await explore.page.getByText('Link copied').waitFor();
      const link = await explore.clipboard();
      const params = new URL(link).searchParams;
      expect(params.get('from')).to.match(/^\d{4}-.*Z$/);
      expect(params.get('to')).to.match(/^\d{4}-.*Z$/);
      expect(link).to.not.contain(tenant.key);
      const shown = await explore.drawer.locator('.drawer-message').textContent();
      await send(tenant, [{ _time: new Date().toISOString(), _msg: 'came later', level: 'warn', service: 'api' }]);
      const other = await visit(tenant, link.slice(instance.app.length));
      await other.drawer.waitFor();
      expect(await other.drawer.locator('.drawer-message').textContent()).to.equal(shown);
      await other.waitForTotal(total);
    });

  it('reports an error of a query at its place, and completes', async () => {
    const explore = await visit(tenant);
    await explore.waitForTotal('entries');
    const { page } = explore;
    await page.locator('#query').pressSequentially('lev');
    await page.getByRole('option', { name: /level/ }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator('#query').inputValue()).to.equal('level:');
    await page.getByRole('option', { name: /error/ }).waitFor();
    await page.locator('#query').fill('a AND');
    await page
      .locator('#query-problem')
      .filter({ hasText: /filter after "and"/i })
      .waitFor();
    expect(await page.locator('#query').getAttribute('aria-invalid')).to.equal('true');
    await expectAccessible(page, 'a query with an error');
  });

  it('shows rows of pipes as a chart and a table', async () => {
    const explore = await visit(
      tenant,
      `/ui/t/${String(tenant.id)}/explore?q=${encodeURIComponent('* | stats by (service) count() as n')}`,
    );
    await explore.page.locator('.bar-line').nth(2).waitFor();
    expect(await explore.page.locator('.result-table tbody tr').count()).to.equal(3);
    await explore.runByMouse('* | stats by (_time:5m, service) count() as n');
    await explore.page.locator('.u-over').waitFor();
  });

  it('exports all that matches', async () => {
    const explore = await visit(tenant, `/ui/t/${String(tenant.id)}/explore?q=level:debug`);
    await explore.waitForTotal('375 entries');
    for (const [name, rows] of [
      ['NDJSON', 375],
      ['CSV', 376],
    ] as const) {
      await explore.toList();
      await explore.page.keyboard.press('e');
      const [download] = await Promise.all([explore.page.waitForEvent('download'), explore.page.getByRole('button', { name }).click()]);
      const lines = readFileSync(await download.path(), 'utf8').trimEnd().split('\n'); // prettier-ignore
      expect(lines.length, name).to.equal(rows);
      await explore.page.keyboard.press('Escape');
    }
  });

  it('follows what comes, live, and counts while it is paused', async () => {
    const own = await newTenant(instance);
    const explore = await visit(own);
    const { page } = explore;
    await page.getByRole('heading', { name: 'No entries in this window' }).waitFor();
    await page.locator('[data-test=live]').click();
    await page.locator('[data-test=live-state]').filter({ hasText: 'live' }).waitFor();
    await send(own, [{ _time: new Date().toISOString(), _msg: 'the first one', level: 'info' }]);
    await explore.rows.filter({ hasText: 'the first one' }).waitFor();
    await page.keyboard.press('Space');
    await page.locator('[data-test=live-state]').filter({ hasText: 'paused' }).waitFor();
    await send(own, [1, 2, 3].map((at) => ({ _time: new Date().toISOString(), _msg: `another ${String(at)}`, level: 'info' }))); // prettier-ignore
    await page.locator('[data-test=live-state]').filter({ hasText: '3 waiting' }).waitFor();
    expect(await explore.rows.count()).to.equal(1);
    await page.getByRole('button', { name: /Go on/ }).click();
    await explore.rows.nth(3).waitFor();
    await expectAccessible(page, 'live');
  });

  it('shows whatever stands in a log as text', async () => {
    for (const wrap of ['', '?wrap=1']) {
      const explore = await visit(hostile, `/ui/t/${String(hostile.id)}/explore${wrap}`);
      await explore.waitForTotal('entries');
      const { page } = explore;
      const markup = (): Promise<unknown> =>
        page.evaluate(`document.querySelectorAll('main img, main script, main iframe, main b b, main object').length`);
      expect(await explore.rows.locator('.row-message').filter({ hasText: '<script>alert(1)</script>' }).count()).to.equal(1);
      expect(await explore.rows.filter({ hasText: 'U+202E' }).count()).to.equal(1);
      expect(await explore.rows.locator('.m-a-red').filter({ hasText: 'red' }).count()).to.equal(1);
      expect(await explore.rows.filter({ hasText: '998 kB' }).count()).to.equal(1);
      for (let row = 0; row < HOSTILE.length; row += 1) {
        await explore.rows.nth(row).click();
        // the drawer is the same whether lines are wrapped or not
        for (const tab of wrap === '' ? ['JSON', 'Context', 'Pattern', 'Fields'] : ['Fields']) {
          await explore.openTab(tab);
          expect(await markup(), `${tab} of row ${String(row)}`).to.equal(0);
        }
        await page.keyboard.press('Escape');
      }
      expect(await page.title()).to.equal('Explore · Logweir');
    }
  });

  it('are accessible in both themes, wide and narrow', async () => {
    const opened = await openPage(browser, `${instance.app}/ui/`);
    open.push(opened);
    await opened.page.locator('input[name=key]').waitFor();
    await expectAccessibleInAllLooks(opened.page, 'sign-in');
    const explore = await visit(tenant);
    const { page } = explore;
    await explore.rows.first().waitFor();
    await page.locator('.side .facet').first().waitFor({ state: 'attached' });
    await expectAccessibleInAllLooks(page, 'entries');
    await page.keyboard.press('t');
    await page.getByRole('dialog', { name: 'Window' }).waitFor();
    await expectAccessibleInAllLooks(page, 'the window');
    await page.keyboard.press('Escape');
    await page.locator('#rows').focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await expectAccessibleInAllLooks(page, 'the sheet of keys');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox', { name: 'Command' }).waitFor();
    await expectAccessibleInAllLooks(page, 'the palette');
    await page.keyboard.press('Escape');
    for (const [key, name] of [['s', 'Saved and earlier searches'], ['e', 'Export all matching entries']] as const) {
          await explore.toList();
          await page.keyboard.press(key);
          await page.getByRole('dialog', { name }).waitFor();
          await expectAccessibleInAllLooks(page, name);
          await page.keyboard.press('Escape');
        } // prettier-ignore
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await expectAccessibleInAllLooks(page, 'the menu');
    await page.getByRole('button', { name: 'What runs where' }).click();
    await page.getByRole('dialog', { name: 'What runs where' }).getByText('Statement 1').waitFor();
    await expectAccessibleInAllLooks(page, 'what runs where');
    await page.keyboard.press('Escape');
    await page.locator('[data-test=account]').click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await expectAccessibleInAllLooks(page, 'the account');
    for (const [query, shown] of [['* | stats by (service) count() as n', '.bar-line'], ['* | stats by (_time:5m, service) count() as n', '.u-over']] as const) {
          await page.goto(`${instance.app}/ui/t/${String(tenant.id)}/explore?q=${encodeURIComponent(query)}`);
          await page.locator(shown).first().waitFor();
          await expectAccessibleInAllLooks(page, query);
        } // prettier-ignore
    await page.goto(`${instance.app}/ui/t/${String(tenant.id)}/explore?q=nothing-has-this`);
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    await expectAccessibleInAllLooks(page, 'nothing');
    await page.goto(`${instance.app}/ui/t/${String(tenant.id)}/explore?q=level:error`);
    await explore.rows.first().click();
    for (const tab of ['JSON', 'Context', 'Pattern', 'Trace', 'Fields']) {
      await explore.openTab(tab);
      await page.locator('.drawer .bar.busy').waitFor({ state: 'detached' });
      await expectAccessibleInAllLooks(page, tab);
    }
  });

  it('have one of all components, in a build for those who change them alone', async () => {
    expect(readFileSync(path.join(DIST, 'manifest.json'), 'utf8')).to.not.contain('styleguide');
    const folder = mkdtempSync(path.join(tmpdir(), 'pages-'));
    try {
      await buildUi(folder, { hasComponents: true });
      const { page } = await visit(tenant);
      const at = `${instance.app}/ui/t/${String(tenant.id)}/styleguide`;
      await page.goto(at);
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      // a page that no server sent may not open sockets of this machine
      await page.routeWebSocket('**/ws/**', () => undefined);
      await page.route(`${instance.app}/ui/**`, (route) => {
        const name = new URL(route.request().url()).pathname.slice('/ui/'.length);
        return route.fulfill({ path: path.join(folder, /\.\w+$/.test(name) ? name : 'index.html') });
      });
      await page.goto(at);
      await page.getByRole('heading', { name: 'Components' }).waitFor();
      await expectAccessibleInAllLooks(page, 'components');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('do not move while they load', async () => {
    const { page } = await visit(tenant);
    for (const at of [
      'explore',
      'explore?q=level:error&compare=1',
      'patterns',
      'patterns?view=diff',
      'alerts',
      'ingest',
      'usage',
      'start',
    ]) {
      await page.goto(`${instance.app}/ui/t/${String(tenant.id)}/${at}`);
      await page.locator('main h1').waitFor({ state: 'attached' });
      await page.locator('.bar.busy, .skeleton').first().waitFor({ state: 'detached' });
      // as browsers measure it: of what moves the part of the screen, by how far it moves; 0.1 is said to be felt
      const moved = await page.evaluate<number>(`new Promise((done) => {
        let sum = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((one) => { sum += one.value; })).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(sum))));
      })`);
      expect(moved, at).to.be.below(0.1);
    }
  });

  it('keep the key in this tab alone', async () => {
    const explore = await visit(tenant);
    await explore.rows.first().waitFor();
    const { page } = explore;
    const kept = await page.evaluate<string>(
      'JSON.stringify({ ...localStorage }) + document.cookie + location.href + document.documentElement.outerHTML',
    );
    expect(kept).to.not.contain(tenant.key);
    await page.getByRole('button', { name: /^Tenant/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('input[name=key]').waitFor();
    expect(await page.evaluate('Object.keys(sessionStorage).length')).to.equal(0);
  });

  it('are small: at most 90 kB of scripts for the first route, 15 kB of styles', () => {
    type Chunk = { readonly file: string; readonly imports?: readonly string[]; readonly css?: readonly string[] };
    const manifest = JSON.parse(readFileSync(path.join(DIST, 'manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>;
    const scripts = new Set<string>();
    const styles = new Set<string>();
    const add = (name: string): void => {
      const chunk = manifest[name];
      if (chunk === undefined || scripts.has(chunk.file)) return;
      scripts.add(chunk.file);
      for (const style of chunk.css ?? []) styles.add(style);
      chunk.imports?.forEach(add);
    };
    for (const name of ['index.html', 'explore/explore.tsx']) add(name);
    const size = (files: Iterable<string>): number =>
      [...files].reduce((sum, file) => sum + readFileSync(path.join(DIST, `${file}.gz`)).length, 0);
    expect(scripts.size).to.be.at.least(2);
    console.log(`      ${String(size(scripts))} B of scripts, ${String(size(styles))} B of styles`);
    expect(size(scripts)).to.be.at.most(90_000);
    expect(size(styles)).to.be.at.most(15_000);
  });
});
