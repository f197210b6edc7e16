import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from '../../ui/pages/page.ts';
import { expectEachRefused, refuse, STATUSES, type Refused } from '../../ui/pages/refusals.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { newTenant, sharedInstance, shareWith } from '../shared.ts';
import { Visits, type Tenant } from '../ui-visits.ts';

shareWith(() => Promise.resolve({ LOGWEIR_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }));

type Row = {
  readonly action: string;
  readonly at: string;
  readonly refused: Refused;
  /** Where its note is. */
  readonly within: string;
  /** What leads to the action, and begins it. */
  readonly press: (page: Page) => Promise<void>;
  /** What is there once it was done. */
  readonly done: (page: Page) => Promise<void>;
  /** It has no end that one waits for. */
  readonly cannotStop?: true;
};

const button = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const says = (text: string) => (page: Page) => page.getByText(text).first().waitFor();
const typeKey = async (page: Page, key: string): Promise<void> => {
  await page.locator('#rows .row').first().waitFor();
  await page.keyboard.press(key);
};
/** Of the made-up alert, see below. */
const ALERT = 'alerts/7';
const inSensitivity = async (page: Page): Promise<void> => page.locator('[data-test=change-sensitivity]').click();

const ROWS: readonly Row[] = [
  {
    action: 'saving a search',
    at: 'explore',
    refused: ['POST', /\/saved-searches$/],
    within: 'dialog',
    press: async (page) => {
      await typeKey(page, 's');
      await page.getByRole('textbox', { name: 'Name of this search' }).fill('another one');
      await page.keyboard.press('Enter');
    },
    done: says('The search is saved'),
  },
  {
    action: 'deleting a search',
    at: 'explore',
    refused: ['DELETE', /\/saved-searches\/[^/]+$/],
    within: 'dialog',
    press: async (page) => {
      await typeKey(page, 's');
      await button(page, 'Delete one that goes');
    },
    done: (page) => page.getByRole('button', { name: 'Delete one that goes' }).waitFor({ state: 'detached' }),
  },
  {
    action: 'an export',
    at: 'explore',
    refused: ['POST', /\/search$/, '"limit":10000'],
    within: 'dialog',
    press: async (page) => {
      await typeKey(page, 'e');
      await button(page, 'NDJSON');
    },
    done: says('The export is complete'),
    // it has its own progress, with what ends it
    cannotStop: true,
  },
  {
    action: 'saving a rule',
    at: 'alerts',
    refused: ['POST', /\/rules$/],
    within: 'dialog',
    press: async (page) => {
      await button(page, 'Rules');
      await button(page, 'New rule…');
      await page.locator('[data-test=preview]').filter({ hasText: 'would have fired' }).waitFor();
      await page.locator('[data-test=save-rule]').click();
    },
    done: says('The rule watches from its next window on'),
  },
  {
    action: 'the preview of a rule',
    at: 'alerts',
    refused: ['POST', /\/rules\/preview$/],
    within: '[data-test=preview]',
    press: async (page) => {
      await button(page, 'Rules');
      await button(page, 'New rule…');
    },
    done: (page) => page.locator('[data-test=preview]').filter({ hasText: 'would have fired' }).waitFor(),
  },
  {
    action: 'deleting a rule',
    at: 'alerts',
    refused: ['DELETE', /\/rules\/[^/]+$/],
    within: 'dialog',
    press: async (page) => {
      await button(page, 'Rules');
      const rule = page.locator('.rule').filter({ hasText: 'one that goes' });
      await rule.getByRole('button', { name: 'Delete', exact: true }).click();
      await rule.getByRole('button', { name: 'Delete it' }).click();
    },
    done: says('The rule is deleted'),
  },
  {
    action: 'watching a pattern',
    at: 'patterns',
    refused: ['POST', /\/rules$/],
    within: 'dialog',
    press: async (page) => {
      await page.locator('.pattern-line').first().click();
      await button(page, 'Watch it…');
      await button(page, 'Watch it');
    },
    done: says('The pattern is watched'),
  },
  {
    action: 'adding a webhook',
    at: 'alerts',
    refused: ['POST', /\/webhooks$/],
    within: 'dialog',
    press: async (page) => {
      await button(page, 'Webhooks');
      await page.getByRole('textbox', { name: 'Another one' }).fill('https://hooks.example.com/one');
      await button(page, 'Add');
    },
    done: says('It was added.'),
  },
  {
    action: 'testing a webhook',
    at: 'alerts',
    refused: ['POST', /\/webhooks\/[^/]+\/test$/],
    within: 'dialog',
    press: async (page) => {
      await button(page, 'Webhooks');
      await page.locator('.webhook').filter({ hasText: '127.0.0.1' }).getByRole('button', { name: 'Send a test' }).click();
    },
    done: says('✓ delivered'),
  },
  {
    action: 'resolving an alert',
    at: ALERT,
    refused: ['POST', /\/alerts\/7\/resolve$/],
    within: 'dialog',
    press: async (page) => {
      await page.locator('[data-test=resolve]').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    },
    done: (page) => page.locator('.toast').filter({ hasText: 'Resolved' }).waitFor(),
  },
  {
    action: 'the preview of a sensitivity',
    at: ALERT,
    refused: ['POST', /\/detectors\/preview$/],
    within: 'section[aria-label=Sensitivity]',
    press: inSensitivity,
    done: (page) => page.locator('.strength-fired b').nth(3).waitFor(),
  },
  {
    action: 'saving a sensitivity',
    at: ALERT,
    refused: ['PUT', /\/detectors$/],
    within: 'section[aria-label=Sensitivity]',
    press: async (page) => {
      await inSensitivity(page);
      await page.locator('.strength').filter({ hasText: 'High' }).click();
      await page.locator('[data-test=save-sensitivity]').click();
    },
    done: says('Sensitivity saved'),
  },
  {
    action: 'a test line',
    at: 'ingest',
    refused: ['POST', /\/api\/v1\/ingest$/],
    within: 'section[aria-label="Try it"]',
    press: (page) => page.locator('[data-test=send-test]').click(),
    done: (page) => page.locator('[data-test=test-line]').filter({ hasText: 'found after' }).waitFor(),
  },
  {
    action: 'listening for the first entry',
    at: 'start',
    refused: ['POST', /\/search$/, '"limit":1}'],
    within: '.steps',
    press: () => Promise.resolve(),
    done: (page) => page.locator('[data-test=listening]').filter({ hasText: 'It is here.' }).waitFor(),
    cannotStop: true,
  },
  {
    action: 'the demo',
    at: 'start',
    refused: ['POST', /\/api\/v1\/ingest$/],
    within: '[data-test=demo-run]',
    press: (page) => page.locator('[data-test=start-demo]').click(),
    done: async (page) => {
      await page.locator('[data-test=demo-run]').filter({ hasText: /last hours: [1-9]/ }).waitFor(); // prettier-ignore
      await button(page, 'Stop the demo');
      await page.locator('[data-test=start-demo]').waitFor();
    },
    cannotStop: true,
  },
];

describe('what is pressed on the pages', function () {
  this.timeout(600_000);
  let instance: Instance;
  let browser: Browser;
  let visits: Visits;
  let tenant: Tenant;
  let receiver: Receiver;
  let page: Page;
  let at: string;

  const call = async (method: string, path: string, body: object): Promise<unknown> => {
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}${path}`;
    const answer = await instance.call(method, url, body, { Authorization: `Bearer ${tenant.key}` });
    expect(answer.status, path).to.be.within(200, 204);
    return answer.body;
  };

  before(async function () {
    const [running, started] = await Promise.all([sharedInstance(), startBrowser()]);
    if (started === null) this.skip();
    [instance, browser] = [running, started];
    visits = new Visits(browser, instance);
    [tenant, receiver] = [await newTenant(instance), await startReceiver()];
    receiver.status = 200;
    at = `${instance.app}/ui/t/${String(tenant.id)}/`;
    await visits.send(tenant, Array.from({ length: 20 }, (_none, of) => ({ service: 'shop', level: 'error', _msg: `it broke ${String(of)}` }))); // prettier-ignore
    await call('POST', '/saved-searches', { name: 'one that goes', query: 'level:error', shared: true });
    await call('POST', '/rules', { name: 'one that goes', query: 'level:error | stats count()', if: 'value > 1000000' });
    await call('POST', '/webhooks', { url: receiver.url });
    const patterns = async (): Promise<number> => {
      const { body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/patterns`, undefined, { Authorization: `Bearer ${tenant.key}` }); // prettier-ignore
      return (body as { patterns: readonly object[] }).patterns.length;
    };
    await until('a pattern', patterns, (many) => many > 0);
    page = await visits.visit(tenant, 'explore');
    await answerAlert();
  });
  after(async () => {
    await visits.end(true, [tenant.key]);
    await browser.close();
    receiver.stop();
  });

  /** An alert that is made up, as one of a detector of counts takes a day: it can be resolved. */
  async function answerAlert(): Promise<void> {
    const moment = new Date().toISOString();
    const alert = {
      ...{ id: 7, detector_type: 'log_rate', stream: '{service="shop"}', severity: 'warning', title: 'Many', description: '', evidence: {} },
      ...{ state: 'firing', fired_at: moment, fire_count: 1, resolved_at: null, last_updated_at: moment, resolution_note: null, incident_id: null },
    }; // prettier-ignore
    await page.route('**/api/v1/**/alerts/7', (route) => route.fulfill({ json: alert }));
    await page.route('**/api/v1/**/alerts/7/resolve', (route) =>
      route.fulfill({ json: { ...alert, state: 'resolved', resolved_at: moment } }),
    );
  }

  for (const row of ROWS)
    it(`is refused in its place, and done once it can be: ${row.action}`, async () => {
      const control = await refuse(page, row.refused);
      try {
        await page.goto(at + row.at);
        await row.press(page);
        const place = page.locator(row.within);
        const note = place.locator('.note.error');
        await expectEachRefused(page, note, control);
        await expectAccessible(page, row.action);
        if (row.cannotStop !== true) {
          control.answer = 'held';
          await note.getByRole('button', { name: 'Try again' }).click();
          await place
            .locator('[data-test=elapsed]')
            .getByRole('button', { name: /^(?:Cancel|Stop waiting)$/ })
            .click();
          await note.filter({ hasText: /^Stopped before|^It is looked for no longer/ }).waitFor();
        }
        control.answer = null;
        await note.getByRole('button', { name: 'Try again' }).click();
        await row.done(page);
        await note.waitFor({ state: 'detached' });
      } finally {
        await page.unroute('**/api/v1/**');
      }
    });

  it('signs in once it can: what this tab has to do it with is kept, and tried again', async () => {
    const own = await visits.visit(tenant, 'explore');
    await own.locator('#rows .row').first().waitFor();
    const control = await refuse(own, ['GET', /\/account\/key$/]);
    control.answer = 503;
    await own.reload();
    const note = own.locator('#sign-in-problem .note.error');
    await note.filter({ hasText: 'refused with 503 <b>here</b>' }).filter({ hasText: 'It may work in 90 s' }).waitFor();
    await expectAccessible(own, 'a sign-in that is refused for now');
    control.answer = null;
    await note.getByRole('button', { name: 'Try again' }).click();
    await own.locator('#rows .row').first().waitFor();
    await own.locator('[data-test=account]').click();
    await own.getByRole('button', { name: 'Sign out' }).click();
    for (const status of STATUSES) {
      control.answer = status;
      await own.locator('input[name=key]').fill(tenant.key);
      await own.getByRole('button', { name: 'Sign in' }).click();
      await note.filter({ hasText: `refused with ${String(status)} <b>here</b>` }).filter({ hasText: `r-${String(status)}` }).waitFor(); // prettier-ignore
    }
    control.answer = null;
    await own.getByRole('button', { name: 'Sign in' }).click();
    await own.locator('#rows .row').first().waitFor();
  });

  it('leads to the sign-in, with the reason, once the key is not accepted any more', async () => {
    const { id, key } = (await call('POST', '/keys', { name: 'one that goes', scopes: ['read'] })) as { id: string; key: string };
    const own = await visits.visit({ id: tenant.id, key }, 'patterns');
    await own.locator('.pattern-line').first().waitFor();
    await call('DELETE', `/keys/${id}`, {});
    const status = async (): Promise<number> => (await instance.call('GET', `${instance.app}/api/v1/account/key`, undefined, { Authorization: `Bearer ${key}` })).status; // prettier-ignore
    await until('that it is refused', status, (is) => is !== 200);
    await own.getByRole('link', { name: 'Usage' }).click();
    await own.locator('#sign-in-problem .note.error').filter({ hasText: 'not known' }).waitFor();
    expect(await own.evaluate('Object.keys(sessionStorage).length')).to.equal(0);
    await expectAccessible(own, 'a key that was revoked');
  });

  it('has a key made for who is signed in with a cookie, once it can be', async () => {
    const own = await visits.visit(tenant, 'explore');
    await own.context().request.post(`${instance.app}/api/v1/session`, { data: { key: tenant.key }, headers: { Origin: instance.app } });
    await own.evaluate("sessionStorage.clear(); sessionStorage.setItem('logweir.cookie', '1')");
    const control = await refuse(own, ['POST', /\/keys$/]);
    for (const [place, press, within] of [
      ['start', '[data-test=copy-snippet]', '.steps'],
      ['start', '[data-test=start-demo]', 'section[aria-label=Demo]'],
      ['ingest', '[data-test=copy-way]', '.way'],
    ] as const) {
      [control.answer] = STATUSES as [number];
      await own.goto(at + place);
      await own.locator(press).click();
      await expectEachRefused(own, own.locator(within).locator('.note.error'), control);
    }
    control.answer = null;
    await own.locator('.way .note.error').getByRole('button', { name: 'Try again' }).click();
    await own.getByText('Snippet with your key copied').waitFor();
    await own.locator('.way .note.error').waitFor({ state: 'detached' });
    expect(await own.evaluate<string>('navigator.clipboard.readText()')).to.not.contain(tenant.key);
  });

  it('goes on with an export where it was refused, and loses and repeats nothing', async () => {
    const entry = (second: number): object => ({ _time: `2026-01-01T00:00:0${String(second)}Z`, _msg: `entry ${String(second)}` });
    let asked = 0;
    await page.goto(`${at}explore`);
    await page.locator('#rows .row').first().waitFor();
    await page.route('**/search?enrich=false', (route) => {
      asked += 1;
      const { before } = route.request().postDataJSON() as { readonly before?: string };
      if (before === undefined) return route.fulfill({ json: { logs: [entry(2), entry(1)], has_more: true, oldest_time: '2026-01-01T00:00:01Z' } }); // prettier-ignore
      if (asked === 2) return route.fulfill({ status: 504, json: { detail: 'It was stopped after 30 s.' } });
      if (asked === 3) return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { detail: 'Too many queries.' } });
      return route.fulfill({ json: { logs: [entry(0)], has_more: false, oldest_time: null } });
    });
    await page.keyboard.press('e');
    await button(page, 'NDJSON');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 are there: it goes on from them.').waitFor();
    const begun = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('status').filter({ hasText: 'the service is busy, waiting 1 s' }).waitFor();
    const lines = readFileSync(await (await begun).path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).to.deep.equal([entry(2), entry(1), entry(0)]);
    expect(asked).to.equal(4);
    await page.unroute('**/search?enrich=false');
  });
});
