/** What a page costs its browser: CPU time of the tasks of its main thread, which other load of the machine does not change much. */
import type { Browser, Page } from 'playwright-core';

type Event = { readonly name: string; readonly ph: string; readonly pid: number; readonly tid: number; readonly tdur?: number; readonly args?: { readonly name?: string } }; // prettier-ignore

/** The CPU milliseconds of each task of the page's main thread while something is done, the longest first. */
export async function tasksOf(browser: Browser, page: Page, act: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString('utf8')) as { readonly traceEvents: readonly Event[] };
  const threadOf = ({ pid, tid }: Event): string => `${String(pid)} ${String(tid)}`;
  const main = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf));
  const tasks = traceEvents.filter((event) => main.has(threadOf(event)) && event.ph === 'X' && event.name.endsWith('RunTask'));
  return tasks.map(({ tdur = 0 }) => tdur / 1000).sort((a, b) => b - a);
}

/** Milliseconds of scripts that the page runs while something is done. */
export async function scriptOf(page: Page, act: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const seconds = async (): Promise<number> =>
    (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN;
  const before = await seconds();
  await act();
  const after = await seconds();
  await session.detach();
  return (after - before) * 1000;
}

/** Bytes that the page holds, once what it does not need is collected. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
