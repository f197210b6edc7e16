/** What page objects share: a signed-in page of an instance, and what must hold of every page. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';

const AXE = readFileSync(path.resolve(import.meta.dirname, '../../../node_modules/axe-core/axe.min.js'), 'utf8');

export type Opened = { readonly context: BrowserContext; readonly page: Page; readonly complaints: string[]; readonly requests: string[] };
export type Look = { readonly isDark?: boolean; readonly width?: number; readonly height?: number };

/** A page of its own session that notes what it complains of, and what it requests. */
export async function openPage(browser: Browser, url: string, { isDark = false, width = 1280, height = 800 }: Look = {}): Promise<Opened> {
  // Firefox by BiDi has these from its preferences
  const isChromium = browser.browserType().name() === 'chromium';
  const media = isChromium ? { colorScheme: isDark ? 'dark' : 'light', reducedMotion: 'reduce' } as const : {}; // prettier-ignore
  const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true, ...media });
  if (isChromium) await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    // an answer that is an error is told of by the browser itself
    if (message.type() === 'error' && !/the server responded with a status/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error.stack)));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(url);
  return { context, page, complaints, requests };
}

type Violation = {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
};

/** What axe looks for: all that it can, or what depends on the colours alone. */
const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** That axe finds nothing on the page as it is. */
export const expectAccessible = (page: Page, state: string): Promise<void> => expectNoViolation(page, state, ALL);

/** The narrowest that pages are made for. */
const [WIDE, NARROW, HEIGHT] = [1280, 320, 740];

/**
 * The same in both themes, wide and narrow, with nothing scrolled sideways: of one page, whose looks are changed. As wide, the dark one differs in its
 * colours alone, so only they are looked at again; all is looked at once more where it is narrow. The page is left wide and light.
 */
export async function expectAccessibleInAllLooks(page: Page, state: string): Promise<void> {
  await expectNoViolation(page, state, ALL);
  await expectNoOverflow(page, state);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNoViolation(page, `${state}, dark`, OF_COLOURS);
  await page.setViewportSize({ width: NARROW, height: HEIGHT });
  await expectNoViolation(page, `${state}, dark and narrow`, ALL);
  await expectNoOverflow(page, `${state}, narrow`);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: WIDE, height: HEIGHT });
}

async function expectNoViolation(page: Page, state: string, looked: readonly string[]): Promise<void> {
  // it is loaded by the pages that are looked at alone: it is larger than they are
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  const violations = await page.evaluate(async (runOnly) => {
    type Axe = { run(options: object): Promise<{ violations: Violation[] }> };
    const { axe } = globalThis as unknown as { axe: Axe };
    // what is right is not listed, and frames and styles of other origins are not looked for: there are none
    const found = await axe.run({
      resultTypes: ['violations'],
      preload: false,
      iframes: false,
      runOnly,
    });
    return found.violations;
  }, looked);
  const told = violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id} at ${node.target.join(' ')}: ${node.failureSummary}`)); // prettier-ignore
  expect(told, state).to.deep.equal([]);
}

/** That nothing is scrolled sideways. */
async function expectNoOverflow(page: Page, state: string): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'), state).to.equal(0);
}

/** Signs in by the keyboard alone. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.locator('input[name=key]').focus();
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.locator('header.top').waitFor();
}

/** Moves the focus by Tab alone until an element has it. */
export async function tabTo(page: Page, target: Locator, most = 100): Promise<void> {
  type Place = { readonly document: { readonly activeElement: unknown } };
  await target.waitFor();
  const isThere = (): Promise<boolean> => target.evaluate((element) => element === (globalThis as unknown as Place).document.activeElement);
  for (let step = 0; step < most && !(await isThere()); step += 1) await page.keyboard.press('Tab');
  expect(await isThere(), 'that Tab leads there').to.equal(true);
}
