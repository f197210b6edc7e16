import type { Page } from 'playwright-core';

/** Explore as a person sees it. */
export class ExplorePage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get rows() {
    return this.page.locator('#rows .row');
  }

  get drawer() {
    return this.page.getByRole('complementary', { name: 'Entry' });
  }

  get summary() {
    return this.page.locator('[data-test=summary]');
  }

  /** Until the list has so many entries in all, by its own words. */
  async waitForTotal(total: string): Promise<void> {
    await this.summary.filter({ hasText: total }).waitFor();
  }

  /** The query as it is in the address. */
  query(): string {
    return new URL(this.page.url()).searchParams.get('q') ?? '';
  }

  /** Types a query and runs it by mouse. */
  async runByMouse(query: string): Promise<void> {
    await this.page.locator('#query').click();
    await this.page.locator('#query').fill(query);
    await this.page.locator('[data-test=run]').click();
  }

  /** Types a query and runs it by keys alone. */
  async runByKeys(query: string): Promise<void> {
    await this.page.keyboard.press('/');
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.type(query);
    await this.page.keyboard.press('Enter');
  }

  /** Leaves the field that is typed in. */
  async toList(): Promise<void> {
    await this.page.locator('#rows').waitFor();
    await this.page.keyboard.press('Escape');
    await this.page.keyboard.press('Escape');
  }

  async openTab(name: string): Promise<void> {
    await this.page.getByRole('tab', { name }).click();
  }

  clipboard(): Promise<string> {
    return this.page.evaluate(() => (globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }).navigator.clipboard.readText()); // prettier-ignore
  }
}
