/** What a page shows of requests that are refused, or not answered: the answers come from the test, in the place of the service's. */
import { expect } from 'chai';
import type { Locator, Page, Request } from 'playwright-core';

/** What is refused: `METHOD /path`, and a part of its query or body. */
export type Refused = readonly [method: string, path: RegExp, part?: string];
/** `held`: there is no answer; null: that of the service. */
export type Control = { answer: number | 'held' | null };

/** A key that may not, a limit, a service that is not ready, one that took too long. */
export const STATUSES: readonly number[] = [403, 429, 503, 504];
/** Longer than anything is tried again by itself. */
const RETRY_AFTER = { 429: '90', 503: '90' } as Readonly<Record<number, string>>;

const isRefused = ([method, path, part = '']: Refused, request: Request): boolean => {
  const url = new URL(request.url());
  const asked = decodeURIComponent(url.search) + (request.postData() ?? '');
  return request.method() === method && path.test(url.pathname) && asked.includes(part);
};

const wordsOf = (status: number): string => `refused with ${String(status)} <b>here</b>`;

/** Refuses requests of a page, at first with the first of the statuses. */
export async function refuse(page: Page, refused: Refused): Promise<Control> {
  const control: Control = { answer: STATUSES[0] ?? null };
  await page.route('**/api/v1/**', (route) => {
    const { answer } = control;
    if (answer === null || !isRefused(refused, route.request())) return route.fallback();
    if (answer === 'held') return undefined;
    const wait = RETRY_AFTER[answer];
    const headers = { 'x-request-id': `r-${String(answer)}`, ...(wait === undefined ? {} : { 'retry-after': wait }) };
    return route.fulfill({ status: answer, headers, json: { detail: wordsOf(answer) } });
  });
  return control;
}

/** That each status is the one note of the page, as text, with the id of its request and when it may work; `Try again` leads from one to the next. */
export async function expectEachRefused(page: Page, note: Locator, control: Control, each: (status: number) => Promise<void> = () => Promise.resolve()): Promise<void> {
  for (const status of STATUSES) {
    if (control.answer !== status) {
      control.answer = status;
      await note.getByRole('button', { name: 'Try again' }).click();
    }
    await note.filter({ hasText: wordsOf(status) }).filter({ hasText: `r-${String(status)}` }).waitFor();
    expect(await page.locator('.note.error').count(), String(status)).to.equal(1);
    if (RETRY_AFTER[status] !== undefined) await note.filter({ hasText: 'It may work in 90 s' }).waitFor();
    await each(status);
  }
} // prettier-ignore
