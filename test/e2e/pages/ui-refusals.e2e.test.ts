import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from '../../ui/pages/page.ts';
import { expectEachRefused, refuse, type Refused } from '../../ui/pages/refusals.ts';
import { startBrowser } from '../browser.ts';
import { sharedInstance } from '../shared.ts';
import { Visits } from '../ui-visits.ts';
import { watched } from '../watched.ts';

before(() => void watched().catch(() => undefined));

type Row = {
  readonly panel: string;
  readonly at: string;
  readonly refused: Refused;
  /** Where its note is. */
  readonly within: string;
  /** What leads to the panel. */
  readonly open?: (page: Page) => Promise<void>;
  /** The detector that the alert is made to be of: one of counts would take a day of entries. */
  readonly as?: string;
  /** Ways to be quicker, of those that take a window. */
  readonly hasWays?: true;
  /** It can be stopped while it loads. */
  readonly canStop?: true;
};

const openRow = (page: Page): Promise<void> => page.locator('#rows .row').first().click();
const openFirst = (selector: string) => (page: Page) => page.locator(selector).first().click();
const press = (key: string) => async (page: Page) => {
  await page.locator('#rows .row').first().waitFor();
  await page.keyboard.press(key);
};
const DRAWER = 'aside[aria-label=Entry]';
const ALERT = '[data-alert]';
const explore = (more = ''): string => `explore?q=level:error${more}`;
const button = (name: string) => async (page: Page) => page.getByRole('button', { name, exact: true }).click();

const ROWS: readonly Row[] = [
  { panel: 'the bars', at: explore(), refused: ['GET', /\/hits$/, 'fields_by'], within: '.hist', hasWays: true },
  { panel: 'fields', at: explore(), refused: ['GET', /\/facets$/], within: '.side', hasWays: true },
  {
    panel: 'fields that are looked for',
    at: explore(),
    refused: ['POST', /\/search$/, 'field_names'],
    within: '.side',
    hasWays: true,
    open: (page) => page.getByRole('searchbox', { name: 'Find a field' }).fill('zz'),
  },
  { panel: 'entries', at: explore(), refused: ['POST', /\/search$/], within: '.explore-rows', hasWays: true },
  { panel: 'what was around an entry', at: explore('&tab=context'), refused: ['POST', /\/search$/, '_stream:'], within: DRAWER, open: openRow }, // prettier-ignore
  { panel: 'the pattern of an entry', at: explore('&tab=pattern'), refused: ['GET', /\/patterns\/[^/]+$/], within: DRAWER, open: openRow },
  { panel: 'the trace of an entry', at: explore('&tab=trace'), refused: ['POST', /\/search$/, 'trace_id'], within: DRAWER, open: openRow }, // prettier-ignore
  { panel: 'saved searches', at: explore(), refused: ['GET', /\/saved-searches$/], within: 'dialog', open: press('s') },
  {
    panel: 'what runs where',
    at: explore(),
    refused: ['POST', /\/search$/, 'explain'],
    within: 'dialog',
    open: async (page) => {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('button', { name: 'What runs where' }).click();
    },
  },
  {
    panel: 'the list of patterns',
    at: 'patterns',
    refused: ['GET', /\/patterns$/, 'sort=count'],
    within: 'main',
    hasWays: true,
    canStop: true,
  },
  {
    panel: 'what has changed',
    at: 'patterns?view=diff',
    refused: ['GET', /\/patterns\/diff$/],
    within: 'main',
    hasWays: true,
    canStop: true,
  },
  {
    panel: 'a pattern',
    at: 'patterns',
    refused: ['GET', /\/patterns\/[^/]+$/],
    within: 'main',
    open: openFirst('.pattern-line'),
    canStop: true,
  },
  {
    panel: 'the list of alerts',
    at: 'alerts?state=all',
    refused: ['GET', /\/alerts$/, 'state=all'],
    within: '.alerts-side',
    canStop: true,
  },
  { panel: 'an alert', at: 'alerts?state=all', refused: ['GET', /\/alerts\/\d+$/], within: '.alerts-detail', open: openFirst(ALERT) },
  { panel: 'the entries of other days', at: 'alerts?state=all', refused: ['GET', /\/hits$/, 'step=1d'], within: '.alerts-detail', open: openFirst(ALERT) }, // prettier-ignore
  { panel: 'the course of an alert', at: 'alerts?state=all', refused: ['GET', /\/hits$/, 'step=1m'], within: 'section:has(.course)', open: openFirst(ALERT), as: 'log_rate', canStop: true }, // prettier-ignore
  { panel: 'how easily a detector fires', at: 'alerts?state=all', refused: ['GET', /\/detectors$/], within: '.alerts-detail', open: openFirst(ALERT), as: 'log_rate' }, // prettier-ignore
  { panel: 'the rule of an alert', at: 'alerts?state=all', refused: ['GET', /\/rules\/[^/]+$/], within: '.alerts-detail', open: openFirst(ALERT) }, // prettier-ignore
  { panel: 'rules', at: 'alerts', refused: ['GET', /\/rules$/], within: 'dialog', open: button('Rules'), canStop: true },
  { panel: 'webhooks', at: 'alerts', refused: ['GET', /\/webhooks$/], within: 'dialog', open: button('Webhooks') },
  { panel: 'what comes', at: 'ingest', refused: ['GET', /\/usage$/], within: 'section[aria-label="Coming now"]' },
  { panel: 'what was refused lately', at: 'ingest', refused: ['GET', /\/rejections$/], within: 'section[aria-label="The last that were refused"]', canStop: true }, // prettier-ignore
  { panel: 'usage', at: 'usage', refused: ['GET', /\/usage$/], within: 'main', canStop: true },
];

describe('each panel of the pages', function () {
  this.timeout(600_000);
  let browser: Browser;
  let visits: Visits;
  let page: Page;
  let at: string;

  before(async function () {
    const [instance, started] = await Promise.all([sharedInstance(), startBrowser()]);
    if (started === null) this.skip();
    browser = started;
    visits = new Visits(browser, instance);
    const { tenant } = await watched();
    at = `${instance.app}/ui/t/${String(tenant.id)}/`;
    page = await visits.visit(tenant, 'alerts?state=all');
    // the rule fires as its first window is over
    await page.locator(ALERT).first().waitFor({ timeout: 150_000 });
  });
  after(async () => {
    await visits.end(true);
    await browser.close();
  });
  afterEach(() => page.unrouteAll());

  /** What the service answers of an alert, as if it were of a detector. */
  const makeAlertsOf = async (detector: string): Promise<void> => {
    await page.route(/\/alerts\/\d+$/, async (route) => {
      const response = await route.fetch();
      const alert = (await response.json()) as { readonly fired_at: string; readonly evidence: object };
      const evidence = { ...alert.evidence, series: { minute: alert.fired_at, step: '1m', values: [1, 2, 3] } };
      await route.fulfill({ response, json: { ...alert, evidence, detector_type: detector, stream: '{service="shop"}' } });
    });
  };

  for (const row of ROWS)
    it(`fails alone, and comes back: ${row.panel}`, async () => {
      const control = await refuse(page, row.refused);
      if (row.as !== undefined) await makeAlertsOf(row.as);
      await page.goto(at + row.at);
      await row.open?.(page);
      const note = page.locator(row.within).locator('.note.error');
      await expectEachRefused(page, note, control, async (status) => {
        if (status === 504) expect(await note.locator('[data-test=quicker] button').count()).to.equal(row.hasWays === true ? 2 : 0);
      });
      await expectAccessible(page, row.panel);
      expect(await page.locator('h1').count()).to.equal(1);
      control.answer = null;
      await note.getByRole('button', { name: 'Try again' }).click();
      await note.waitFor({ state: 'detached' });
    });

  for (const row of ROWS.filter(({ canStop }) => canStop === true))
    it(`shows how long it takes, and is stopped: ${row.panel}`, async () => {
      const control = await refuse(page, row.refused);
      control.answer = 'held';
      if (row.as !== undefined) await makeAlertsOf(row.as);
      await page.goto(at + row.at);
      await row.open?.(page);
      const place = page.locator(row.within);
      await place.locator('[data-test=elapsed]').getByRole('button', { name: 'Cancel' }).click();
      const note = place.locator('.note.error').filter({ hasText: 'Stopped before it was there.' });
      await note.waitFor();
      control.answer = null;
      await note.getByRole('button', { name: 'Try again' }).click();
      await note.waitFor({ state: 'detached' });
      await place.locator('[data-test=elapsed]').waitFor({ state: 'detached' });
    });

  it('draws a chart where the browser reports a language that it does not know itself', async () => {
    await page.addInitScript(() => Object.defineProperty(navigator, 'language', { value: 'en-US@posix', configurable: true }));
    await makeAlertsOf('log_rate');
    await page.goto(`${at}alerts?state=all`);
    await openFirst(ALERT)(page);
    await page.locator('.course canvas').waitFor();
  });

  it('has ways to be quicker that are pressed: a shorter window, and a filter on a stream with its labels', async () => {
    let isSlow = true;
    await page.route('**/search', (route) => (isSlow ? route.fulfill({ status: 504, json: { detail: 'It was stopped after 30 s.' } }) : route.fallback())); // prettier-ignore
    await page.goto(`${at}${explore()}`);
    const ways = page.locator('.explore-rows [data-test=quicker]');
    await page.locator('.side .facet').first().waitFor();
    await ways.getByRole('button', { name: 'Add a stream filter' }).click();
    expect(await page.locator('#query').inputValue()).to.equal('{} level:error');
    await page.getByRole('option', { name: 'service' }).waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('option', { name: 'shop' }).waitFor();
    await page.keyboard.press('Tab');
    isSlow = false;
    await page.keyboard.press('Enter');
    await page.locator('#rows .row').first().waitFor();
    expect(new URL(page.url()).searchParams.get('q')).to.equal('{service="shop"} level:error');
    isSlow = true;
    await page.goto(`${at}${explore()}`);
    await ways.getByRole('button', { name: 'Try the last 15 minutes' }).waitFor();
    isSlow = false;
    await ways.getByRole('button', { name: 'Try the last 15 minutes' }).click();
    await page.locator('#rows .row').first().waitFor();
    expect(new URL(page.url()).searchParams.get('from')).to.equal('-15m');
  });
});
