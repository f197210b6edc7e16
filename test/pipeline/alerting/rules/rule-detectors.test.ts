import { expect } from 'chai';
import fc from 'fast-check';
import threeTimes from '../../../../examples/detectors/three-times.ts';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { CustomDetector } from '../../../../pipeline/detectors/custom.ts';
import type { RequestedSeries, LookedSeries, SentPoint } from '../../../../pipeline/alerting/custom/detector-messages.ts';
import { offValue } from '../../../../pipeline/alerting/settings/switch.ts';
import { readFinding } from '../../../../pipeline/alerting/exchange/finding.ts';
import { readValues } from '../../../../pipeline/alerting/exchange/rule-values.ts';
import { FakeRunner } from '../../../fakes/detector-runner.ts';
import { DetectorWorld, type Came } from './detector-world.ts';
import { evidenceOf, MINUTE_MS, ruleOf, START } from './rule-world.ts';
import { extent } from '../../../extent.ts';

const example = threeTimes as CustomDetector;
/** Above fifty, or below five: at once. What it expects is how many points it has seen. */
const beyond: CustomDetector<number> = {
  name: 'beyond',
  description: 'A value is above fifty, or below five.',
  init: () => 0,
  look(state, { value }) {
    const side = value === null ? null : value > 50 ? 'up' : value < 5 ? 'down' : null;
    return { state: state + 1, found: side === null ? null : { side, z: side === 'up' ? 4 : -4, mean: state, low: 5, high: 50 } };
  },
};
const FIRST = START / MINUTE_MS;

/** Keeps the points that were asked. */
class Recording extends FakeRunner {
  readonly points: SentPoint[] = [];
  override async look(name: string, series: readonly RequestedSeries[]): Promise<readonly LookedSeries[] | null> {
    this.points.push(...series.flatMap((one) => one.points));
    return super.look(name, series);
  }
}

const timed = (value: number, service = 'checkout', partition = 0): Came => ({ partition, entries: Array.from({ length: 3 }, () => ({ service, duration_ms: value })) }); // prettier-ignore
const AVERAGE = '{service="checkout"} | stats avg(duration_ms)';
const BY_SERVICE = '* | stats by (service) max(duration_ms)';
const words = (rows: readonly AlertRow[]): unknown[] => rows.map(({ stream, state, fireCount, note }) => [stream, state, fireCount, note]);
const off = offValue({ version: null, reason: 'by hand', since: '2026-11-24T00:00:00Z' });
const BACK = 'auto: back within baseline';

/** A world with a rule, after minutes of twenty. */
async function worldWith(runner: FakeRunner, rule: Parameters<typeof ruleOf>[0], minutes = 5): Promise<DetectorWorld> {
  const world = new DetectorWorld(runner);
  world.set(ruleOf({ query: BY_SERVICE, if: 'beyond', ...rule }));
  await world.run(minutes, () => [timed(20)]);
  return world;
}

describe("rules that a detector of one's own watches", () => {
  it("fire where it says so, in the rule's words, with the evidence of other rules, and are resolved after ten calm windows", async () => {
    const world = await worldWith(new FakeRunner([example]), { query: AVERAGE, if: 'three_times up', name: 'slow checkout', severity: 'critical' }, 80); // prettier-ignore
    expect(world.rows).to.deep.equal([]);
    await world.run(6, () => [timed(90)]);
    const [alert] = world.alerts;
    expect(alert).to.include({
      tenantId: 1,
      retentionDays: 14,
      detector: 'rule',
      service: 'checkout',
      severity: 'critical',
      state: 'firing',
    });
    expect(alert?.title).to.equal("Mean duration_ms of checkout rose to 90, expected 0 to 60, rule 'slow checkout'");
    expect(alert?.description).to.match(/^Mean duration_ms of checkout was 90 in the 2 minutes from .*Z\. A value is three times what it was in the last hours, for two minutes\. It expects 20, and nothing fires from 0 to 60\. Its query is/); // prettier-ignore
    const evidence = evidenceOf(alert as AlertRow);
    expect(evidence).to.deep.include({ current_value: 90, baseline_mean: 20, expected: { low: 0, high: 60 }, direction: 'up', scale_minutes: 2, entries: 3 }); // prettier-ignore
    expect(Object.keys(evidence)).to.deep.equal(['rule', 'current_value', 'z_score', 'baseline_mean', 'expected', 'window', 'scale_minutes', 'direction', 'entries', 'series', 'links', 'opened_at']); // prettier-ignore
    const { values, minute } = evidence['series'] as { readonly values: readonly number[]; readonly minute: string };
    // its second window fires
    const hot = (alert?.fireCount ?? 0) + 1;
    expect(values.slice(-hot - 1)).to.deep.equal([20, ...Array.from({ length: hot }, () => 90)]);
    expect(Date.parse(minute) + values.length * MINUTE_MS).to.equal(Date.parse((evidence['window'] as { readonly end: string }).end));
    await world.run(16, () => [timed(20)]);
    expect(words(world.alerts)).to.deep.equal([['{}', 'resolved', 5, BACK]]);
    expect(world.replayed()).to.deep.equal(world.told);
  });

  it('say the same whoever is killed and whenever, and whoever folds the log again says it without any detector', async () => {
    const runner = (): FakeRunner => new FakeRunner([beyond, example]);
    const came = (minute: number): Came[] => {
      const at = minute % 20;
      return [timed(at > 4 && at < 8 ? 90 : 20), timed(minute > 12 && minute < 17 ? 70 : 30, 'cart', 1)];
    };
    const whole = await worldWith(runner(), {}, 0);
    await whole.run(45, came);
    const last = ({ alerts }: DetectorWorld): string[] =>
      alerts.map((row) => JSON.stringify([row.id, row.title, row.state, row.fireCount, row.note, row.evidence])).sort();
    const expected = last(whole);
    expect(words(whole.alerts)).to.deep.equal([
      ['{service="checkout"}', 'resolved', 6, BACK],
      ['{service="cart"}', 'resolved', 4, BACK],
    ]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(44), fc.nat(3), fc.boolean()), { maxLength: 12 }), async (stops) => {
        const world = await worldWith(runner(), {}, 0);
        for (const [at, who, isSaved] of [...stops].sort(([a], [b]) => a - b)) {
          await world.run(at - world.minute, came);
          if (isSaved) world.save(who);
          else world.kill(who);
        }
        await world.run(45 - world.minute, came);
        expect(last(world)).to.deep.equal(expected);
        expect(world.replayed().sort()).to.deep.equal(world.told.sort());
        const { reported, replayed } = world.reported();
        expect(reported).to.deep.equal(replayed);
      }),
      // what is asked comes again behind a snapshot in which it was asked
      { numRuns: extent(10, 25), examples: [[[[6, 2, true], [10, 3, true], [10, 3, false], [10, 2, false]]]] }, // prettier-ignore
    );
  });

  it('ask it for each group and window once, by its first minute, also where nothing came, and only on their side', async () => {
    const runner = new Recording([beyond]);
    const world = await worldWith(runner, { every: '5m', if: 'beyond up' }, 0);
    await world.run(40, (minute) => (minute < 9 || minute > 20 ? [timed(minute > 30 ? 80 : 2)] : []));
    const points = runner.points.map(([minute, value, entries]) => [minute - FIRST, value, entries]);
    expect(points.slice(0, 6)).to.deep.equal([[5, 2, 12], [10, null, 0], [15, null, 0], [20, 2, 12], [25, 2, 15], [30, 80, 15]]); // prettier-ignore
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'firing', 1, '']]);
    expect(evidenceOf(world.alerts[0] as AlertRow)).to.deep.include({
      window: { start: '2026-11-24T00:30:00Z', end: '2026-11-24T00:35:00Z' },
      scale_minutes: 5,
      entries: 15,
      group: { service: 'checkout' },
    });
    // what ends behind a snapshot ends with a window
    world.save(3);
    world.kill(3);
    world.switch('beyond', off, 1);
    await world.settle();
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'resolved', 1, 'auto: the detector is off']]);
  });

  it('ask it about no window of which not all entries were evaluated', async () => {
    const runner = new Recording([beyond]);
    const world = await worldWith(runner, { query: '~"(a|b|c)*d.{0,300}e$" or x | stats count()' }, 0);
    const costly = { entries: Array.from({ length: 400 }, () => ({ _msg: 'abc'.repeat(1300) })) };
    await world.run(9, (minute) => [minute === 4 ? costly : { entries: [{}] }]);
    const minutes = runner.points.map(([minute]) => minute - FIRST);
    expect(minutes.slice(0, 5)).to.deep.equal([1, 2, 3, 5, 6]);
  });

  it('hear what is said again only once', async () => {
    const world = await worldWith(new FakeRunner([beyond]), {});
    await world.run(4, () => [timed(90)]);
    await world.run(14, () => [timed(20)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'resolved', 4, BACK]]);
    const told = world.told.length;
    for (const { value, headers } of world.log.filter(({ value: one }) => readFinding(one as Buffer) !== null)) world.append({ value: value as Buffer, headers: headers as never }); // prettier-ignore
    await world.settle();
    expect(world.told).to.have.length(told);
  });

  it('say nothing more of what somebody has resolved, and fire as another alert when it was back', async () => {
    const world = await worldWith(new FakeRunner([beyond]), {});
    await world.run(4, () => [timed(90)]);
    world.resolve(world.alerts[0] as AlertRow, 'seen');
    await world.run(6, () => [timed(90)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'resolved', 2, 'seen']]);
    await world.run(12, () => [timed(20)]);
    await world.run(4, () => [timed(90)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'resolved', 2, 'seen'], ['{service="checkout"}', 'firing', 2, '']]); // prettier-ignore
    expect(world.replayed()).to.deep.equal(world.told);
  });

  it('drop what is found of a rule that was changed or deleted meanwhile, and go on with another name', async () => {
    const world = await worldWith(new FakeRunner([beyond]), {});
    await world.run(4, () => [timed(90)]);
    world.set(ruleOf({ query: BY_SERVICE, if: 'beyond', name: 'another', severity: 'critical' }), { version: 2 });
    // windows that were open have no part in it
    await world.run(4, () => [timed(90)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'firing', 3, '']]);
    expect(world.alerts[0]?.title).to.match(/rule 'another'$/);
    world.save(2);
    world.kill(2);
    await world.run(1, () => [timed(90)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'firing', 4, '']]);
    const findings = world.log.filter(({ value }) => readFinding(value as Buffer) !== null);
    expect(findings).to.have.length.greaterThan(2);
    for (const [version, value, note] of [
      [3, ruleOf({ query: BY_SERVICE, if: 'beyond down' }), 'auto: the rule was changed'],
      [4, null, 'auto: the rule was changed'],
    ] as const) {
      // prettier-ignore
      world.set(value, { version });
      await world.run(4, () => [timed(90)]);
      const told = world.told.length;
      // what was asked before is answered only now
      for (const { value: finding, headers } of findings) world.append({ value: finding as Buffer, headers: headers as never });
      await world.settle();
      expect(world.told).to.have.length(told);
      expect(world.alerts[0]).to.include({ state: 'resolved', note });
    }
  });

  it('end what fires where it is off, or its file is another one, and begin anew', async () => {
    const world = await worldWith(new FakeRunner([beyond]), {});
    await world.run(4, () => [timed(90)]);
    world.switch('beyond', off, 1);
    await world.run(3, () => [timed(90)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'resolved', 2, 'auto: the detector is off']]);
    world.switch('beyond', null, 2);
    await world.run(4, () => [timed(90)]);
    expect(words(world.alerts).at(-1)).to.deep.equal(['{service="checkout"}', 'firing', 4, '']);
    world.save(3);
    world.detectors(new FakeRunner([beyond], 'v2'));
    await world.settle();
    expect(words(world.alerts).at(-1)).to.deep.equal(['{service="checkout"}', 'resolved', 4, 'auto: the detector is off']);
    expect(world.replayed()).to.deep.equal(world.told);
  });

  it('end what fires where no detector is there any more, after three hours', async () => {
    const world = await worldWith(new FakeRunner([beyond]), {});
    await world.run(4, () => [timed(90)]);
    world.save(2);
    world.kill(2);
    world.detectors(null);
    await world.run(170, () => [timed(90)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'firing', 2, '']]);
    await world.run(20, () => [timed(90)]);
    expect(words(world.alerts)).to.deep.equal([['{service="checkout"}', 'resolved', 2, 'auto: the detector is off']]);
    expect(world.replayed()).to.deep.equal(world.told);
  });

  it('keep other detectors and tenants apart, and a detector that fails ends for rules as for streams', async () => {
    const throws: CustomDetector = { ...example, name: 'throws', look: () => { throw new Error('no'); } }; // prettier-ignore
    const runner = new FakeRunner([throws, beyond]);
    const world = await worldWith(runner, { if: 'throws' });
    expect(runner.failures).to.deep.equal(['throws']);
    const other = new FakeRunner([throws, beyond]);
    await worldWith(other, {});
    expect(other.failures).to.deep.equal([]);
    world.set(ruleOf({ id: 'ru_2', query: BY_SERVICE, if: 'beyond' }), { slot: 2 });
    world.set(ruleOf({ query: BY_SERVICE, if: 'beyond' }), { tenantId: 2 });
    await world.run(5, () => [timed(90)], 2);
    expect(world.alerts.map(({ tenantId }) => tenantId)).to.deep.equal([2]);
  });

  it('take no more groups than there is room for, and forget those of a rule that was changed', async () => {
    const many = (minute: number): Came[] => [{ entries: Array.from({ length: 99 }, (_none, at) => ({ service: `s${String(at)}-${String(minute > 9 ? 1 : 0)}`, duration_ms: 20 })) }]; // prettier-ignore
    const world = await worldWith(new FakeRunner([beyond]), {}, 0);
    await world.run(9, many);
    const [, before = 0] = world.sizes;
    expect(before).to.be.within(99 * 40, 100_000);
    for (let version = 2; version < 12; version++) {
      world.set(ruleOf({ query: BY_SERVICE, if: version % 2 === 0 ? 'beyond up' : 'beyond' }), { version });
      await world.run(4, many);
    }
    expect(world.sizes[1]).to.be.below(1.5 * before);
  });

  it('take no values for any that are none', () => {
    const good = { slot: 1, began: 1, detector: 'x', side: null, step: 1, window: FIRST, groups: [['0'.repeat(32), 1.5, 3]] };
    const read = (value: unknown): unknown => readValues(Buffer.from(JSON.stringify(value)));
    expect(read(good)).to.deep.equal(good);
    for (const wrong of [
      { slot: -1 },
      { began: 1.5 },
      { detector: 7 },
      { side: 'left' },
      { step: 0 },
      { window: '1' },
      { groups: {} },
      { groups: [['x', 1, 1]] },
      { groups: [['0'.repeat(32), '1', 1]] },
      { groups: [['0'.repeat(32), 1, -1]] },
      { groups: [null] },
    ])
      expect(read({ ...good, ...wrong }), JSON.stringify(wrong)).to.equal(null);
    fc.assert(fc.property(fc.uint8Array(), fc.json(), (bytes, json) => {
      expect(readValues(Buffer.from(bytes))).to.equal(null);
      readValues(Buffer.from(json));
    })); // prettier-ignore
  });
});
