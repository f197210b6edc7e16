import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { buildRecorder } from '../../web/build-recorder.mjs';
import type { Instance } from '../../test/e2e/instance.ts';
import { signIn } from '../../test/ui/pages/page.ts';
import type { Tenant } from '../instance-load.ts';

/** A page of an instance, and what a user does on it, again and again. */
type Visit = {
  readonly name: string;
  readonly path: string;
  readonly begin: (page: Page) => Promise<void>;
  readonly step: (page: Page, n: number) => Promise<void>;
};

const rows = (page: Page): Promise<void> => page.locator('#rows .row').first().waitFor();

/** Pages as applications have them: a table with a drawer and charts, and a long document. */
export const VISITS: readonly Visit[] = [
  {
    name: 'Explore of the web UI',
    path: `/ui/explore?q=${encodeURIComponent('*')}&from=-1h`,
    begin: rows,
    step: async (page, n) => {
      await page.mouse.move(300 + ((n * 37) % 700), 300 + ((n * 53) % 400), { steps: 15 });
      if (n % 3 === 0) await page.mouse.wheel(0, 400);
      if (n % 5 === 1) await page.locator('#rows .row').nth(n % 4).click({ timeout: 2000 }).catch(() => undefined); // prettier-ignore
      if (n % 5 === 3) await page.keyboard.press('Escape');
    },
  },
  {
    name: "the API's reference",
    path: '/ui/api/',
    begin: (page) => page.locator('h1, h2').first().waitFor(),
    step: async (page, n) => {
      await page.mouse.move(400 + ((n * 37) % 700), 200 + ((n * 53) % 500), { steps: 15 });
      await page.mouse.wheel(0, n % 11 === 10 ? -4000 : 700);
      if (n % 6 === 5) await page.locator('aside a, nav a, [role=menuitem]').nth(n % 12).click({ timeout: 2000 }).catch(() => undefined); // prettier-ignore
    },
  },
];
/** Records a visit of so many seconds into the instance; its session's id. */
export async function recordVisit(browser: Browser, instance: Instance, tenant: Tenant, visit: Visit, seconds: number): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-bench-'));
  const recorder = readFileSync(await buildRecorder(folder), 'utf8');
  rmSync(folder, { recursive: true });
  // the pages' own policy takes no script of others
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true });
  const page = await context.newPage();
  await page.goto(`${instance.app}/ui/explore`);
  await signIn(page, tenant.key);
  await page.goto(`${instance.app}${visit.path}`);
  await visit.begin(page);
  await page.addScriptTag({ content: recorder });
  await page.evaluate(
    `LogweirReplay.recorder = LogweirReplay.start(${JSON.stringify({ url: instance.app, key: tenant.key, service: 'ui' })})`,
  );
  for (let until = Date.now() + seconds * 1000, n = 0; Date.now() < until; n++) {
    await visit.step(page, n);
    await page.waitForTimeout(150);
  }
  const id = await page.evaluate('LogweirReplay.recorder.then(async (one) => { await one.flush(); return one.sessionId; })');
  await context.close();
  return String(id);
}
