import { expect } from 'chai';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { startAlertmanager, type ManagedAlert, type RunningAlertmanager } from '../alertmanager.ts';
import { until, type Instance } from '../instance.ts';
import { isSigned } from '../../../pipeline/alerting/announcements/signature.ts';
import { startReceiver, type Receiver, type Received } from '../receiver.ts';
import { newTenant, sharedInstance, shareWith } from '../shared.ts';

const MINUTE_MS = 60_000;
/** A past that says what is usual: longer than what is learned before anything is said. */
const PAST = 5 * 60;
const STREAM = '{service="checkout"}';

type Entry = { readonly _time: string; readonly _msg: string; readonly service: string; readonly level: string; readonly version: string };
type Page = { readonly items: readonly ShownAlert[]; readonly total: number };

let alertmanager: RunningAlertmanager | null = null;
shareWith(async () => {
  alertmanager = await startAlertmanager();
  return {
    LOGWEIR_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    ...(alertmanager === null ? {} : { LOGWEIR_ALERTMANAGER_URL: alertmanager.url }),
  };
});
after(() => alertmanager?.stop());

/** Whose page the errors are of, as the recorder sends them (docs/replay.md). */
const SESSION = 'session-of-ada';

/** A detector that other files of the instance try: on a slow machine it fires here, too. */
const OF_OTHERS = 'above_fifty';

describe('alerts that nobody configured', function () {
  this.timeout(900_000);
  let instance: Instance;
  let receiver: Receiver;
  let tenant: { readonly id: number; readonly key: string };

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    receiver = await startReceiver();
  });
  after(() => {
    receiver.stop();
  });

  const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });

  async function send(entries: readonly Entry[]): Promise<void> {
    for (let from = 0; from < entries.length; from += 2000) {
      const lines = entries.slice(from, from + 2000).map((entry) => JSON.stringify(entry));
      const response = await fetch(`${instance.app}/api/v1/ingest`, { method: 'POST', headers: { ...own(), 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') }); // prettier-ignore
      expect(response.status).to.be.within(200, 299);
    }
  }

  async function alerts(more = ''): Promise<Page> {
    const { status, body } = await instance.call(
      'GET',
      `${instance.app}/api/v1/tenants/${String(tenant.id)}/alerts${more}`,
      undefined,
      own(),
    );
    expect(status).to.equal(200);
    const page = body as Page;
    const items = page.items.filter(({ detector_type }) => detector_type !== OF_OTHERS);
    return { ...page, items, total: page.total - (page.items.length - items.length) };
  }

  /** What the Alertmanager has of the tenant; null where there is none. */
  const told = async (): Promise<readonly ManagedAlert[] | null> =>
    (await alertmanager?.alerts())?.filter(({ labels }) => labels['tenant'] === String(tenant.id) && labels['detector'] !== OF_OTHERS) ??
    null;

  /** Entries of a stream in the minute that holds this moment, as many of them errors as is said. */
  const minuteOf = (ms: number, count: number, errors: number): Entry[] =>
    Array.from({ length: count }, (_none, index) => ({
      ...{ _time: new Date(Math.floor(ms / MINUTE_MS) * MINUTE_MS + ((index * 997) % 50_000)).toISOString(), service: 'checkout' },
      ...(index < errors
        ? { _msg: `payment declined code ${String(index)}`, level: 'error', version: '2.0', session_id: SESSION }
        : { _msg: `order ${String(index)} placed`, level: 'info', version: '1.0' }),
    }));

  async function kill(role = 'processors'): Promise<void> {
    const { pid } = instance.processes().get(role) ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    await until(
      'another process',
      () => Promise.resolve(instance.processes().get(role)?.pid ?? pid),
      (found) => found !== pid,
    );
  }

  it('fire where a stream leaves its own past, once each, with evidence, though who finds them is killed; and end when somebody says so', async () => {
    const hooks = `${instance.app}/api/v1/tenants/${String(tenant.id)}/webhooks`;
    const made = await instance.call('POST', hooks, { url: receiver.url, detectors: ['error_rate'] }, own());
    const { secret } = made.body as { readonly secret: string };
    const now = Date.now();
    const past = Array.from({ length: PAST }, (_none, index) =>
      minuteOf(now - (PAST - index) * MINUTE_MS, 18 + ((index * 7) % 9), index % 3 === 0 ? 1 : 0),
    );
    await send(past.flat());
    let rounds = 0;
    const isBoth = ({ items }: Page): boolean =>
      ['error_rate', 'log_rate'].every((name) => items.some(({ detector_type }) => detector_type === name));
    const page = await until(
      'both alerts',
      async () => {
        // this minute and the one before it: many errors
        for (const ago of [MINUTE_MS, 0]) await send(minuteOf(Date.now() - ago, 200, 190));
        if (rounds++ === 1) await kill();
        return alerts();
      },
      isBoth,
    );

    // nothing of the past, which is told at once, and nothing twice
    expect(page.total).to.equal(2);
    for (const alert of page.items) {
      expect(alert).to.include({ stream: STREAM, state: 'firing' });
      expect(alert.evidence).to.include.keys('z_score', 'current_value', 'baseline_mean', 'expected', 'window', 'links');
    }
    expect(new Set(page.items.map(({ incident_id }) => incident_id)).size, 'one incident').to.equal(1);
    const errors = page.items.find(({ detector_type }) => detector_type === 'error_rate') as ShownAlert;
    expect(errors.title).to.match(/^Errors of checkout rose to [\d,]+ a minute, expected 0 to [\d.]+(; |$)/);

    // what has changed is found by queries, beside the fold
    const explained = await until('why', () => alerts(), ({ items }) => items.every(({ evidence }) => 'why' in evidence)); // prettier-ignore
    for (const { detector_type, title, evidence, description } of explained.items) {
      expect((evidence['why'] as { readonly field: string }[]).map(({ field }) => field)).to.include('version');
      expect((evidence['sample_messages'] as string[]).filter((text) => text.startsWith('payment declined')).length).to.equal(1);
      expect(evidence['sessions']).to.deep.equal([SESSION]);
      // of all entries it depends on when it was looked at; of errors it is plain
      if (detector_type === 'error_rate') expect(title).to.match(/; most are `payment declined code <N>`$/);
      expect(description).to.match(/ What has changed most: .*version 2\.0 \(\d+ %, usually \d+ %\)/);
    }

    // outwards, with why they have come
    const managed = await until('what the Alertmanager has', told, (all) => all === null || (all.length === 2 && all.every(({ annotations }) => annotations['description']?.includes('What has changed most'))) ); // prettier-ignore
    if (managed !== null) expectManaged(managed, explained.items, tenant.id);

    // the webhook did not answer so far: what it is to be told waits, though who sends it is killed
    await until('the first attempt', () => Promise.resolve(receiver.got.length), (count) => count > 0); // prettier-ignore
    await kill('app');
    receiver.status = 200;
    const [fired] = await until('what it is told', () => Promise.resolve(receiver.taken), (taken) => taken.length > 0); // prettier-ignore
    expect(isSigned(secret, fired?.body ?? '', fired?.signature ?? '', Date.now() / 1000)).to.equal(true);
    expect(new Set(receiver.got.map(({ id }) => id)).size, 'the same id each time').to.equal(1);
    expectTold(fired, 'fired', errors);

    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/alerts/${String(errors.id)}/resolve`;
    // an alert is looked up before it is resolved: on a busy machine that may take too long, and nothing was done
    const { status, body } = await until('the answer', () => instance.call('POST', url, { note: 'the bank is down' }, own()), (answer) => ![503, 504].includes(answer.status)); // prettier-ignore
    expect([status, (body as ShownAlert).state, (body as ShownAlert).resolution_note]).to.deep.equal([200, 'resolved', 'the bank is down']);
    // whoever was killed may have been answered without knowing it: a delivery comes at least once, each time with its id
    const next = (): Received[] => receiver.taken.filter(({ id }) => id !== fired?.id);
    const [resolved] = await until('its resolution at the webhook', () => Promise.resolve(next()), (taken) => taken.length > 0); // prettier-ignore
    expectTold(resolved, 'resolved', errors);
    await until('its resolution', told, (all) => all === null || all.length === 1); // prettier-ignore
    await kill();
    await until('the next findings', async () => {
      await send(minuteOf(Date.now(), 100, 90));
      return alerts();
    }, ({ items }) => items.some(({ detector_type, fire_count }) => detector_type === 'log_rate' && fire_count > (page.items.find((one) => one.detector_type === 'log_rate')?.fire_count ?? 0))); // prettier-ignore
    expect((await alerts()).items.map(({ detector_type, state }) => [detector_type, state]).sort()).to.deep.equal([
      ['error_rate', 'resolved'],
      ['log_rate', 'firing'],
    ]);
  });
});

/** What an Alertmanager has of these alerts. */
function expectManaged(managed: readonly ManagedAlert[], items: readonly ShownAlert[], tenantId: number): void {
  for (const { labels, annotations, startsAt, status } of managed) {
    const own = items.find(({ detector_type }) => detector_type === labels['detector']) as ShownAlert;
    expect(labels).to.deep.equal({
      ...{ alertname: own.detector_type, detector: own.detector_type, tenant: String(tenantId), severity: own.severity },
      ...{ service: 'checkout', stream: STREAM },
    });
    expect(annotations).to.include({ alert_id: String(own.id) });
    expect(annotations['summary']).to.match(/ of checkout rose to [\d,]+ a minute, expected /);
    expect([Date.parse(startsAt), status.state]).to.deep.equal([Date.parse(own.fired_at), 'active']);
  }
}

/** What a webhook is told of an alert. */
function expectTold(received: Received | undefined, type: string, alert: ShownAlert): void {
  const { alert: told, ...rest } = JSON.parse(received?.body ?? '{}') as { readonly alert: ShownAlert };
  expect(rest).to.deep.include({ type, delivery_id: received?.id });
  expect(told).to.include({ id: alert.id, detector_type: 'error_rate', stream: STREAM, fired_at: alert.fired_at });
  // with why it has come, where that was found within ten seconds: a busy machine may take longer
  if (type === 'fired') expect(told.description).to.match(/^Errors of /);
  else expect(told).to.include({ state: 'resolved', resolution_note: 'the bank is down' });
}
