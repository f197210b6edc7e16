import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect } from 'chai';
import { RELEASE } from '../../../cli/demo-shop.ts';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const CLI = path.resolve(import.meta.dirname, '../../../cli/logweir.mjs');
/** A past that is a little longer than what is learned before anything fires, and a release three minutes before its end. */
const FLAGS = ['--rate', '8', '--backfill', '195m', '--incident-after', '-3m', '--incident-for', '1h'];

type Why = { readonly field: string; readonly value: string };

describe('the demo', function () {
  this.timeout(600_000);
  let instance: Instance;
  let demo: ChildProcess;
  before(async () => {
    instance = await sharedInstance();
  });
  after(async () => {
    if (demo.exitCode === null && demo.kill('SIGKILL')) await once(demo, 'exit');
  });

  it('has alerts whose evidence names the cause: the version that was released, and the pod that the orders failed at', async () => {
    const tenant = await newTenant(instance);
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
});
