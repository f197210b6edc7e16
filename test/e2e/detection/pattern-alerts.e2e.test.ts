import { expect } from 'chai';
import { pino } from 'pino';
import { embeddedEngines } from '../../../main/engines.ts';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { AbsoluteWriter } from '../../../pipeline/bus/producer/absolute-record.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { MessagePatterns } from '../../../pipeline/clusterer/message-patterns.ts';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { partialRecord } from '../../../pipeline/processors/merge/partials.ts';
import { encodeSeen } from '../../../pipeline/processors/patterns/patterns-partial.ts';
import { isWhole } from '../../extent.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance } from '../shared.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Minutes of past: longer than a template is learned. Behind them it rises. */
const PAST = 1640;
const RISING = 8;
/** No partition of the log has this number. */
const NO_PARTITION = 60_000;

type Entry = { readonly _time: string; readonly _msg: string; readonly service: string; readonly level: string };
type Page = { readonly items: readonly ShownAlert[]; readonly total: number };

/** Tells `clusters` that an entry of a tenant's service came more than a day ago, by append time, as a partition of the log would have. */
async function tellPast(instance: Instance, tenantId: number, service: string, ago: number): Promise<void> {
  const { kafka } = loadConfig({ ...instance.env, ...embeddedEngines(instance.env) });
  const writer = new AbsoluteWriter(createKafka({ ...kafka, clientId: 'test', log: pino({ level: 'silent' }) }));
  const [message, messages] = [Buffer.from('ready'), new MessagePatterns()];
  messages.read(message, 0, message.length);
  const at = Date.now() - ago;
  const [value] = encodeSeen([{ high: messages.high, low: messages.low, severity: 3, first: at, message: 'ready', stream: `{service="${service}"}` }]); // prettier-ignore
  const source = { partition: NO_PARTITION, offset: 0, number: 0, appendedAt: at };
  await writer.write([partialRecord('patterns', source, { kind: 'partial', tenantId, retentionDays: 30, value: value as Buffer })]);
  await writer.close();
}

describe('alerts of error patterns', function () {
  this.timeout(900_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  const at = (path: string): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}${path}`;
  const entry = (ms: number, _msg: string, level = 'error'): Entry => ({ _time: new Date(ms).toISOString(), _msg, service: 'checkout', level }); // prettier-ignore

  async function send(entries: readonly Entry[]): Promise<void> {
    for (let from = 0; from < entries.length; from += 5000) {
      const body = entries.slice(from, from + 5000).map((one) => JSON.stringify(one)).join('\n'); // prettier-ignore
      const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, body, { ...own(), 'Content-Type': 'application/x-ndjson' }); // prettier-ignore
      expect(status).to.be.within(200, 299);
    }
  }

  const alerts = async (): Promise<Page> => (await instance.call('GET', at('/alerts'), undefined, own())).body as Page;
  const templates = async (): Promise<readonly string[]> => {
    const { body } = await instance.call('GET', at('/patterns?since=-3d'), undefined, own());
    return (body as { readonly patterns: readonly { readonly normalized_message: string }[] }).patterns.map((one) => one.normalized_message); // prettier-ignore
  };

  async function kill(): Promise<void> {
    const { pid } = instance.processes().get('processors') ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    await until('another process', () => Promise.resolve(instance.processes().get('processors')?.pid ?? pid), (found) => found !== pid); // prettier-ignore
  }

  it('fire once each though who finds them is killed: one that is new, and one that is far more frequent than it was', async () => {
    await tellPast(instance, tenant.id, 'checkout', 25 * HOUR_MS);
    const begin = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - (PAST + RISING) * MINUTE_MS;
    // many errors, and of one template few, until it rises: much for it, and little beside the others
    const minutes = Array.from({ length: PAST + RISING }, (_none, index) => {
      const declined = index >= PAST ? 10 : index % 3 === 0 ? 1 : 0;
      const time = begin + index * MINUTE_MS;
      return [
        ...Array.from({ length: 27 + (index % 7) }, (_one, number) => entry(time + number, `cannot reach inventory of ${String(number)}`)),
        ...Array.from({ length: declined }, (_one, number) => entry(time + 50 + number, `payment declined code ${String(number)}`)),
      ];
    });
    await send(minutes.slice(0, 30).flat());
    const known = ['cannot reach inventory of <N>', 'payment declined code <N>'];
    await until('what is usual is known', templates, (found) => known.every((template) => found.includes(template)));
    await send(minutes.slice(30).flat());
    await kill();
    await send([entry(Date.now(), 'disk of inventory is full')]);

    let rounds = 0;
    const both = await until(
      'both alerts',
      async () => {
        if (rounds++ % 10 === 0) await send([entry(Date.now(), 'order placed', 'info')]);
        return alerts();
      },
      ({ items }) => ['new_pattern', 'pattern_rate'].every((name) => items.some(({ detector_type }) => detector_type === name)),
    );
    expect(both.items.map(({ detector_type, stream }) => [detector_type, stream]).sort()).to.deep.equal([
      ['new_pattern', '{service="checkout"}'],
      ['pattern_rate', '{service="checkout"}'],
    ]);
    const titles = both.items.map(({ title }) => title).sort();
    expect(titles[0]).to.match(/^Errors "payment declined code <N>" of checkout rose to [\d.]+ a minute, expected [\d.]+ to [\d.]+$/);
    expect(titles[1]).to.equal('New error of checkout: disk of inventory is full');
    const rise = both.items.find(({ detector_type }) => detector_type === 'pattern_rate') as ShownAlert;
    const { query, start, end } = rise.evidence['links'] as Readonly<Record<'query' | 'start' | 'end', string>>;
    const { body } = await instance.call('POST', at('/search'), { query, start, end, limit: 1 }, own());
    expect((body as { logs: { _msg: string }[] }).logs[0]?._msg).to.match(/^payment declined code \d$/);

    if (isWhole) await kill();
    await send([entry(Date.now(), 'disk of inventory is full'), entry(Date.now(), 'queue of inventory is full')]);
    const more = await until('another new one', alerts, ({ items }) => items.some(({ title }) => title.includes('queue of inventory')));
    expect(more.items.map(({ detector_type }) => detector_type).sort()).to.deep.equal(['new_pattern', 'new_pattern', 'pattern_rate']);
  });

  it('are set as those of other detectors', async () => {
    const rules = [{ detector: 'pattern_rate', stream: '{service="batch"}', sensitivity: 'off' }, { detector: 'new_pattern', sensitivity: 'low' }]; // prettier-ignore
    const { status, body } = await instance.call('PUT', at('/detectors'), { rules }, own());
    expect([status, (body as { rules: unknown }).rules]).to.deep.equal([200, rules]);
    const names = (body as { detectors: { name: string }[] }).detectors.map(({ name }) => name);
    expect(names).to.include.members(['pattern_rate', 'new_pattern']);
    const { stdout } = await runCli(instance, tenant, ['admin', 'detector', 'list', '--tenant', String(tenant.id)]);
    expect(stdout).to.match(/^pattern_rate +own .* off of \{service="batch"\}; normal /m);
    expect(stdout).to.match(/^new_pattern +own .* low /m);
  });
});
