import { expect } from 'chai';
import fc from 'fast-check';
import { SeriesWatch } from '../../../../pipeline/alerting/metrics/series-watch.ts';
import { readMetricRule, type ReadMetricRule } from '../../../../pipeline/alerting/metrics/metric-rule.ts';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import { extent } from '../../../extent.ts';
import { MetricWorld, START, watchRule, type Answer } from './metric-world.ts';

const MINUTE = 60_000;
const minuteAt = (time: number): number => Math.round((time - START) / MINUTE);
/** Something near 10, without chance. */
const usual = (minute: number): number => 10 + ((minute * 7919) % 13) / 13;
const A = { instance: 'a', job: 'node' };
/** Three times as much from the minute 170 to 180. */
const peak: Answer = (_rule, time) => [[A, usual(minuteAt(time)) * (minuteAt(time) >= 170 && minuteAt(time) < 180 ? 3 : 1)]];

const evidenceOf = (alert: AlertRow | undefined): Record<string, unknown> => JSON.parse(alert?.evidence ?? '{}') as Record<string, unknown>;
const stateOf = (world: MetricWorld): { readonly alerts: readonly Record<string, unknown>[]; readonly health: string } =>
  JSON.parse(world.states.get('mr_3')?.state ?? '{}') as ReturnType<typeof stateOf>;
const readOf = (more: Parameters<typeof watchRule>[0] = {}): ReadMetricRule => {
  const read = readMetricRule(watchRule(more));
  if (typeof read === 'string') throw new Error(read);
  return read;
};
const seriesOf = (count: number): { labels: [string, string][]; value: number; annotations: []; exemplars: [] }[] =>
  Array.from({ length: count }, (_none, at) => ({ labels: [['n', String(at)]], value: 1, annotations: [], exemplars: [] }));

describe('rules over metrics that watch', () => {
  it('fire where a series leaves its own past, show it, and end where it is back', async () => {
    const world = new MetricWorld(peak);
    world.set(1, watchRule({ labels: { severity: 'critical' } }));
    await world.pass(60 * 168);
    expect(world.alerts).to.deep.equal([]);
    await world.pass(60 * 9);
    const [alert] = world.alerts;
    expect(alert).to.include({ detector: 'rule', severity: 'critical', state: 'firing', service: 'node', retentionDays: 14 });
    expect(alert?.stream).to.equal('{instance="a",job="node",severity="critical"}');
    expect(alert?.title).to.match(/^Load of \{instance="a",job="node"\} rose to [\d.]+, expected [\d.]+ to [\d.]+$/);
    const evidence = evidenceOf(alert);
    expect(evidence['rule']).to.include({ id: 'mr_3', name: 'Load', signal: 'metrics', query: 'load', every: '1m' });
    expect(evidence)
      .to.include.keys('z_score', 'expected', 'window', 'links')
      .and.deep.include({ direction: 'up', labels: { ...A, severity: 'critical' } });
    // of the window that is furthest away, which may have minutes of before
    expect(evidence['current_value']).to.be.within(12, 34);
    expect(evidence['baseline_mean']).to.be.within(10, 11);
    const { minute, step, values } = evidence['series'] as { minute: string; step: string; values: number[] };
    expect([step, values.length]).to.deep.equal(['1m', 60]);
    // the value of a window is that of the time at which it ends
    const last = (Date.parse(minute) - START) / MINUTE + 60;
    expect(values.at(-1)).to.be.closeTo(3 * usual(last), 0.001);
    expect(stateOf(world)).to.include({ health: 'ok' });
    expect(stateOf(world).alerts[0]).to.deep.include({ state: 'firing', labels: [...Object.entries(A), ['severity', 'critical']] });
    await world.pass(60 * 40);
    expect(world.alerts.map((one) => [one.state, one.note])).to.deep.equal([['resolved', 'auto: back within baseline']]);
    expect(stateOf(world).alerts).to.deep.equal([]);
    // nothing is recorded of it
    expect(world.samples.size).to.equal(0);
  });

  it('fire to the side that they name, and on both without one', async () => {
    const world = new MetricWorld((_rule, time) => [[A, minuteAt(time) < 170 ? usual(minuteAt(time)) : 0.1]]);
    world.set(1, watchRule({ direction: 'up' }));
    world.set(2, watchRule({ id: 'mr_4', direction: 'down' }));
    world.set(3, watchRule({ id: 'mr_5' }));
    await world.pass(60 * 180);
    const rules = world.alerts.map((alert) => (evidenceOf(alert)['rule'] as { id: string }).id);
    expect(rules.sort()).to.deep.equal(['mr_4', 'mr_5']);
    expect(world.alerts[0]?.title).to.match(/ fell to [\d.]+, expected [\d.]+ to [\d.]+$/);
  });

  it('learn nothing of times without a value, of failures, and of what is no number', async () => {
    const world = new MetricWorld((_rule, time) => {
      const minute = minuteAt(time);
      if (minute % 7 === 3) return 'too many samples';
      return minute % 7 === 4 ? [] : [[A, minute % 7 === 5 ? [NaN, Infinity, -Infinity, 1e300][minute % 4] as number : usual(minute)]]; // prettier-ignore
    });
    world.set(1, watchRule({ sensitivity: 'high' }));
    await world.pass(60 * 240);
    expect(world.alerts).to.deep.equal([]);
    expect(stateOf(world).health).to.be.oneOf(['ok', 'err']);
  });

  it('end what fires where the expression, the steps or the side change, and go on where the sensitivity does', async () => {
    const world = new MetricWorld((_rule, time) => [[A, usual(minuteAt(time)) * (minuteAt(time) >= 170 ? 3 : 1)]]);
    world.set(1, watchRule());
    await world.pass(60 * 178);
    world.set(1, watchRule({ sensitivity: 'normal' }), 2);
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['firing']);
    world.set(1, watchRule({ direction: 'down', sensitivity: 'normal' }), 3);
    expect(world.alerts.map((one) => one.note)).to.deep.equal(['auto: the rule was changed']);
  });

  it('give the same whatever is killed', async () => {
    const shown = (world: MetricWorld): object => ({
      alerts: world.alerts.map(({ id, state, title, evidence, fireCount, note }) => ({ id, state, title, evidence: { ...(JSON.parse(evidence) as object), opened_at: '' }, fireCount, note })),
      states: [...world.states].map(([rule, { state }]) => [rule, { ...(JSON.parse(state) as object), took_ms: 0 }]),
    }); // prettier-ignore
    const begin = (): MetricWorld => {
      const world = new MetricWorld((rule, time) => [...(peak(rule, time) as []), [{ instance: 'b' }, usual(minuteAt(time) + 5)]]);
      world.set(1, watchRule());
      return world;
    };
    const expected = begin();
    await expected.pass(60 * 200);
    expect(expected.alerts).to.have.length(1);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('kill', 'save', null, null), { minLength: 20, maxLength: 60 }), async (steps) => {
        const world = begin();
        let step = 0;
        await world.pass(60 * 200, () => {
          step += 1;
          const what = step < 60 * 195 && step % 97 === 0 ? steps[(step / 97) % steps.length] : null;
          if (what === 'save') world.save();
          if (what === 'kill') world.kill();
        });
        expect(shown(world)).to.deep.equal(shown(expected));
      }),
      { numRuns: extent(2, 20) },
    );
  }).timeout(300_000);

  it('watch a hundred series, those that came first, and tell of others; a series without a value for a day makes room', async () => {
    let [first, count] = [0, 110];
    const world = new MetricWorld(() => Array.from({ length: count }, (_none, at) => [{ n: String(first + at) }, 1]));
    world.set(1, watchRule({ interval: '1h' }));
    await world.pass(3600 * 3);
    const [notice] = world.alerts;
    expect(notice).to.include({ severity: 'info', title: "Rule 'Load' gives too many series: 10 are not watched", state: 'firing' });
    expect(evidenceOf(notice)).to.include({ notice: 'series', current_value: 10 });
    [first, count] = [200, 50];
    await world.pass(3600 * 40);
    expect(world.alerts.map((one) => one.state)).to.deep.equal(['resolved']);
  }).timeout(300_000);

  it('begin no series without room, and keep those that they have', () => {
    const watch = new SeriesWatch();
    const read = readOf();
    expect(watch.take({ series: seriesOf(3), time: START }, read, 0).map(({ finding }) => finding.value)).to.deep.equal([3]);
    expect(watch.bytes).to.equal(0);
    watch.take({ series: seriesOf(3), time: START + MINUTE }, read, 15_000);
    const { bytes } = watch;
    expect(bytes).to.be.within(14_000, 15_000);
    watch.take({ series: seriesOf(3), time: START + 2 * MINUTE }, read, 0);
    expect(watch.bytes).to.equal(bytes);
    const again = SeriesWatch.from(JSON.parse(JSON.stringify(watch)));
    expect([again.bytes, JSON.stringify(again)]).to.deep.equal([bytes, JSON.stringify(watch)]);
    expect(JSON.stringify(watch).length).to.be.below(15_000);
  });

  it('take a series of any labels, and restore nothing that is damaged', () => {
    const read = readOf();
    fc.assert(
      fc.property(fc.string(), fc.double(), (text, value) => {
        const watch = new SeriesWatch();
        watch.take({ series: [{ labels: [['__proto__', text], ['constructor', text]], value, annotations: [], exemplars: [] }], time: START }, read, 1e6); // prettier-ignore
        expect(JSON.stringify(SeriesWatch.from(JSON.parse(JSON.stringify(watch))))).to.equal(JSON.stringify(watch));
      }),
      { numRuns: extent(8, 20) },
    );
    for (const json of [null, [], [[], 'x'], [[[[], 1, 'AAAA', [], null]], ''], [[1], '']]) expect(() => SeriesWatch.from(json)).to.throw();
  });
});
