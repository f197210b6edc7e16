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
  await context.addInitScript({ content: AXE });
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

/** That axe finds nothing on the page as it is. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  const violations = await page.evaluate(async () => {
    type Axe = { run(options: object): Promise<{ violations: Violation[] }> };
    const { axe } = globalThis as unknown as { axe: Axe };
    // what is right is not listed, and frames and styles of other origins are not looked for: there are none
    const found = await axe.run({
      resultTypes: ['violations'],
      preload: false,
      iframes: false,
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    });
    return found.violations;
  });
  const told = violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id} at ${node.target.join(' ')}: ${node.failureSummary}`)); // prettier-ignore
  expect(told, state).to.deep.equal([]);
}

/** That nothing is scrolled sideways. */
export async function expectNoOverflow(page: Page, state = 'nothing is scrolled sideways'): Promise<void> {
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
