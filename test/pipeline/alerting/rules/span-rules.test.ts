import { expect } from 'chai';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { PlainSpan } from '../../../fakes/span-rows.ts';
import { evidenceOf, MINUTE_MS, ruleOf, RuleWorld, START } from './rule-world.ts';

const minutes = (count: number): number => count * MINUTE_MS;
const states = (rows: readonly AlertRow[]): string[] => rows.map(({ state, fireCount }) => `${state} ${String(fireCount)}`);

let ids = 1;
/** Spans of a server, each of a trace of its own. */
const many = (count: number, more: Partial<PlainSpan> = {}): PlainSpan[] =>
  Array.from({ length: count }, () => ({ id: ids, trace: ids++, service: 'cart', name: 'GET /cart', kind: 2, ...more }));
const traceOf = (trace: number): string => trace.toString(16).padStart(32, '0');

const failing = ruleOf({
  signal: 'spans',
  query: 'status:error kind:server | stats by (service) count()',
  if: 'value > 5',
  name: 'failing',
});

describe('rules over spans', () => {
  it('fire for a group, with its slowest and its failing traces, and are resolved when it is quiet', () => {
    const world = new RuleWorld({ hasSpans: true });
    world.set(failing);
    world.sendSpans({ at: minutes(2) + 5000, spans: [...many(4, { isError: true }), ...many(30)] });
    world.sendSpans({ at: minutes(2) + 6000, spans: many(1, { isError: true, trace: 77, duration: 900_000_000n }), partition: 1 });
    world.sendSpans({ at: minutes(2) + 6000, spans: many(2, { isError: true, trace: 78, duration: 2000n }), partition: 1 });
    world.restart();
    world.tick(minutes(2) + 10_000);
    const [alert] = world.alerts;
    expect(alert).to.include({ tenantId: 1, detector: 'rule', stream: '{service="cart"}', service: 'cart', state: 'firing', fireCount: 1 });
    expect(alert?.title).to.equal("Spans of cart rose to 7, rule 'failing' fires above 5");
    const evidence = evidenceOf(alert as AlertRow);
    expect(evidence).to.deep.include({ current_value: 7, threshold: 5, spans: 7, group: { service: 'cart' } });
    expect(evidence['rule']).to.include({ signal: 'spans' });
    expect((evidence['slow_traces'] as object[])[0]).to.deep.equal({ trace_id: traceOf(77), duration_ms: 900 });
    expect(evidence['failing_traces']).to.deep.include({ trace_id: traceOf(78) });
    expect(evidence['links']).to.deep.include({ query: 'status:error kind:server service:=cart' });
    expect((evidence['links'] as { traces: string }).traces).to.match(/^\/traces\?service=cart&start=2026/);
    world.restart();
    world.ticks(minutes(3) + 10_000, minutes(12));
    expect(states(world.alerts)).to.deep.equal(['resolved 1']);
  });

  it('are told apart from rules over the log, whatever comes of each', () => {
    const world = new RuleWorld({ hasSpans: true });
    world.set(failing);
    world.set(ruleOf({ id: 'ru_2', query: '* | stats count()', if: 'value > 5', name: 'entries' }), { slot: 2 });
    world.send({ at: minutes(1) + 5000, entries: Array.from({ length: 9 }, () => ({ status: 'error', kind: 'server', service: 'cart' })) });
    world.tick(minutes(1) + 10_000);
    expect(world.alerts.map(({ title }) => title)).to.deep.equal(["Entries rose to 9, rule 'entries' fires above 5"]);
    world.sendSpans({ at: minutes(1) + 15_000, spans: many(8, { isError: true }) });
    world.tick(minutes(1) + 20_000);
    expect(world.alerts.map(({ title }) => title)).to.deep.equal([
      "Entries rose to 9, rule 'entries' fires above 5",
      "Spans of cart rose to 8, rule 'failing' fires above 5",
    ]);
  });

  it('watch a tenant that has entries and no spans, or no entries', () => {
    const world = new RuleWorld({ hasSpans: true });
    world.set(ruleOf({ signal: 'spans', query: '* | stats count()', if: 'value < 1', for: 3, name: 'no spans' }));
    world.set(ruleOf({ id: 'ru_2', query: '* | stats count()', if: 'value < 1', for: 3, name: 'no entries' }), { slot: 2 });
    for (let minute = 0; minute < 8; minute++) {
      world.send({ at: minutes(minute) + 1000, entries: [{}] });
      world.ticks(minutes(minute) + 10_000, minutes(minute) + 50_000);
    }
    expect(world.alerts.map(({ title }) => title)).to.deep.equal(["Spans fell to 0, rule 'no spans' fires below 1"]);
  });

  it('end what fires where a rule becomes one over the log', () => {
    const world = new RuleWorld({ hasSpans: true });
    world.set(failing);
    world.sendSpans({ at: minutes(1) + 5000, spans: many(9, { isError: true }) });
    world.tick(minutes(1) + 10_000);
    expect(states(world.alerts)).to.deep.equal(['firing 1']);
    world.set(ruleOf({ query: 'status:error kind:server | stats by (service) count()', if: 'value > 5', name: 'failing' }), { at: minutes(1) + 20_000, version: 2 }); // prettier-ignore
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([['resolved', 'auto: the rule was changed']]);
    world.sendSpans({ at: minutes(3) + 5000, spans: many(9, { isError: true }) });
    world.ticks(minutes(3) + 10_000, minutes(7));
    expect(states(world.alerts)).to.deep.equal(['resolved 1']);
  });

  it('say by a quantile of durations that they are slow', () => {
    const world = new RuleWorld({ hasSpans: true });
    world.set(
      ruleOf({ signal: 'spans', query: 'service:=cart kind:server | stats quantile(0.9, duration)', if: 'value > 300ms', name: 'slow' }),
    );
    world.sendSpans({ at: minutes(1) + 5000, spans: many(50, { duration: 500_000_000n }) });
    world.ticks(minutes(1) + 10_000, minutes(4));
    const [alert] = world.alerts;
    expect(alert).to.include({ service: 'cart', stream: '{}', state: 'firing' });
    expect((evidenceOf(alert as AlertRow)['current_value'] as number) / 5e8).to.be.within(0.99, 1.01);
  });
});

describe('recorded values of rules', () => {
  it('are samples at the end of each window, by group, the same after a restart', () => {
    const recorded = (isRestarted: boolean): RuleWorld => {
      const world = new RuleWorld({ hasSpans: true });
      world.set(ruleOf({ query: 'level:error | stats by (service, http.status) count()', if: null, record: 'errors:count1m' }));
      world.set(ruleOf({ id: 'ru_2', signal: 'spans', query: '* | stats avg(duration)', if: 'value > 1h', record: 'spans:avg' }), {
        slot: 2,
      });
      for (let minute = 1; minute < 4; minute++) {
        world.send({ at: minutes(minute) + 5000, entries: Array.from({ length: minute }, () => ({ level: 'error', service: 'web', 'http.status': 500 })) }); // prettier-ignore
        if (minute !== 2) world.sendSpans({ at: minutes(minute) + 6000, spans: many(2, { duration: BigInt(minute) * 1000n }) });
        if (isRestarted) world.restart();
        world.ticks(minutes(minute) + 10_000, minutes(minute) + 50_000);
      }
      world.ticks(minutes(4), minutes(6));
      return world;
    };
    const world = recorded(false);
    const shown = world.samples.map(({ labels, time, bits }) => [
      labels,
      (time - START) / MINUTE_MS,
      new Float64Array(BigUint64Array.of(bits).buffer)[0],
    ]);
    const errors = { __name__: 'errors:count1m', service: 'web', http_status: '500' };
    expect(shown.filter(([labels]) => 'service' in (labels as object))).to.deep.equal([[errors, 2, 1], [errors, 3, 2], [errors, 4, 3]]); // prettier-ignore
    const durations = { __name__: 'spans:avg' };
    // the window without a span has no value
    expect(shown.filter(([labels]) => !('service' in (labels as object)))).to.deep.equal([
      [durations, 2, 1000],
      [durations, 4, 3000],
    ]);
    expect(world.alerts).to.deep.equal([]);
    expect(recorded(true).samples).to.deep.equal(world.samples);
  });
});
