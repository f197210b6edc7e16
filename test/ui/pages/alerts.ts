import type { Page } from 'playwright-core';
import { tabTo } from './page.ts';

/** Alerts, patterns and the first steps as a person sees them. */
export class AlertsPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get patterns() {
    return this.page.locator('.pattern-line');
  }

  get listening() {
    return this.page.locator('[data-test=listening]');
  }

  /** Makes a rule of the pattern that is open: it fires on the first entry of five minutes. */
  async watch(name: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Watch it…' }).click();
    await this.page.locator('input[name=rule]').fill(name);
    await this.page.getByRole('combobox', { name: 'When it fires' }).selectOption('more');
    await this.page.getByRole('button', { name: 'Watch it', exact: true }).click();
    await this.page.getByText('The pattern is watched').waitFor();
  }

  get list() {
    return this.page.locator('[data-alert]');
  }

  /** Has the made-up shop run in this tab; done once its past is sent. */
  async startShop(): Promise<void> {
    await this.page.locator('[data-test=start-demo]').click();
    await this.page.locator('[data-test=demo-run]').filter({ hasText: 'The shop runs' }).waitFor({ timeout: 180_000 });
  }

  /** From an alert by its title to the first entry of what has changed most in it; the seconds since the alert was opened. */
  async solveByMouse(title: string): Promise<number> {
    await this.list.filter({ hasText: title }).first().waitFor();
    const began = performance.now();
    await this.list.filter({ hasText: title }).first().click();
    await this.page.getByRole('region', { name: 'What changed' }).getByRole('link', { name: /^version=/ }).click(); // prettier-ignore
    await this.page.locator('#rows .row').first().click();
    await this.page.getByRole('complementary', { name: 'Entry' }).waitFor();
    return (performance.now() - began) / 1000;
  }

  /** The same by keys alone: `j` steps through alerts, Tab to what has changed, Enter, and `j` and Enter to the entry. */
  async solveByKeys(title: string): Promise<number> {
    const { page } = this;
    await this.list.filter({ hasText: title }).first().waitFor();
    const began = performance.now();
    const open = page.getByRole('article', { name: 'Alert' }).getByRole('heading', { level: 2 });
    for (let step = 0; step < 30; step += 1) {
      await page.keyboard.press('j');
      await open.waitFor();
      const current = await page.locator('[data-alert][aria-current=true]').textContent();
      if (current?.includes(title) === true) break;
    }
    const link = page.getByRole('region', { name: 'What changed' }).getByRole('link', { name: /^version=/ });
    await tabTo(page, link);
    await page.keyboard.press('Enter');
    await page.locator('#rows .row').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Entry' }).waitFor();
    return (performance.now() - began) / 1000;
  }
}
