import { expect } from 'chai';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import { alertBook } from '../../../pipeline/alerting/book/alert-book.ts';
import { commandsInputOf } from '../../../pipeline/alerting/book/command.ts';
import { alertLayout } from '../../../pipeline/alerting/book/alert.ts';
import { spanAlerts } from '../../../pipeline/alerting/spans/span-alerts.ts';
import { hostedMerger, hostedProcessor } from '../../../pipeline/processors/merge/partials.ts';
import { partialInputOf } from '../../../pipeline/processors/merge/partials.ts';
import { spanRates, RATED } from '../../../pipeline/processors/spans/span-rates.ts';
import type { SpanInput } from '../../../pipeline/processors/spans/span-input.ts';
import { spanBatch, type PlainSpan } from '../../fakes/span-rows.ts';
import { Random } from '../../fuzz/random.ts';

const MINUTE_MS = 60_000;
const START_MS = Math.floor(1_795_000_000_000 / MINUTE_MS) * MINUTE_MS;
const HOURS = 5;

type Shown = {
  readonly detector: string;
  readonly state: string;
  readonly stream: string;
  readonly service: string;
  readonly title: string;
  readonly evidence: string;
};
/** What comes of an operation in a minute, after so many minutes. */
type Traffic = (minute: number, operation: string) => { readonly requests: number; readonly errors: number; readonly ms: number };

/** The spans of a minute: as many as `traffic` says, of two operations of one service, and of its clients. */
function spansOf(minute: number, traffic: Traffic, random: Random): PlainSpan[] {
  return ['GET /cart', 'POST /cart'].flatMap((name, index) => {
    const { requests, errors, ms } = traffic(minute, name);
    return Array.from({ length: requests }, (_none, number): PlainSpan => ({
      ...{ trace: minute * 1000 + index * 500 + number, id: 1, service: 'cart', name, kind: 2, isError: number < errors },
      time: BigInt(START_MS + minute * MINUTE_MS + random.below(MINUTE_MS)) * 1_000_000n,
      duration: BigInt(Math.round(ms * (0.8 + random.below(400) / 1000) * 1e6)),
    }));
  });
}

/** The alerts, as they are published last, of what comes in two partitions; `cut`: all is restored from snapshots after so many minutes. */
function alertsOf(traffic: Traffic, minutes: number, cut = -1): Shown[] {
  const random = new Random(5);
  const rates = hostedProcessor(spanRates);
  let sources = [rates.init(), rates.init()];
  const merger = hostedMerger(spanAlerts);
  let merged = merger.init();
  const book = alertBook.init();
  const alerts = new Map<string, Shown>();
  let [partials, commands] = [0, 0];
  const messageOf = ({ value, headers }: AbsoluteRecord, offset: number, at: number): KafkaMessage =>
    ({ value, headers, offset: String(offset), timestamp: String(at) }) as unknown as KafkaMessage;
  const publish = (records: readonly AbsoluteRecord[], at: number): void => {
    for (const record of records.filter(({ topic }) => topic === 'partials.v1'))
      for (const command of merger.fold(merged, partialInputOf(0, messageOf(record, partials++, at))))
        for (const alert of alertBook.fold(book, commandsInputOf(0, messageOf(command, commands++, at)))) {
          const rows = alertLayout.read(alert.value, Number((alert.headers as Record<string, string>)['count']));
          if (typeof rows === 'string') throw new Error(rows);
          for (const row of rows) alerts.set(`${String(row.id)}/${String(row.part)}`, row);
        }
  };
  for (let minute = 0; minute < minutes; minute++) {
    const spans = spansOf(minute, traffic, random);
    for (let part = 0; part < 6; part++) {
      const at = START_MS + minute * MINUTE_MS + (part + 1) * 10_000;
      sources.forEach((state, partition) => {
        const own = spans.filter((_span, index) => index % 6 === part && index % 2 === partition);
        const position = { partition, offset: minute * 6 + part, appendedAt: at };
        const input: SpanInput = own.length === 0 ? { kind: 'tick', ...position } : spanBatch(own, { ...position, retentionDays: 0 });
        publish(rates.fold(state, input), at);
      });
    }
    if (minute !== cut) continue;
    sources = sources.map((state) => rates.restore(Buffer.from(rates.snapshot(state))));
    merged = merger.restore(Buffer.from(merger.snapshot(merged))) as typeof merged;
    expect(merged).to.not.equal(null);
  }
  return [...alerts.values()];
}

const calm = { requests: 60, errors: 1, ms: 20 };
const END = HOURS * 60;

describe('alerts of requests', function () {
  this.timeout(300_000);

  it('do not fire while nothing changes', () => {
    expect(alertsOf(() => calm, END)).to.deep.equal([]);
  });

  it('fire for errors, with traces that failed, and are the same from any snapshot on', () => {
    const traffic: Traffic = (minute, operation) => (minute >= END && operation === 'GET /cart' ? { ...calm, errors: 40 } : calm);
    const found = alertsOf(traffic, END + 8);
    expect(found.map(({ detector, state, service }) => [detector, state, service])).to.deep.equal([['error_rate', 'firing', 'cart']]);
    const evidence = JSON.parse(found[0]?.evidence ?? '') as { readonly failing_traces: { readonly trace_id: string }[]; readonly links: { readonly traces: string } }; // prettier-ignore
    expect(evidence.failing_traces.length).to.be.within(1, 5);
    for (const { trace_id: trace } of evidence.failing_traces) expect(Math.floor(parseInt(trace.slice(-8), 16) / 1000)).to.be.at.least(END);
    expect(evidence.links.traces).to.match(/^\/traces\?service=cart&.*status=error/);
    for (const cut of [100, END, END + 3]) expect(alertsOf(traffic, END + 8, cut)).to.deep.equal(found);
  });

  it('fire for durations of an operation alone, with its slowest traces', () => {
    const traffic: Traffic = (minute, operation) => (minute >= END && operation === 'POST /cart' ? { ...calm, ms: 400 } : calm);
    const found = alertsOf(traffic, END + 15);
    expect(found.map(({ detector, state }) => [detector, state])).to.deep.include(['duration_p95', 'firing']);
    const evidence = found.map((one) => JSON.parse(one.evidence) as { readonly slow_traces: { readonly duration_ms: number }[] });
    expect(evidence.every(({ slow_traces: traces }) => traces.length > 0 && (traces[0]?.duration_ms ?? 0) > 350)).to.equal(true);
    expect(found.every(({ title }) => / ms, expected /.test(title))).to.equal(true);
  });

  it('fire for requests of a service as one, and end', () => {
    const traffic: Traffic = (minute) => (minute >= END && minute < END + 10 ? { ...calm, requests: 400, errors: 7 } : calm);
    const found = alertsOf(traffic, END + 40);
    expect(found.filter(({ detector }) => detector === 'request_rate').map(({ stream, state }) => [stream, state])).to.deep.equal([
      ['{service="cart"}', 'resolved'],
    ]);
  });

  it('are bounded in what they count', () => {
    const state = spanRates.init();
    for (let record = 0; record < 3; record++) {
      const spans = Array.from({ length: 2000 }, (_none, index): PlainSpan => ({ id: 1, trace: index, service: `s${String(record)} ${String(index)}`, kind: 2, time: BigInt(START_MS) * 1_000_000n })); // prettier-ignore
      spanRates.fold(state, spanBatch(spans, { offset: record, appendedAt: START_MS + 1 }));
    }
    expect(state.tenants.get(1)?.rated.size).to.equal(RATED.ofTenant + 1);
    const total = [...(state.tenants.get(1)?.rated.values() ?? [])].reduce((sum, { spans }) => sum + spans, 0);
    expect(total).to.equal(6000);
  });
});
