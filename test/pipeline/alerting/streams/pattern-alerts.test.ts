import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { fingerprintOf } from '../../../../pipeline/clusterer/shapes.ts';
import { alerting } from '../../../../pipeline/alerting/streams/alerting.ts';
import { partialInputOf, partialRecord, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { encodeSeen } from '../../../../pipeline/processors/patterns/patterns-partial.ts';
import { encodeRates } from '../../../../pipeline/processors/rates/rates.ts';
import { Random } from '../../../fuzz/random.ts';
import { PatternWorld, type Came, type Saved } from './pattern-world.ts';

/** A day and three hours: longer than a template is learned. */
const PAST = 1620;
const DECLINED = 'payment declined code';
const TEMPLATE = `${DECLINED} <N>`;

/** Errors that come all the time, in two pods, and one that is rare. */
const usual = (minute: number): Came[] => [
  ...[0, 1].map((partition): Came => ({ _msg: 'cannot reach inventory of', count: 18 + ((minute * 7 + partition) % 9), host: `h${String(partition)}`, partition })), // prettier-ignore
  { _msg: 'order placed', count: 20, level: 'info', host: 'h0' },
  { _msg: DECLINED, count: minute % 3 === 0 ? 1 : 0, host: 'h0' },
];
/** The same, with so many of the rare one in each pod for a quarter of an hour. */
const rising =
  (count: number, more: Partial<Came> = {}) =>
  (minute: number): Came[] => [
    ...usual(minute),
    ...(minute >= PAST + 2 && minute < PAST + 17
      ? [0, 1].map((partition): Came => ({ _msg: DECLINED, count, host: `h${String(partition)}`, partition, ...more }))
      : []),
  ];
const shown = (rows: readonly AlertRow[]): object[] => rows.map((row) => ({ ...row, version: 0 })).sort((a, b) => a.id - b.id);

describe('alerts of error patterns that rise', function () {
  this.timeout(600_000);
  let past: Saved;
  before(() => {
    const world = new PatternWorld();
    world.run(PAST, usual);
    expect(world.rows.filter(({ detector }) => detector === 'pattern_rate')).to.deep.equal([]);
    past = world.saved();
  });

  const run = (minutes: number, came: (minute: number) => readonly Came[], with_: (world: PatternWorld) => void = () => undefined) => {
    const world = new PatternWorld(past, PAST);
    with_(world);
    world.run(minutes, came);
    return world;
  };
  const ofPatterns = ({ alerts }: PatternWorld): AlertRow[] => alerts.filter(({ detector }) => detector === 'pattern_rate');

  it('fire once where the errors of the streams as a whole stay what they are, with evidence, and end', () => {
    const world = run(60, rising(6));
    const [alert, ...others] = world.alerts;
    expect(others).to.deep.equal([]);
    expect(alert).to.include({ detector: 'pattern_rate', stream: '{service="checkout"}', service: 'checkout', severity: 'warning', state: 'resolved', note: 'auto: back within baseline' }); // prettier-ignore
    expect(alert?.title).to.match(/^Errors "payment declined code <N>" of checkout rose to [\d.]+ a minute, expected [\d.]+ to [\d.]+$/);
    expect(alert?.description).to.match(/^Errors with the template .* is usual\. The errors of checkout as a whole did not leave what is usual\.$/); // prettier-ignore
    expect(alert?.incidentId).to.be.above(0);
    const evidence = JSON.parse(alert?.evidence ?? '') as Record<string, unknown>;
    expect(evidence).to.include({ fingerprint: fingerprintOf(TEMPLATE), normalized_message: TEMPLATE, direction: 'up' });
    expect(evidence).to.include.keys('z_score', 'current_value', 'baseline_mean', 'expected', 'window', 'series', 'opened_at');
    expect(evidence['sample_messages']).to.deep.equal([`${DECLINED} 0`]);
    expect((evidence['streams'] as { stream: string }[]).map(({ stream }) => stream).sort()).to.deep.equal([
      '{host="h0",service="checkout"}',
      '{host="h1",service="checkout"}',
    ]);
    expect((evidence['links'] as { query: string }).query).to.include(`_fingerprint:${fingerprintOf(TEMPLATE)}`);
  });

  it('are of the same incident as the alert that their template is new, which is another merger’s', () => {
    const { alerts } = run(12, (minute) => [...usual(minute), ...(minute < PAST + 2 ? [] : [{ _msg: 'disk is full', count: 400 }])]);
    expect(new Set(alerts.map(({ detector }) => detector)))
      .to.include('new_pattern')
      .and.to.include('error_rate');
    expect(new Set(alerts.map(({ service }) => service))).to.deep.equal(new Set(['checkout']));
    const [first, ...others] = new Set(alerts.map(({ incidentId }) => incidentId));
    expect(others).to.deep.equal([]);
    expect(first).to.be.above(0);
  });

  it('are the same after a hundred kills, and so are the states', () => {
    const expected = run(60, rising(6));
    const world = new PatternWorld(past, PAST);
    const random = new Random(5);
    world.run(60, rising(6), (own) => {
      for (let kills = 0; kills < 2; kills++) own.disturb(random);
    });
    expect(ofPatterns(expected)).to.have.length(1);
    expect(shown(world.alerts)).to.deep.equal(shown(expected.alerts));
    const [one, other] = [world.saved(), expected.saved()];
    for (const kind of ['counting', 'merging'] as const)
      one[kind].forEach((bytes, index) => expect(bytes.equals(other[kind][index] as Buffer), `${kind} ${String(index)}`).to.equal(true));
  });

  it('are not told where error_rate tells the same rise, not after it is resolved either', () => {
    const world = run(90, rising(60));
    expect([...new Set(world.alerts.map(({ detector }) => detector))]).to.include('error_rate');
    expect(ofPatterns(world)).to.deep.equal([]);
  });

  it('are not told of entries that are no errors', () => {
    expect(ofPatterns(run(40, rising(6, { level: 'info' })))).to.deep.equal([]);
  });

  it('are of the stream that they come from, where it is one', () => {
    const [alert] = ofPatterns(run(40, rising(6, { host: 'h0', partition: 0 })));
    expect(alert?.stream).to.equal('{host="h0",service="checkout"}');
    expect(JSON.parse(alert?.evidence ?? '')).not.to.have.property('streams');
  });

  it('are told as easily as is set for their stream', () => {
    const rule = { detector: 'pattern_rate', stream: '{service="checkout"}', sensitivity: 'off' };
    expect(ofPatterns(run(40, rising(6), (world) => world.set([rule])))).to.deep.equal([]);
    expect(ofPatterns(run(40, rising(6), (world) => world.set([{ ...rule, stream: '{service="other"}' }])))).to.have.length(1);
  });

  it('say nothing more once somebody has resolved them', () => {
    const world = run(15, rising(6));
    const [alert] = ofPatterns(world);
    if (alert === undefined) throw new Error('It does not fire.');
    world.resolve({ ...alert, resolvedAt: null, incidentId: alert.incidentId }, 'known');
    world.run(40, rising(6));
    expect(ofPatterns(world)).to.have.length(1);
    expect(ofPatterns(world)[0]).to.include({ state: 'resolved', note: 'known' });
  });

  it('are five of a service at a time', () => {
    const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta'];
    const rare = (minute: number): Came[] => words.map((word, index) => ({ _msg: `${word} failed with`, count: (minute + index) % 5 === 0 ? 1 : 0, host: 'h0' })); // prettier-ignore
    const busy = (minute: number): Came[] => [
      ...rare(minute),
      { _msg: 'cannot reach inventory of', count: minute % 60 < 10 ? 150 : 5, host: 'h0' },
    ];
    const world = new PatternWorld();
    world.run(PAST, busy);
    world.run(20, (minute) => [
      ...busy(minute),
      ...words.map((word) => ({ _msg: `${word} failed with`, count: minute >= PAST + 3 ? 12 : 0, host: 'h0' })),
    ]);
    expect(world.alerts.filter(({ detector }) => detector === 'error_rate')).to.deep.equal([]);
    expect(ofPatterns(world)).to.have.length(5);
  });

  it('are watched from a snapshot of a release on that did not know of them', () => {
    const hosted = hostedMerger(alerting);
    const text = readFileSync(path.resolve('test/fixtures/snapshots/alerting.v2.txt'), 'utf8');
    const state = hosted.restore(Buffer.from(text, 'base64'));
    if (state === null) throw new Error('The snapshot cannot be read.');
    const bytes = Buffer.from(hosted.snapshot(state));
    expect(hosted.snapshot(hosted.restore(bytes) as typeof state).equals(bytes)).to.equal(true);
    // what it had of the log is not taken again, and of patterns all is new
    const tell = (processor: string, value: Buffer, offset: number): void => {
      const source = { partition: 0, offset, number: 0, appendedAt: 1_795_478_410_000 };
      const { value: own, headers } = partialRecord(processor, source, { kind: 'partial', tenantId: 1, retentionDays: 0, value });
      hosted.fold(state, partialInputOf(0, { value: own, headers, offset: '100', timestamp: '1795478590000' } as unknown as KafkaMessage));
    };
    tell('rates', encodeRates([]), 1);
    expect(hosted.snapshot(state).equals(bytes)).to.equal(true);
    const [seen] = encodeSeen([{ high: 0, low: 1, severity: 3, first: 1, message: 'x', stream: '{}' }]);
    tell('patterns', seen as Buffer, 1);
    expect(hosted.snapshot(state).equals(bytes)).to.equal(false);
  });
});
