import { expect } from 'chai';
import type { ShownAlert } from '../../pipeline/alerts/shown-alert.ts';
import { startInstance, until, type Instance } from './instance.ts';
import { newTenant } from './shared.ts';

type Page = { readonly items: readonly ShownAlert[] };

describe('rules', function () {
  this.timeout(900_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };

  before(async () => {
    instance = await startInstance();
    tenant = await newTenant(instance);
  });
  after(() => instance.stop());

  const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  const of = (path: string): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}${path}`;

  async function send(status: number, ms: number): Promise<void> {
    const entry = { _msg: `POST /pay ${String(status)}`, service: 'checkout', level: 'info', status, duration_ms: ms };
    const lines = Array.from({ length: 20 }, (_none, index) => JSON.stringify({ ...entry, duration_ms: ms + index }));
    const response = await fetch(`${instance.app}/api/v1/ingest`, { method: 'POST', headers: { ...own(), 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') }); // prettier-ignore
    expect(response.status).to.be.within(200, 299);
  }

  const alerts = async (): Promise<Page> => (await instance.call('GET', of('/alerts?state=all'), undefined, own())).body as Page;

  it('made through the API fire on the entries that come, with evidence, and are resolved when they are deleted', async () => {
    const made = await instance.call('POST', of('/rules'), { name: 'failed payments', query: '{service="checkout"} | stats by (service) count() if (status:>=500)', if: 'value >= 20', severity: 'critical' }, own()); // prettier-ignore
    expect(made.status).to.equal(201);
    const rule = made.body as { readonly id: string };
    await send(200, 10);
    // a rule holds from where it lies on the log, which is a second or so later, and from the next window on
    const { items } = await until('the alert', async () => {
      await send(503, 900);
      return alerts();
    }, ({ items: found }) => found.length > 0, 240_000); // prettier-ignore
    const [alert] = items;
    expect(alert).to.include({ detector_type: 'rule', severity: 'critical', state: 'firing', stream: '{service="checkout"}' });
    expect(alert?.title).to.match(
      /^Entries with status:>=500 of checkout rose to [\d,]+, rule 'failed payments' fires at or above 20(; most are `POST <PATH> <N>`)?$/,
    );
    expect(alert?.evidence['rule']).to.include({ id: rule.id, name: 'failed payments', if: 'value >= 20' });
    expect(alert?.evidence).to.include.keys('current_value', 'threshold', 'window', 'series', 'links', 'entries');
    const explained = await until('why', alerts, ({ items: found }) => 'sample_messages' in (found[0]?.evidence ?? {})); // prettier-ignore
    expect(explained.items[0]?.evidence['sample_messages']).to.deep.equal(['POST /pay 503']);
    expect((await instance.call('DELETE', of(`/rules/${rule.id}`), undefined, own())).status).to.equal(204);
    const { items: ended } = await until('its end', alerts, ({ items: found }) => found[0]?.state === 'resolved');
    expect(ended.map(({ state, resolution_note }) => [state, resolution_note])).to.deep.equal([['resolved', 'auto: the rule was deleted']]);
  });
});
