import type { Page } from 'playwright-core';

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
}
