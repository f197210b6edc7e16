import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../../../../pipeline/core/snapshot-bytes.ts';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import threeTimes from '../../../../examples/detectors/three-times.ts';
import { pointDetectorOf } from '../../../../pipeline/detectors/custom-series.ts';
import type { CustomDetector } from '../../../../pipeline/detectors/custom.ts';
import { createCustomDetectors } from '../../../../pipeline/alerting/custom/custom-merger.ts';
import { DetectorWatch } from '../../../../pipeline/alerting/custom/detector-watch.ts';
import { CUSTOM_DETECTORS, EXAMPLES, offValue, switchFault } from '../../../../pipeline/alerting/settings/switch.ts';
import { readFinding } from '../../../../pipeline/alerting/exchange/finding.ts';
import { hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { FakeRunner } from '../../../fakes/detector-runner.ts';
import { CustomWorld, START, START_MS, streamOf, type Came } from './custom-world.ts';

const example = threeTimes as CustomDetector;
/** Throws in a minute with more than a thousand entries. */
const fragile: CustomDetector<number> = {
  name: 'fragile',
  description: 'More than fifty entries came.',
  init: () => 0,
  look(state, { entries }) {
    if (entries > 1000) throw new Error('too many');
    return { state: state + 1, found: entries > 50 ? { side: 'up', z: 4, mean: 20, low: 0, high: 50 } : null };
  },
};
const all = [example, fragile as CustomDetector];
const around = (minute: number): number => 20 + ((minute * 7) % 5);
const usual = (minute: number): Came[] => [{ service: 'web', entries: around(minute) }, { service: 'cart', entries: around(minute + 2) }]; // prettier-ignore
/** A burst of web in the minutes 100 to 106. */
const burst = (minute: number): Came[] =>
  minute >= 100 && minute < 106 ? [{ service: 'web', entries: 90, errors: 3 }, usual(minute)[1] as Came] : usual(minute);
const off = offValue({ version: null, reason: 'by hand', since: '2026-11-24T00:00:00Z' });
/** All that an alert says but where it was told. */
const word = ({ detector, stream, state, fireCount, note, firedAt }: AlertRow): unknown[] => [detector, stream, state, fireCount, note, firedAt]; // prettier-ignore
const latestOf = (rows: readonly AlertRow[]): string[] =>
  [...new Map(rows.map((row) => [row.id, row])).values()].map((row) => JSON.stringify([row.id, row.detector, row.state, row.fireCount])).sort(); // prettier-ignore

describe('detectors of others, by what rates has counted', () => {
  it('make alerts as the service does, of minutes that are final, each once', async () => {
    const world = new CustomWorld(new FakeRunner([example]));
    await world.run(140, burst);
    expect(world.alerts.map(word)).to.deep.equal([
      // the second hot minute, 101, is final four minutes after it has begun
      ['three_times', streamOf('web'), 'resolved', 5, 'auto: back within baseline', START_MS / 1000 + 105 * 60 + 59],
    ]);
    const [alert] = world.alerts;
    expect(alert).to.include({ tenantId: 1, retentionDays: 7, service: 'web', severity: 'warning' });
    expect(alert?.title).to.match(/^three_times: web is at 90, expected 0 to 6\d$/);
    expect(alert?.description).to.match(/^A value is three times what it was in the last hours, for two minutes\. It saw 90 in the last 2 minutes/); // prettier-ignore
    const evidence = JSON.parse(alert?.evidence ?? '') as { readonly series: { readonly values: number[] }; readonly links: object };
    expect(evidence.series.values.slice(-4)).to.deep.equal([90, 90, 90, 90]);
    expect(evidence).to.include({ current_value: 90, scale_minutes: 2 });

    // the same as the detector says by itself
    const series = pointDetectorOf(example).newSeries();
    const points = Array.from({ length: 130 }, (_none, minute) => burst(minute)[0]?.entries ?? 0);
    const findings = points.flatMap((entries, minute) => series.add({ minute: START + minute, value: entries, entries, errors: 0 }));
    expect(findings.map(({ state }) => state)).to.deep.equal(world.rows.map(({ state }) => state));
  });

  it('say the same whenever their process is killed, and whoever folds the log again says it without them', async () => {
    const whole = new CustomWorld(new FakeRunner(all));
    await whole.run(140, burst);
    const expected = latestOf(whole.rows);
    expect(expected).to.have.length(2);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(139), fc.boolean()), { maxLength: 6 }), async (stops) => {
        const world = new CustomWorld(new FakeRunner(all));
        for (const [at, isSaved] of [...stops].sort(([a], [b]) => a - b)) {
          await world.run(at - world.minute, burst);
          if (isSaved) world.save();
          else world.kill(new FakeRunner(all));
        }
        await world.run(140 - world.minute, burst);
        expect(latestOf(world.rows)).to.deep.equal(expected);
        expect(world.replayed()).to.deep.equal(world.rows);
      }),
      { numRuns: 10 },
    );
  });

  it('are asked no more once one has failed; the others go on, and what it fires ends when that lies on the log', async () => {
    const runner = new FakeRunner(all);
    const world = new CustomWorld(runner);
    await world.run(104, burst);
    await world.run(1, () => [{ service: 'cart', entries: 2000 }]);
    await world.run(5, burst);
    expect(runner.failures).to.deep.equal(['fragile']);
    const stateOf = (detector: string): unknown => world.alerts.filter((row) => row.detector === detector).map(({ state, note }) => [state, note]); // prettier-ignore
    expect(stateOf('fragile')).to.deep.equal([['firing', '']]);
    world.set(CUSTOM_DETECTORS, 'fragile', offValue({ version: 'v1', reason: 'Error: too many', since: '2026-11-24T00:00:00Z' }));
    await world.run(20, burst);
    expect(stateOf('fragile')).to.deep.equal([['resolved', 'auto: the detector is off']]);
    expect(stateOf('three_times')).to.deep.equal([['resolved', 'auto: back within baseline']]);

    // off after a restart too, and on again with nothing known
    world.save();
    world.kill(runner);
    await world.run(5, () => [{ service: 'web', entries: 60 }]);
    expect(stateOf('fragile')).to.deep.equal([['resolved', 'auto: the detector is off']]);
    world.set(CUSTOM_DETECTORS, 'fragile', null, 2);
    expect(runner.allowed).to.include('fragile');
    await world.run(9, () => [{ service: 'web', entries: 60 }]);
    expect(world.alerts.filter(({ detector, state }) => detector === 'fragile' && state === 'firing')).to.have.length(1);
    expect(world.replayed()).to.deep.equal(world.rows);
  });

  it('are others with another version of their file: what the older one fires ends, and what was said of it is not said of them', async () => {
    const world = new CustomWorld(new FakeRunner([fragile]));
    world.set(CUSTOM_DETECTORS, 'fragile', offValue({ version: 'v0', reason: 'x', since: '2026-11-24T00:00:00Z' }));
    await world.run(106, burst);
    expect(world.alerts.map(({ state }) => state)).to.deep.equal(['firing']);
    world.save();
    world.kill(new FakeRunner([fragile], 'v2'));
    await world.run(5, usual);
    // the last minutes of the burst were not final yet: the other one sees them too
    const ended = ['resolved', 'auto: the detector is off', 2];
    expect(world.alerts.map(({ state, note, fireCount }) => [state, note, fireCount])).to.deep.equal([ended, ['firing', '', 4]]);
  });

  it('say nothing more of what somebody has resolved, nor where they are off by their sensitivity', async () => {
    const world = new CustomWorld(new FakeRunner([fragile]));
    world.set('alerting', 'sensitivity', [{ detector: 'fragile', stream: '{service="cart"}', sensitivity: 'off' }]);
    await world.run(104, (minute) => (minute < 90 ? usual(minute) : [{ service: 'web', entries: 60 }, { service: 'cart', entries: 60 }])); // prettier-ignore
    expect(world.alerts.map(({ stream, state }) => [stream, state])).to.deep.equal([[streamOf('web'), 'firing']]);
    const [row] = world.alerts;
    world.resolve({ ...row, resolvedAt: null, incidentId: null } as never, 'seen');
    const told = world.rows.length;
    await world.run(10, () => [{ service: 'web', entries: 60 }]);
    expect(world.rows).to.have.length(told);
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([['resolved', 'seen']]);
  });

  it('learn what is told of the past, and fire in none of it', async () => {
    const world = new CustomWorld(new FakeRunner([example]));
    const hours = Array.from({ length: 360 }, (_none, index) => index - 360);
    for (let from = 0; from < hours.length; from += 100)
      world.counted(hours.slice(from, from + 100).map((minute) => ({ service: 'web', minute, entries: minute === -200 || minute === -199 ? 500 : 20 }))); // prettier-ignore
    await world.run(6, () => [{ service: 'web', entries: 20 }]);
    expect(world.alerts).to.deep.equal([]);
    await world.run(8, () => [{ service: 'web', entries: 200 }]);
    expect(world.alerts.map(({ detector, state }) => [detector, state])).to.deep.include(['three_times', 'firing']);
    expect(world.alerts.filter(({ detector }) => detector === 'three_times')).to.have.length(1);
  });

  it('take no more than they have done with, though a tenant tells a day of many streams at once', async () => {
    const runner = new FakeRunner([fragile]);
    const world = new CustomWorld(runner);
    const names = Array.from({ length: 60 }, (_none, index) => `s${String(index)}`);
    for (const minute of [-1400, -1]) world.counted(names.map((service) => ({ service, minute, entries: 1 })));
    for (let more = 0; more < 6; more++) {
      world.counted([]);
      world.minute += 1;
    }
    expect(world.isBehind).to.equal(true);
    await world.settle();
    expect([world.isBehind, runner.failures]).to.deep.equal([false, []]);
  });

  it('are passed over where all of them are off, so that the one is heard that is switched on', async () => {
    const world = new CustomWorld(new FakeRunner([fragile]));
    world.set(CUSTOM_DETECTORS, 'fragile', off);
    const names = Array.from({ length: 60 }, (_none, index) => `s${String(index)}`);
    for (const minute of [-1400, -1]) world.counted(names.map((service) => ({ service, minute, entries: 1 })));
    await world.run(6, () => []);
    expect(world.isBehind).to.equal(false);
    world.set(CUSTOM_DETECTORS, 'fragile', null, 2);
    await world.run(9, () => [{ service: 'web', entries: 60 }]);
    expect(world.alerts.map(({ detector, stream, state }) => [detector, stream, state])).to.deep.equal([['fragile', streamOf('web'), 'firing']]); // prettier-ignore
  });

  it('are asked from where the others are when one is added later or its file was changed, and those miss nothing', async () => {
    const quiet: CustomDetector<number> = { ...fragile, name: 'quiet' };
    const world = new CustomWorld(new FakeRunner([fragile]));
    await world.run(90, usual);
    world.save();
    world.kill(new FakeRunner([quiet, fragile]));
    await world.run(50, burst);
    expect(world.alerts.map(({ detector, stream, state, fireCount }) => [detector, stream, state, fireCount])).to.have.deep.members([
      ['quiet', streamOf('web'), 'resolved', 6],
      ['fragile', streamOf('web'), 'resolved', 6],
    ]);
  });

  it('count what they remember the same when their process was killed', () => {
    const watch = new DetectorWatch({ name: 'x', version: 'v1' });
    const minutes = Array.from({ length: 50 }, (_none, index) => ({ id: `stream${String(index)}`, minute: START, entries: 1, errors: 0, isLate: false })); // prettier-ignore
    const question = watch.question(1, minutes, 1e6);
    watch.answer(1, question, question.requested.map(() => ({ state: '0', seen: [] })), () => true); // prettier-ignore
    const to = new ByteWriter();
    watch.write(to);
    const read = DetectorWatch.read(new ByteReader(to.finish()));
    expect(read.bytes)
      .to.equal(watch.bytes)
      .and.to.be.greaterThan(50 * 100);
    for (const { id } of minutes) for (const one of [watch, read]) one.forget(1, id);
    expect([watch.bytes, read.bytes]).to.deep.equal([0, 0]);
  });

  it('go on from a snapshot of a release that was not asked about rules', async () => {
    const text = readFileSync(path.resolve('test/fixtures/snapshots/custom-detectors.v1.txt'), 'utf8');
    const hosted = hostedMerger(createCustomDetectors(new FakeRunner([example])));
    const state = hosted.restore(Buffer.from(text, 'base64'));
    if (state === null) throw new Error('The snapshot cannot be read.');
    const again = hosted.restore(hosted.snapshot(state));
    expect(again === null ? null : hosted.snapshot(again).equals(hosted.snapshot(state))).to.equal(true);
    // the second hot minute waits in it
    const told: AbsoluteRecord[] = [];
    for (let turn = 0; turn < 50; turn++) {
      told.push(...(hosted.news?.(state, 0, 0) ?? []));
      await Promise.resolve();
    }
    expect(told.map(({ value }) => readFinding(value)?.finding)).to.have.length(1);
    expect(readFinding(told[0]?.value ?? Buffer.alloc(0))?.finding).to.include({ state: 'firing', updatedAt: START + 101, value: 90 });
  });

  it('restore no bytes that are none of their snapshots', async () => {
    const merger = createCustomDetectors(new FakeRunner(all));
    const state = merger.init();
    const world = new CustomWorld(new FakeRunner(all));
    await world.run(3, usual);
    const good = Buffer.from(merger.snapshot(state));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(), (bytes, at) => {
        for (const hostile of [Buffer.from(bytes), good.subarray(0, at % good.length)]) merger.restore(hostile);
      }),
    );
    expect(merger.restore(Buffer.alloc(0))).to.equal(null);
  });

  it('are switched off for all tenants alone, with a reason', () => {
    for (const value of EXAMPLES) expect(switchFault({ tenantId: 0, value })).to.equal(null);
    expect(switchFault({ tenantId: 3, value: off })).to.match(/off for all tenants; for one tenant its sensitivity/);
    for (const value of [
      'off',
      {},
      [],
      { state: 'off', reason: 'x', since: 'yesterday' },
      { state: 'off', reason: 1, since: '2026-11-24' },
    ])
      expect(switchFault({ tenantId: 0, value })).to.match(/^It must be an object with "state": "off"/);
  });
});
