import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect } from 'chai';
import { RELEASE } from '../../../cli/shop/shop.ts';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { call, dataOf, httpClient } from '../../mcp/mcp-client.ts';
import { AlertsPage } from '../../ui/pages/alerts.ts';
import { startBrowser } from '../browser.ts';
import { until, type Instance } from '../instance.ts';
import { Visits } from '../ui-visits.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const CLI = path.resolve(import.meta.dirname, '../../../cli/logweir.mjs');
/** A past that is a little longer than what is learned before anything fires, and a release three minutes before its end. */
const FLAGS = ['--rate', '8', '--backfill', '195m', '--incident-after', '-3m', '--incident-for', '1h'];

type Rows = { readonly logs: readonly Readonly<Record<string, unknown>>[] };
type Why = { readonly field: string; readonly value: string };

describe('the demo', function () {
  this.timeout(600_000);
  let instance: Instance;
  let demo: ChildProcess;
  let tenant: { readonly id: number; readonly key: string };
  before(async () => {
    instance = await sharedInstance();
  });
  after(async () => {
    if (demo.exitCode === null && demo.kill('SIGKILL')) await once(demo, 'exit');
  });

  it('has alerts whose evidence names the cause: the version that was released, and the pod that the orders failed at', async () => {
    tenant = await newTenant(instance);
    const own = { Authorization: `Bearer ${tenant.key}` };
    const env = { ...instance.env, LOGWEIR_API_KEY: tenant.key, LOGWEIR_TENANT: String(tenant.id) };
    demo = spawn(process.execPath, [CLI, 'demo', ...FLAGS], { env, stdio: 'ignore' });
    const errors = async (): Promise<readonly ShownAlert[]> => {
      const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/alerts?detector_type=error_rate`;
      return ((await instance.call('GET', url, undefined, own)).body as { readonly items: readonly ShownAlert[] }).items;
    };
    const isNamed = (alerts: readonly ShownAlert[], service: string, field: string, value: string): boolean =>
      alerts.some(
        ({ stream, evidence }) =>
          stream.includes(`service="${service}"`) &&
          ((evidence['why'] ?? []) as readonly Why[]).some((one) => one.field === field && one.value === value),
      );
    const alerts = await until(
      'the cause',
      errors,
      (found) => isNamed(found, 'payments', 'version', RELEASE.after) && isNamed(found, 'checkout', 'upstream', RELEASE.pod),
    );
    const payments = alerts.find(({ stream }) => stream.includes('service="payments"') && stream.includes(`pod="${RELEASE.pod}"`));
    expect(payments?.title).to.match(/^Errors of payments rose to [\d.]+ a minute, expected 0 to [\d.]+/);
    expect(payments?.description).to.contain(`version ${RELEASE.after} (`);
  });

  for (const way of ['mouse', 'keys'] as const)
    it(`is solved on screen within a minute of opening the alert, by ${way}`, async function () {
      const browser = await startBrowser();
      if (browser === null) return this.skip();
      const visits = new Visits(browser, instance);
      try {
        const page = new AlertsPage(await visits.visit(tenant, 'alerts'));
        const seconds = await (way === 'mouse' ? page.solveByMouse('Errors of payments') : page.solveByKeys('Errors of payments'));
        console.log(`      ${seconds.toFixed(1)} s from the alert to its cause`);
        // the cause: which version, where, and what it does wrong
        const text = (await page.page.getByRole('complementary', { name: 'Entry' }).textContent()) ?? '';
        for (const part of [RELEASE.after, RELEASE.pod, 'SignatureError']) expect(text).to.contain(part);
        expect(new URL(page.page.url()).searchParams.get('from')).to.match(/^\d{4}-.*Z$/);
        expect(seconds).to.be.below(60);
        await visits.end(true, [tenant.key]);
      } finally {
        await browser.close();
      }
    });

  it('is solved by an MCP client in at most six calls, from what they answer alone', async () => {
    const client = await httpClient(instance.app, tenant.key);
    let calls = 0;
    const ask = async (name: string, given: Readonly<Record<string, unknown>>): Promise<unknown> => {
      calls += 1;
      return dataOf(await call(client, name, { ...given, max_characters: 100_000 }));
    };
    // what fires, and what its evidence names
    const { items } = (await ask('list_incidents', { state: 'firing' })) as { readonly items: readonly { readonly alerts: readonly ShownAlert[] }[] }; // prettier-ignore
    const why = items.flatMap(({ alerts }) => alerts).flatMap(({ evidence }) => (evidence['why'] ?? []) as readonly Why[]);
    const version = why.find(({ field }) => field === 'version')?.value ?? '';
    // what fails there, and where
    const failed = (await ask('search_logs', { query: `version:=${JSON.stringify(version)} level:error | stats by (service, pod, error.type) count() n`, start: '-1h' })) as Rows; // prettier-ignore
    const [worst] = [...failed.logs].sort((a, b) => Number(b['n']) - Number(a['n']));
    const service = String(worst?.['service']);
    // the sentence of it, which the hours before do not have
    const changes = await ask('diff_patterns', { a: '-3h..-30m', b: '-30m..now', service });
    // who brought the version
    const { logs } = (await ask('search_logs', { query: `${JSON.stringify(`${service} ${version}`)} !level:error`, start: '-1h', limit: 20 })) as Rows; // prettier-ignore
    await client.close();
    expect(calls).to.be.at.most(6);
    expect({ version, service, pod: worst?.['pod'], error: worst?.['error.type'] }).to.deep.equal({
      ...{ version: RELEASE.after, service: 'payments', pod: RELEASE.pod, error: 'SignatureError' },
    });
    expect(JSON.stringify(changes)).to.contain('acme-pay does not know key id');
    expect(logs.map((log) => log['service'])).to.include('deployer');
  });
});
