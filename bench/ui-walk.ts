/**
 * `npm run -s docs:ui-walk -- 'http://127.0.0.1:8080/ui/#code=…'`: the walk of a new user, from the address that `npm start` prints to the cause of the
 * demo's incident, by mouse: what is on screen at each step, and its seconds, as the table of docs/ui.md. Needs an instance that has no logs yet, and a
 * Chromium. It presses what is on screen by its words, and reads nothing: the seconds are those of the service and the pages.
 */
import type { Page } from 'playwright-core';
import { startBrowser } from '../test/e2e/browser.ts';
import { openPage } from '../test/ui/pages/page.ts';

const [address = ''] = process.argv.slice(2);
if (!address.includes('#code=')) throw new Error('It takes the address that a start prints, with its code: it signs in once.');

/** A minute or two until the demo's first alert; more where the machine is busy. */
const LONGEST_MS = 600_000;
const ALERT = 'Errors of payments';

type Step = {
  readonly pressed: string;
  readonly act: (page: Page) => Promise<void>;
  /** What shows that it is there, and what of it is read. */
  readonly shown: (page: Page) => Promise<readonly string[]>;
};

/** The words of elements, once the first is there. */
async function wordsOf(page: Page, selector: string, most = 1): Promise<readonly string[]> {
  await page.locator(selector).first().waitFor({ timeout: LONGEST_MS });
  const all = await page.locator(selector).allInnerTexts();
  return all.slice(0, most).map((text) => text.replaceAll(/\s+/g, ' ').trim());
}

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole('link', { name }).or(page.getByRole('button', { name })).first().click();

const STEPS: readonly Step[] = [
  { pressed: 'the address of the start', act: () => Promise.resolve(), shown: (page) => wordsOf(page, '.explore-rows .empty') },
  { pressed: '“Send the first log”', act: press('Send the first log'), shown: (page) => wordsOf(page, 'main h2.title', 5) },
  {
    pressed: '“Start the demo”',
    act: press('Start the demo'),
    shown: (page) => wordsOf(page, '[data-test=demo-run]:has-text("The shop runs")'),
  },
  {
    pressed: '“Find out what”',
    act: press('Find out what'),
    shown: (page) => wordsOf(page, `[data-alert]:has-text("${ALERT}")`),
  },
  {
    pressed: 'the alert',
    act: (page) => page.locator(`[data-alert]:has-text("${ALERT}")`).first().click(),
    shown: async (page) => [...(await wordsOf(page, '.alert-title')), ...(await wordsOf(page, 'section[aria-label="What changed"] li', 2))],
  },
  {
    pressed: '“version=…”, which has changed most',
    act: (page) => page.getByRole('region', { name: 'What changed' }).getByRole('link', { name: /^version=/ }).click(), // prettier-ignore
    shown: async (page) => [...(await wordsOf(page, '[data-test=summary]')), ...(await wordsOf(page, '#rows .row'))],
  },
  {
    pressed: 'the first entry',
    act: (page) => page.locator('#rows .row').first().click(),
    shown: (page) => wordsOf(page, 'aside[aria-label=Entry] .drawer-message'),
  },
];

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').slice(0, 260);

const browser = await startBrowser();
if (browser === null) throw new Error('There is no Chromium.');
const { page } = await openPage(browser, address);
page.setDefaultTimeout(LONGEST_MS);
process.stdout.write('| Pressed | On screen | Seconds |\n| --- | --- | --- |\n');
let sinceAlert = 0;
let isOpened = false;
for (const { pressed, act, shown } of STEPS) {
  const began = performance.now();
  await act(page);
  const words = await shown(page);
  const seconds = (performance.now() - began) / 1000;
  isOpened ||= pressed === 'the alert';
  if (isOpened) sinceAlert += seconds;
  process.stdout.write(`| ${pressed} | ${cell(words.join(' · '))} | ${seconds.toFixed(1)} |\n`);
}
process.stdout.write(`\nFrom opening the alert to its cause: ${sinceAlert.toFixed(1)} s.\n`);
await browser.close();
