import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { repeat } from '../../../pipeline/core/repeat.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance, shareWith } from '../shared.ts';

type Page = { readonly items: readonly ShownAlert[] };
type Answer = Awaited<ReturnType<Instance['call']>>;

/** How often entries come. Milliseconds. */
const SEND_MS = 2000;

let instance: Instance;
let tenant: { readonly id: number; readonly key: string };
let made: Promise<{ readonly count: Answer; readonly mean: Answer }>;
const over = new AbortController();
let sending = Promise.resolve();

const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
const of = (at: string): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}${at}`;

async function send(status: number, ms: number): Promise<void> {
  const entry = { _msg: `POST /pay ${String(status)}`, service: 'checkout', level: 'info', status, duration_ms: ms };
  const lines = Array.from({ length: 20 }, (_none, index) => JSON.stringify({ ...entry, duration_ms: ms + index }));
  const response = await fetch(`${instance.app}/api/v1/ingest`, { method: 'POST', headers: { ...own(), 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') }); // prettier-ignore
  expect(response.status).to.be.within(200, 299);
}
/** Makes a rule; again where this process was busy with the files before this one, so that the body came too late. */
const makeRule = (rule: object): Promise<Answer> =>
  until('an answer', () => instance.call('POST', of('/rules'), rule, own()), ({ status }) => status !== 408); // prettier-ignore
const watched = (condition: string): Promise<Answer> =>
  makeRule({ name: 'slow payments', query: '{service="checkout"} status:>=500 | stats by (service) avg(duration_ms)', if: condition });

async function makeRules(): Promise<{ readonly count: Answer; readonly mean: Answer }> {
  instance = await sharedInstance();
  tenant = await newTenant(instance);
  const count = await makeRule({ name: 'failed payments', query: '{service="checkout"} | stats by (service) count() if (status:>=500)', if: 'value >= 20', severity: 'critical' }); // prettier-ignore
  const mean = await watched('above_fifty up');
  await send(200, 10);
  // a rule holds from where it lies on the log, which is a second or so later, and from the next window on
  sending = repeat(SEND_MS, over.signal, () => send(503, 900).catch(() => undefined));
  return { count, mean };
}

shareWith(() => Promise.resolve({ LOGWEIR_DETECTORS: 'test/fixtures/detectors/above-fifty.ts' }));
// before the files that run before this one: a window is over minutes later, in which they use the instance anyway
before(() => {
  made = makeRules();
  made.catch(() => undefined);
});

describe('rules', function () {
  this.timeout(900_000);
  after(() => {
    over.abort();
    return sending;
  });

  /** The alerts of a rule, by its name. */
  async function alertsOf(name: string): Promise<readonly ShownAlert[]> {
    const { items } = (await instance.call('GET', of('/alerts?state=all'), undefined, own())).body as Page;
    return items.filter(({ evidence }) => (evidence['rule'] as { readonly name?: string } | undefined)?.name === name);
  }
  const alerts = (): Promise<readonly ShownAlert[]> => alertsOf('failed payments');

  it('made through the API fire on the entries that come, with evidence, and are resolved when they are deleted', async () => {
    const { count } = await made;
    expect(count.status).to.equal(201);
    const rule = count.body as { readonly id: string };
    const items = await until('the alert', alerts, (found) => found.length > 0);
    const [alert] = items;
    expect(alert).to.include({ detector_type: 'rule', severity: 'critical', state: 'firing', stream: '{service="checkout"}' });
    expect(alert?.title).to.match(
      /^Entries with status:>=500 of checkout rose to [\d,]+, rule 'failed payments' fires at or above 20(; most are `POST <PATH> <N>`)?$/,
    );
    expect(alert?.evidence['rule']).to.include({ id: rule.id, name: 'failed payments', if: 'value >= 20' });
    expect(alert?.evidence).to.include.keys('current_value', 'threshold', 'window', 'series', 'links', 'entries');
    const explained = await until('why', alerts, (found) => 'sample_messages' in (found[0]?.evidence ?? {}));
    expect(explained[0]?.evidence['sample_messages']).to.deep.equal(['POST /pay 503']);
    expect((await instance.call('DELETE', of(`/rules/${rule.id}`), undefined, own())).status).to.equal(204);
    const ended = await until('its end', alerts, (found) => found[0]?.state === 'resolved');
    expect(ended.map(({ state, resolution_note }) => [state, resolution_note])).to.deep.equal([['resolved', 'auto: the rule was deleted']]);
  });

  it("that a detector of one's own watches fire as it says, and end with it", async () => {
    const { mean } = await made;
    expect([mean.status, (mean.body as { readonly detector: object }).detector]).to.deep.equal([201, { name: 'above_fifty', state: 'on', since: null, reason: null }]); // prettier-ignore
    const refused = await watched('nobody');
    expect([refused.status, (refused.body as { readonly detail: string }).detail]).to.deep.equal([
      400,
      'No detector "nobody" takes values; those that do: anomaly, above_fifty.',
    ]);
    const slow = (): Promise<readonly ShownAlert[]> => alertsOf('slow payments');
    const [alert] = await until('the alert', slow, (found) => found.length > 0, 300_000);
    expect(alert).to.include({ detector_type: 'rule', state: 'firing', stream: '{service="checkout"}', severity: 'warning' });
    expect(alert?.title).to.match(/^Mean duration_ms of checkout rose to 910, expected 0 to 50, rule 'slow payments'/);
    expect(alert?.evidence).to.deep.include({ current_value: 909.5, baseline_mean: 20, expected: { low: 0, high: 50 }, group: { service: 'checkout' } }); // prettier-ignore
    expect(alert?.evidence['rule']).to.include({ if: 'above_fifty up' });

    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const switched = await instance.call(
      'POST',
      `${instance.admin}/admin/detectors/above_fifty/off`,
      {},
      { Authorization: `Bearer ${token}` },
    );
    expect(switched.status).to.equal(200);
    const ended = await until('its end', slow, (all) => all.every(({ state }) => state === 'resolved'));
    expect(ended.map(({ id, resolution_note }) => [id, resolution_note])).to.deep.equal([[alert?.id, 'auto: the detector is off']]);
    const { items } = (await instance.call('GET', of('/rules'), undefined, own())).body as {
      readonly items: readonly { readonly detector: object }[];
    };
    expect(items).to.have.length(1);
    expect(items[0]?.detector).to.include({ name: 'above_fifty', state: 'off', reason: 'switched off by hand' });
  });
});
