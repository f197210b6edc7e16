import { expect } from 'chai';
import fc from 'fast-check';
import { AlertStates } from '../../../../pipeline/alerting/metrics/alert-states.ts';
import {
  METRIC_EVALUATIONS,
  evaluatedText,
  readEvaluated,
  seriesText,
  type TraceExemplar,
} from '../../../../pipeline/alerting/metrics/evaluated.ts';
import { dueTime } from '../../../../pipeline/alerting/metrics/evaluations.ts';
import { createMetricRules } from '../../../../pipeline/alerting/metrics/metric-rules.ts';
import { partialRecord, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { extent } from '../../../extent.ts';
import { alertRule, MetricWorld, recordRule, seriesKey, START, type Answer } from './metric-world.ts';

const at = (time: number): number => (time - START) / 1000;
const HIGH = { alertname: 'High', instance: 'a', severity: 'critical' };
const state = (world: MetricWorld, rule: string): Record<string, unknown> =>
  JSON.parse(world.states.get(rule)?.state ?? '{}') as Record<string, unknown>;

/** High from 60 s to 240 s. */
const high: Answer = (_rule, time) => (at(time) >= 60 && at(time) < 240 ? [[{ instance: 'a' }, 7]] : []);

describe('alert rules over metrics', () => {
  it('are pending, fire after their time, and end, as Prometheus has it', async () => {
    const world = new MetricWorld(high);
    world.set(1, alertRule());
    await world.pass(110);
    expect(state(world, 'mr_1')).to.deep.include({ health: 'ok', error: null });
    expect((state(world, 'mr_1')['alerts'] as { state: string }[]).map((one) => one.state)).to.deep.equal(['pending']);
    expect(world.alerts).to.deep.equal([]);
    await world.pass(60);
    const [alert] = world.alerts;
    expect(alert).to.include({ detector: 'rule', severity: 'critical', state: 'firing', title: 'Load is high', retentionDays: 14 });
    expect(alert?.stream).to.equal('{instance="a",severity="critical"}');
    expect(JSON.parse(alert?.evidence ?? '')).to.deep.include({ current_value: 7, active_at: '2026-11-28T00:01:00Z', labels: HIGH });
    await world.pass(120);
    expect(world.alerts.map((one) => [one.state, one.note])).to.deep.equal([['resolved', 'auto: back within baseline']]);
    // pending for two evaluations, and a marker where it is another series
    expect(world.valuesOf(seriesKey({ ...HIGH, __name__: 'ALERTS', alertstate: 'pending' }))).to.deep.equal([[60, 1], [90, 1], [120, null]]); // prettier-ignore
    expect(world.valuesOf(seriesKey({ ...HIGH, __name__: 'ALERTS', alertstate: 'firing' }))).to.deep.equal([[120, 1], [150, 1], [180, 1], [210, 1], [240, null]]); // prettier-ignore
    expect(world.valuesOf(seriesKey({ ...HIGH, __name__: 'ALERTS_FOR_STATE' })).slice(0, 2)).to.deep.equal([[60, START / 1000 + 60], [90, START / 1000 + 60]]); // prettier-ignore
  });

  it('go on for keep_firing_for, and do not end while they cannot be evaluated', async () => {
    const world = new MetricWorld((rule, time) => (at(time) === 270 ? 'too many samples' : high(rule, time)));
    world.set(1, alertRule({ for: '0s', keep_firing_for: '2m' }));
    await world.pass(290);
    expect(state(world, 'mr_1')).to.deep.include({ health: 'err', error: 'too many samples' });
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['firing']);
    await world.pass(60);
    expect(state(world, 'mr_1')).to.deep.include({ health: 'ok', error: null });
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['firing']);
    await world.pass(60);
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['resolved']);
  });

  it('show what leads to traces: the exemplars of the last evaluation that found some, after a kill too', async () => {
    const exemplar = (digit: string, value: string): TraceExemplar => ({ trace: digit.repeat(32), span: '', value, time: START + 59_000, metric: 'load' }); // prettier-ignore
    const first = [{ ...exemplar('b', '0.25'), span: 'c'.repeat(16) }, exemplar('a', '+Inf')];
    const found = new Map([[60, first], [180, [exemplar('d', '7')]]]); // prettier-ignore
    const world = new MetricWorld((_rule, time) => (at(time) >= 60 ? [[{ instance: 'a' }, 7, found.get(at(time)) ?? []]] : []));
    world.set(1, alertRule({ for: '30s' }));
    await world.pass(75);
    world.save();
    world.kill();
    await world.pass(30);
    const shown = (): Record<string, unknown> => JSON.parse(world.alerts[0]?.evidence ?? '{}') as Record<string, unknown>;
    const time = '2026-11-28T00:00:59.000Z';
    expect(shown()['exemplars']).to.deep.equal([
      { trace_id: 'b'.repeat(32), span_id: 'c'.repeat(16), value: 0.25, time, metric: 'load', link: `/traces/${'b'.repeat(32)}` },
      { trace_id: 'a'.repeat(32), value: '+Inf', time, metric: 'load', link: `/traces/${'a'.repeat(32)}` },
    ]);
    expect(shown()['links'])
      .to.have.property('exemplars')
      .that.match(/^\/prometheus\/api\/v1\/query_exemplars\?query=load/);
    await world.pass(120);
    expect((shown()['exemplars'] as { trace_id: string }[]).map((one) => one.trace_id)).to.deep.equal(['d'.repeat(32)]);
  });

  it('read states and results of a release without exemplars, and pass over what are none', () => {
    const [labels, times] = [[['a', 'b']], { activeAt: 1, firedAt: 2, keptSince: null, fires: 1, reportedAt: 2 }];
    expect(AlertStates.from([[labels, [], '1', times]]).all[0]?.exemplars).to.deep.equal([]);
    const about = '{"slot":1,"version":1,"time":2,"took":0,"error":null}';
    const read = (more: string): unknown => readEvaluated(Buffer.from(`[${about},[[[],"1",[]${more}]]]`))?.series[0]?.exemplars;
    expect(read('')).to.deep.equal([]);
    expect(read(',{"x":1}')).to.deep.equal([]);
    expect(read(',[["t","s","1",-5,"m"],[1],null,["t","s","1",5,"m"]]')).to.deep.equal([{ trace: 't', span: 's', value: '1', time: 5, metric: 'm' }]); // prettier-ignore
    expect(read(`,[${Array.from({ length: 9 }, () => '["t","s","1",5,"m"]').join()}]`)).to.have.length(5);
  });

  it('forget what is pending and ends before its time', async () => {
    const world = new MetricWorld((_rule, time) => (at(time) % 120 === 0 ? [] : [[{ instance: 'a' }, 1]]));
    world.set(1, alertRule({ for: '2m' }));
    await world.pass(600);
    expect(world.alerts).to.deep.equal([]);
  });

  it('end what fires when they are changed or deleted, and go on where only words change', async () => {
    const always: Answer = () => [[{ instance: 'a' }, 7]];
    const world = new MetricWorld(always);
    world.set(1, alertRule());
    await world.pass(200);
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['firing']);
    world.set(1, alertRule({ annotations: { summary: 'Other words' } }), 2);
    await world.pass(100);
    expect(world.alerts.map((one) => [one.state, one.title])).to.deep.equal([['firing', 'Other words']]);
    world.set(1, alertRule({ expr: 'load > 5' }), 3);
    expect(world.alerts.map((one) => one.note)).to.deep.equal(['auto: the rule was changed']);
    await world.pass(150);
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['resolved', 'firing']);
    world.set(1, null, 4);
    expect(world.alerts.map((one) => one.note)).to.deep.equal(['auto: the rule was changed', 'auto: the rule was deleted']);
    const before = world.evaluated.length;
    await world.pass(100);
    expect(world.evaluated.length).to.equal(before);
  });
});

describe('rules over metrics of a tenant whose plan ends to have metrics', () => {
  /** Since the minute 1 for one series, and since the minute 9 for another one. */
  const two: Answer = ({ kind }, time) =>
    kind === 'record' ? [[{}, at(time)]] : [...(at(time) >= 60 ? ([[{ instance: 'a' }, 7]] as const) : []), ...(at(time) >= 270 ? ([[{ instance: 'b' }, 7]] as const) : [])]; // prettier-ignore

  it('end what fires, with the reason, forget what is pending, and go on when it has them again', async () => {
    const world = new MetricWorld(two);
    world.set(1, alertRule());
    world.set(2, recordRule());
    await world.pass(300);
    expect(world.alerts.map((one) => [one.stream, one.state])).to.deep.equal([['{instance="a",severity="critical"}', 'firing']]);
    const evaluated = world.evaluated.length;
    world.isOff = true;
    await world.pass(20);
    expect(world.alerts.map((one) => [one.state, one.note])).to.deep.equal([['resolved', 'auto: the plan has no metrics']]);
    expect(state(world, 'mr_1')).to.deep.include({ alerts: [], health: 'unknown', error: 'the plan of the tenant has no metrics' });
    expect(state(world, 'mr_2')).to.deep.include({ health: 'unknown' });
    expect(world.valuesOf(seriesKey({ __name__: 'load:max' })).at(-1)?.[1]).to.equal(null);
    for (const [instance, own] of [['a', 'firing'], ['b', 'pending']] as const)
      expect(world.valuesOf(seriesKey({ ...HIGH, instance, __name__: 'ALERTS', alertstate: own })).at(-1)?.[1]).to.equal(null); // prettier-ignore
    // what was evaluated before and comes late changes nothing
    const late = evaluatedText({ slot: 1, version: 1, time: START + 330_000, tookMs: 1, error: null }, seriesText([{ labels: [['alertname', 'High']], value: 1, annotations: [] }])); // prettier-ignore
    world.append(partialRecord(METRIC_EVALUATIONS, null, { tenantId: 1, retentionDays: 14, value: late }));
    world.save();
    world.kill();
    await world.pass(3600);
    expect([world.evaluated.length, world.alerts.length]).to.deep.equal([evaluated, 1]);
    world.isOff = false;
    await world.pass(200);
    // each waits for its time again, from then on: nothing is made up for
    const since = world.evaluated.slice(evaluated).map(([, time]) => at(time));
    expect(Math.min(...since)).to.be.within(3900, 3960);
    expect(world.alerts.map((one) => [one.stream, one.state])).to.have.deep.members([
      ['{instance="a",severity="critical"}', 'resolved'],
      ['{instance="a",severity="critical"}', 'firing'],
      ['{instance="b",severity="critical"}', 'firing'],
    ]);
    expect(state(world, 'mr_1')).to.deep.include({ health: 'ok', error: null });
  });

  it('do so once, whatever is killed, and of rules that were set meanwhile', async () => {
    const world = new MetricWorld(two);
    world.set(1, alertRule());
    await world.pass(200);
    world.isOff = true;
    for (let kills = 0; kills < 5; kills++) {
      world.kill();
      await world.pass(3);
    }
    expect(world.rows.filter((row) => row.state === 'resolved' && row.id === world.alerts[0]?.id && row.note !== 'auto: the plan has no metrics')).to.deep.equal([]); // prettier-ignore
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['resolved']);
    world.set(3, alertRule({ id: 'mr_9', for: '0s' }));
    await world.pass(100);
    expect(world.alerts).to.have.length(1);
    world.isOff = false;
    await world.pass(60);
    expect(world.alerts.filter((one) => one.state === 'firing' && one.evidence.includes('mr_9'))).to.have.length(2);
  });
});

describe('recording rules', () => {
  it('record each time once, with a marker where a series ends', async () => {
    const world = new MetricWorld((_rule, time) => [[{ job: 'x' }, at(time)], ...(at(time) < 100 ? ([[{ job: 'y' }, 1]] as const) : [])]);
    world.set(1, recordRule());
    await world.pass(200);
    expect(world.valuesOf(seriesKey({ __name__: 'load:max', job: 'x' }))).to.deep.equal([30, 60, 90, 120, 150, 180].map((time) => [time, time])); // prettier-ignore
    expect(world.valuesOf(seriesKey({ __name__: 'load:max', job: 'y' }))).to.deep.equal([[30, 1], [60, 1], [90, 1], [120, null]]); // prettier-ignore
  });

  it('make up for what an outage has kept from them, and try again what will pass', async () => {
    const world = new MetricWorld((_rule, time) => [[{}, at(time)]]);
    world.set(1, recordRule());
    await world.pass(100);
    world.outage = true;
    await world.pass(300);
    world.outage = false;
    await world.pass(60);
    const times = world.valuesOf(seriesKey({ __name__: 'load:max' })).map(([time]) => time);
    expect(times).to.deep.equal(Array.from({ length: 14 }, (_none, index) => 30 * (index + 1)));
  });

  it('try again twice what takes too long, and not again before it has succeeded', async () => {
    const world = new MetricWorld((_rule, time) => [[{}, at(time)]]);
    world.set(1, recordRule());
    world.slow = 2;
    await world.pass(100);
    const recorded = (): readonly number[] => world.valuesOf(seriesKey({ __name__: 'load:max' })).map(([time]) => time);
    expect(recorded()).to.deep.equal([30, 60, 90].slice(0, recorded().length)).and.to.have.length.above(1);
    world.slow = 4;
    await world.pass(40);
    // three tries of one time, and one of the next
    expect(state(world, 'mr_2')).to.deep.include({ health: 'err', error: 'it ran too long' });
    await world.pass(60);
    expect(state(world, 'mr_2')).to.deep.include({ health: 'ok', error: null });
  });

  it('take the first result for a time, whatever comes later for it', async () => {
    const world = new MetricWorld((_rule, time) => [[{}, at(time)]]);
    world.set(1, recordRule());
    await world.pass(100);
    const about = { slot: 1, version: 1, time: START + 60_000, tookMs: 1, error: null };
    const other = seriesText([{ labels: [['__name__', 'load:max']], value: 999, annotations: [] }]);
    world.append(partialRecord(METRIC_EVALUATIONS, null, { tenantId: 1, retentionDays: 14, value: evaluatedText(about, other) }));
    expect(world.valuesOf(seriesKey({ __name__: 'load:max' }))).to.deep.equal([[30, 30], [60, 60], [90, 90]].slice(0, world.valuesOf(seriesKey({ __name__: 'load:max' })).length)); // prettier-ignore
    expect([...world.samples.values()].flatMap((values) => [...values.values()])).to.not.include(999);
  });

  it('are not evaluated for a tenant whose records come to another partition', async () => {
    const world = new MetricWorld(high);
    world.set(1, recordRule(), 1, 2);
    await world.pass(100);
    expect(world.evaluated).to.deep.equal([]);
  });
});

describe('rules over metrics', () => {
  it('give the same whatever is killed: between evaluation and write, before a snapshot, and behind it', async () => {
    const wave: Answer = ({ kind }, time) => {
      const own = Math.floor(at(time) / 90) % 3;
      if (kind === 'record') return [[{ job: 'x' }, at(time)], ...(own === 1 ? ([[{ job: 'y' }, 2]] as const) : [])];
      return own === 0 ? [] : own === 1 ? [[{ instance: 'a' }, 5]] : [[{ instance: 'a' }, 6], [{ instance: 'b' }, 8]]; // prettier-ignore
    };
    const begin = (): MetricWorld => {
      const world = new MetricWorld(wave);
      world.set(1, alertRule({ for: '30s', keep_firing_for: '30s' }));
      world.set(2, recordRule());
      return world;
    };
    const shown = (world: MetricWorld): object => ({
      alerts: world.alerts.map(({ id, state: own, title, evidence, fireCount, note }) => ({ id, own, title, evidence: { ...(JSON.parse(evidence) as object), opened_at: '' }, fireCount, note })).sort((a, b) => a.id - b.id),
      samples: [...world.samples].map(([key, values]) => [key, [...values].sort(([a], [b]) => a - b)]).sort(),
      states: [...world.states].map(([rule, { state: own }]) => [rule, { ...(JSON.parse(own) as object), took_ms: 0 }]).sort(),
    }); // prettier-ignore
    const expected = begin();
    await expected.pass(900);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('kill', 'save', null, null, null), { minLength: 20, maxLength: 60 }), async (steps) => {
        const world = begin();
        let step = 0;
        await world.pass(900, () => {
          // the last minutes are left alone, so that what was killed is made up for
          const what = world.now < START + 700_000 && step % 3 === 0 ? steps[(step / 3) % steps.length] : null;
          step += 1;
          if (what === 'save') world.save();
          if (what === 'kill') world.kill();
        });
        expect(shown(world)).to.deep.equal(shown(expected));
      }),
      { numRuns: extent(6, 60) },
    );
  }).timeout(300_000);

  it('are due at multiples of their interval, and missed ones are made up for as far as they are bounded', () => {
    expect(dueTime(START, 30_000, START + 39_999)).to.equal(null);
    expect(dueTime(START, 30_000, START + 40_000)).to.equal(START + 30_000);
    expect(dueTime(START + 5000, 30_000, START + 300_000)).to.equal(START + 30_000);
    // of ten hours the last sixty times
    expect(dueTime(START, 30_000, START + 36_000_000)).to.equal(START + 36_000_000 - 60_000 + 30_000 - 59 * 30_000);
    expect(dueTime(START, 3_600_000, START + 36_000_000 + 10_000)).to.equal(START + 35 * 1_000_000 + 1_000_000 - 3_600_000);
  });

  it('restore no bytes that are none of their snapshots, and die of no record', async () => {
    const world = new MetricWorld(high);
    world.set(1, alertRule());
    await world.pass(200);
    const runner = { now: () => START, standingOf: () => null, evaluate: () => Promise.resolve(null) };
    const hosted = hostedMerger(createMetricRules(runner));
    const good = Buffer.from(hosted.snapshot(hosted.init()));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(), (bytes, where) => {
        const cut = good.subarray(0, where % good.length);
        for (const hostile of [Buffer.from(bytes), cut, Buffer.concat([cut, bytes])]) hosted.restore(hostile);
        world.append(partialRecord(METRIC_EVALUATIONS, null, { tenantId: 1, retentionDays: 0, value: Buffer.from(bytes) }));
      }),
    );
    for (const text of ['[]', '[{}]', '[{"slot":1},[]]', '[{"slot":1,"version":1,"time":1e99,"took":0,"error":null},[]]', '[{"slot":1,"version":1,"time":1900000000000,"took":0,"error":null},[[1]]]', 'null'])
      world.append(partialRecord(METRIC_EVALUATIONS, null, { tenantId: 1, retentionDays: 0, value: Buffer.from(text) })); // prettier-ignore
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['firing']);
  });

  it('hold no more than they may, whatever they give', async () => {
    let round = 0;
    const world = new MetricWorld(({ kind }) => {
      round += 1;
      return Array.from({ length: kind === 'alert' ? 100 : 500 }, (_none, index) => [
        { instance: `${String(round)}-${String(index)}-${'x'.repeat(kind === 'alert' ? 3000 : 700)}` },
        1,
      ]);
    });
    for (let slot = 1; slot <= 40; slot++) world.set(slot, slot % 2 === 0 ? alertRule({ id: `mr_a${String(slot)}`, for: '0s' }) : recordRule({ id: `mr_r${String(slot)}` })); // prettier-ignore
    await world.pass(300);
    expect(world.size).to.be.below(20 * 1024 * 1024);
    const errors = [...world.states.keys()].map((rule) => state(world, rule)['error']);
    expect(errors).to.include('the rules of the tenant hold as many alerts and series as they may');
  }).timeout(120_000);
});
