import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, shareWith, sharedInstance } from '../shared.ts';

const MINUTE_MS = 60_000;
/** One request has so many minutes, up to this one: the example fires where it knows more than an hour. */
const MINUTES = 80;
/** When a burst begins and ends, minutes ago: minutes that are final, and so new that an alert fires in them. */
const [BURST, CALM] = [12, 7];
/** A detector that loops is given up after a minute at the latest, and others wait for none of it. */
const LONG_MS = 300_000;
const DETECTORS = ['examples/detectors/three-times.ts', 'test/fixtures/detectors/throws.ts', 'test/fixtures/detectors/loops.ts'];

type Row = { readonly detector: string; readonly state: string; readonly since: string | null; readonly reason: string | null };

shareWith(() => Promise.resolve({ LOGWEIR_DETECTORS: DETECTORS.join() }));

describe('detectors of others', function () {
  this.timeout(900_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });

  async function send(service: string, ofMinute: (ago: number) => number): Promise<void> {
    const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    const lines = Array.from({ length: MINUTES }, (_none, index) => MINUTES - index).flatMap((ago) =>
      Array.from({ length: ofMinute(ago) }, (_none, at) =>
        JSON.stringify({ _time: new Date(now - ago * MINUTE_MS + at * 500).toISOString(), _msg: `order ${String(at)} placed`, service }),
      ),
    );
    const response = await fetch(`${instance.app}/api/v1/ingest`, { method: 'POST', headers: { ...own(), 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') }); // prettier-ignore
    expect(response.status).to.be.within(200, 299);
  }

  /** What the example has found: which alert, and in how many minutes. */
  async function found(): Promise<readonly unknown[]> {
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/alerts?state=all`;
    const { items } = (await instance.call('GET', url, undefined, own())).body as { readonly items: readonly ShownAlert[] };
    return items
      .filter(({ detector_type }) => detector_type === 'three_times')
      .map(({ id, stream, fire_count }) => ({ id, stream, fire_count }));
  }

  const admin = (method: string, at = ''): Promise<{ readonly status: number; readonly body: unknown }> => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    return instance.call(method, `${instance.admin}/admin/detectors${at}`, undefined, { Authorization: `Bearer ${token}` });
  };
  const isOff = (rows: readonly Row[], name: string, after = ''): boolean =>
    rows.some(({ detector, state, since }) => detector === name && state === 'off' && (since ?? '') > after);
  const rows = async (): Promise<readonly Row[]> => (await admin('GET')).body as readonly Row[];

  async function failures(detector: string): Promise<string | undefined> {
    const text = String((await instance.call('GET', `${instance.admin}/metrics`)).body);
    return new RegExp(`^logweir_detector_failures_total\\{detector="${detector}",role="processors"\\} (\\d+)$`, 'm').exec(text)?.[1];
  }

  it('find what they are made for; those that fail are off with a reason, alone; and nothing differs though who asks them is killed', async () => {
    const roles = [...instance.processes()].map(([role, { pid }]) => [role, pid]);
    await send('checkout', (ago) => (ago <= BURST && ago > CALM ? 90 : 20));
    const first = await until('the alert', found, (all) => all.some((one) => (one as ShownAlert).fire_count === BURST - CALM - 1), LONG_MS); // prettier-ignore
    expect(first).to.have.length(1).and.to.have.nested.property('[0].stream', '{service="checkout"}');

    const states = await until('those that fail', rows, (all) => isOff(all, 'throws') && isOff(all, 'loops'), LONG_MS);
    const shown = new Map(states.map((row) => [row.detector, row]));
    expect(shown.get('throws')?.reason).to.match(/^Error: no third minute \(minute \d{4}-\d\d-\d\dT\d\d:\d\dZ, entries 20, errors 0\)$/);
    // on a busy machine it may not get so much CPU in the time that it has
    expect(shown.get('loops')?.reason).to.match(/^It did not come to an end within (?:2 s of CPU time|60 s)\.$/);
    expect(['three_times', 'log_rate', 'error_rate'].map((name) => shown.get(name)?.state)).to.deep.equal(['on', 'on', 'on']);
    expect(await Promise.all(['throws', 'loops', 'three_times'].map(failures))).to.deep.equal(['1', '1', undefined]);
    // no role has ended for it
    expect([...instance.processes()].map(([role, { pid }]) => [role, pid])).to.deep.equal(roles);

    const { pid = 0 } = instance.processes().get('processors') ?? {};
    process.kill(pid, 'SIGKILL');
    await until('another process', () => Promise.resolve(instance.processes().get('processors')?.pid ?? pid), (now) => now !== pid); // prettier-ignore

    // on again it fails again, as it is asked about another stream; by then the rest is looked at as well
    const { since } = shown.get('throws') as Row;
    expect((await admin('POST', '/throws/on')).status).to.equal(200);
    const again = await until('that it fails again', async () => {
      await send(`cart${String(Date.now())}`, (ago) => (ago < 9 ? 1 : 0));
      return rows();
    }, (all) => isOff(all, 'throws', since ?? ''), LONG_MS); // prettier-ignore
    expect(again.find(({ detector }) => detector === 'loops')?.since, 'off as before').to.equal(shown.get('loops')?.since);
    expect(await failures('loops'), 'not asked again').to.equal(undefined);
    expect(await found()).to.deep.equal(first);
  });
});
