import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { jsonPartials } from '../../../../pipeline/processors/base/json.ts';
import type { PartialOutput } from '../../../../pipeline/processors/base/partial.ts';
import { partialInputOf, partialRecord, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { ruleAlerts } from '../../../../pipeline/alerting/rules/rule-alerts.ts';
import { TestBook } from '../../../fakes/test-book.ts';
import { evidenceOf, MINUTE_MS, ruleOf, RuleWorld, START } from './rule-world.ts';

const many = (count: number, entry: object = {}): object[] => Array.from({ length: count }, () => entry);
const states = (rows: readonly AlertRow[]): string[] => rows.map(({ state, fireCount }) => `${state} ${String(fireCount)}`);
const minutes = (count: number): number => count * MINUTE_MS;

describe('rules', () => {
  it('fire above a number while the window is still open, and are resolved when it is quiet', () => {
    const world = new RuleWorld();
    world.set(ruleOf({ query: 'level:error | stats count()', if: 'value > 5', name: 'errors', severity: 'critical' }));
    world.send({ at: minutes(2) + 5000, entries: many(4, { level: 'error', service: 'web' }) });
    world.send({ at: minutes(2) + 6000, entries: many(3, { level: 'error', service: 'web' }), partition: 1 });
    world.send({ at: minutes(2) + 7000, entries: many(50, { level: 'info', service: 'web' }) });
    expect(world.rows).to.deep.equal([]);
    world.tick(minutes(2) + 10_000);
    const [alert] = world.alerts;
    expect(alert).to.include({ tenantId: 1, retentionDays: 14, detector: 'rule', stream: '{}', service: '', severity: 'critical', state: 'firing', fireCount: 1 }); // prettier-ignore
    expect(alert?.title).to.equal("Entries rose to 7, rule 'errors' fires above 5");
    expect(alert?.description).to.equal('Entries were 7 in the minute from 2026-11-24T00:02:00Z. The rule fires when the value > 5. Its query is `level:error | stats count()`.'); // prettier-ignore
    expect(evidenceOf(alert as AlertRow)).to.deep.include({
      ...{ current_value: 7, threshold: 5, direction: 'up', entries: 7, scale_minutes: 1 },
      rule: { id: 'ru_1', name: 'errors', query: 'level:error | stats count()', every: '1m', if: 'value > 5', for: 1 },
      window: { start: '2026-11-24T00:02:00Z', end: '2026-11-24T00:03:00Z' },
      links: { query: 'level:error', all: 'level:error', start: '2026-11-23T23:47:00Z', end: '2026-11-24T00:18:00Z' },
    });
    world.restart();
    world.send({ at: minutes(3) + 1000 + 1000, entries: many(9, { level: 'error' }) });
    world.ticks(minutes(3) + 10_000, minutes(12));
    expect(states(world.alerts)).to.deep.equal(['resolved 2']);
    expect(world.alerts[0]?.note).to.equal('auto: back within baseline');
    expect(world.alerts[0]?.resolvedAt).to.be.within(START / 1000 + 9 * 60, START / 1000 + 11 * 60);
    // so soon again is the same alert
    world.send({ at: minutes(14), entries: many(9, { level: 'error' }) });
    world.tick(minutes(14) + 10_000);
    expect(states(world.alerts)).to.deep.equal(['firing 3']);
  });

  it('wait for late entries before they say that a value is low, and count nothing as nothing', () => {
    const world = new RuleWorld();
    world.set(ruleOf({ query: 'heartbeat | stats count()', if: 'value < 1', name: 'alive' }));
    const beat = (minute: number, late = 0): void => world.send({ at: minutes(minute) + 30_000 + late, entries: [{ _msg: 'heartbeat', _time: new Date(START + minutes(minute)).toISOString() }] }); // prettier-ignore
    for (let minute = 0; minute < 10; minute++) {
      beat(minute, minute === 5 ? 70_000 : 0);
      world.ticks(minutes(minute) + 40_000, minutes(minute) + 90_000);
    }
    expect(world.rows).to.deep.equal([]);
    world.ticks(minutes(10) + 40_000, minutes(12) + 50_000);
    expect(world.alerts).to.have.length(1);
    expect(world.alerts[0]?.title).to.equal("Entries fell to 0, rule 'alive' fires below 1");
    expect(evidenceOf(world.alerts[0] as AlertRow)).to.deep.include({ window: { start: '2026-11-24T00:10:00Z', end: '2026-11-24T00:11:00Z' } }); // prettier-ignore
  });

  it('of a tenant that has sent nothing at all are evaluated too', () => {
    const world = new RuleWorld();
    world.set(ruleOf({ query: '* | stats count()', if: 'value < 1', for: 3 }));
    world.ticks(0, minutes(5));
    expect(world.rows).to.deep.equal([]);
    world.ticks(minutes(5), minutes(7));
    expect(states(world.alerts)).to.deep.equal(['firing 2']);
  });

  it('by groups fire for each with its labels, and wait for so many windows as they shall', () => {
    const world = new RuleWorld();
    world.set(ruleOf({ query: '* | stats by (service, status) quantile(0.99, duration_ms)', if: 'value > 500', for: 2, name: 'slow' }));
    for (let minute = 1; minute < 4; minute++) {
      world.send({ at: minutes(minute) + 5000, entries: many(100, { service: 'checkout', status: 200, duration_ms: 800 }) });
      world.send({ at: minutes(minute) + 6000, entries: many(100, { service: 'cart', status: 200, duration_ms: minute === 2 ? 20 : 900 }), partition: 1 }); // prettier-ignore
    }
    world.restart();
    world.ticks(minutes(4), minutes(6));
    const [alert, ...others] = world.alerts;
    expect(others).to.deep.equal([]);
    expect(alert).to.include({ stream: '{service="checkout",status="200"}', service: 'checkout', state: 'firing', fireCount: 2 });
    expect(alert?.title).to.match(/^p99 of duration_ms of checkout, status 200 rose to (79\d|80\d), rule 'slow' fires above 500$/);
    expect(evidenceOf(alert as AlertRow)['group']).to.deep.equal({ service: 'checkout', status: '200' });
    expect((evidenceOf(alert as AlertRow)['links'] as { query: string }).query).to.equal('service:=checkout status:=200');
    expect((evidenceOf(alert as AlertRow)['series'] as { values: number[] }).values).to.have.length(3);
  });

  it('fire for a group that nobody has seen before while its first window is still open', () => {
    const world = new RuleWorld();
    world.set(ruleOf({ query: '* | stats by (service) count() if (status:>=500)', name: 'failing' }));
    world.send({ at: minutes(1) + 5000, entries: many(9, { service: 'cart', status: 503 }) });
    world.tick(minutes(1) + 10_000);
    expect(world.alerts.map(({ stream, title }) => [stream, title])).to.deep.equal([
      ['{service="cart"}', "Entries with status:>=500 of cart rose to 9, rule 'failing' fires above 5"],
    ]);
  });

  it('are watched by a detector, which fires where the value leaves its own past', () => {
    const world = new RuleWorld();
    world.set(ruleOf({ query: '{service="checkout"} | stats avg(duration_ms)', if: 'anomaly up' }));
    const minuteOf = (minute: number, value: number): void => {
      world.send({ at: minutes(minute) + 5000, entries: many(3, { service: 'checkout', duration_ms: value }) });
      world.tick(minutes(minute) + 30_000);
      if (minute % 50 === 0) world.restart();
    };
    for (let minute = 1; minute < 180; minute++) minuteOf(minute, 100 + ((minute * 7) % 9));
    expect(world.rows).to.deep.equal([]);
    for (let minute = 180; minute < 184; minute++) minuteOf(minute, 800);
    expect(world.alerts).to.have.length(1);
    expect(world.alerts[0]).to.include({ detector: 'rule', service: 'checkout', state: 'firing' });
    expect(world.alerts[0]?.title).to.match(/^Mean duration_ms of checkout rose to \d+, expected \d+ to \d+, rule 'mine'$/);
    expect(evidenceOf(world.alerts[0] as AlertRow)).to.include.keys('z_score', 'baseline_mean', 'expected');
    for (let minute = 184; minute < 200; minute++) minuteOf(minute, 100);
    expect(states(world.alerts)[0]).to.match(/^resolved/);
  });

  it('go on from a snapshot of a release in which no detector of others watched them', () => {
    const text = readFileSync(path.resolve('test/fixtures/snapshots/rule-alerts.v1.txt'), 'utf8');
    const hosted = hostedMerger(ruleAlerts);
    const state = hosted.restore(Buffer.from(text, 'base64'));
    if (state === null) throw new Error('The snapshot cannot be read.');
    const again = hosted.restore(hosted.snapshot(state));
    expect(again === null ? null : hosted.snapshot(again).equals(hosted.snapshot(state))).to.equal(true);
    const book = new TestBook();
    // what fires in it is resolved when it is quiet
    const ends = Array.from({ length: 12 }, (_none, at) => [{ kind: 'end', through: START + minutes(5 + at), isGone: false }]);
    const found = ends.flatMap((rows, at) => {
      const source = { partition: 0, offset: 1000 + at, number: 0, appendedAt: START + minutes(5 + at) };
      const [partial] = jsonPartials({ tenantId: 1, retentionDays: 7 }, rows);
      const { value, headers } = partialRecord('rules', source, partial as PartialOutput);
      const message = { value, headers, offset: String(1000 + at), timestamp: String(source.appendedAt) } as KafkaMessage;
      return hosted.fold(state, partialInputOf(0, message));
    });
    expect(states(book.take(found, START))).to.deep.equal(['firing 5', 'resolved 5']); // prettier-ignore
  });

  it('that somebody resolves by hand say nothing until they were back', () => {
    const world = new RuleWorld();
    world.set(ruleOf({}));
    const hot = (minute: number): void => {
      world.send({ at: minutes(minute) + 5000, entries: many(9) });
      world.ticks(minutes(minute) + 10_000, minutes(minute) + 50_000);
    };
    hot(1);
    world.resolve(world.alerts[0] as AlertRow, 'known', minutes(1) + 55_000);
    world.restart();
    for (let minute = 2; minute < 6; minute++) hot(minute);
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([['resolved', 'known']]);
    world.ticks(minutes(6), minutes(14));
    hot(14);
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([['resolved', 'known'], ['firing', '']]); // prettier-ignore
  });

  it('end their alerts when they are deleted, or measure something else, and keep them with another name', () => {
    const world = new RuleWorld();
    world.set(ruleOf({}));
    world.set(ruleOf({ id: 'ru_2', if: 'value > 1', name: 'other' }), { slot: 2 });
    world.send({ at: minutes(1) + 5000, entries: many(9) });
    world.tick(minutes(1) + 10_000);
    expect(states(world.alerts)).to.deep.equal(['firing 1', 'firing 1']);
    world.set(ruleOf({ name: 'renamed' }), { at: minutes(1) + 20_000, version: 2 });
    expect(states(world.alerts)).to.deep.equal(['firing 1', 'firing 1']);
    world.set(ruleOf({ if: 'value > 1000' }), { at: minutes(1) + 21_000, version: 3 });
    world.set(null, { at: minutes(1) + 22_000, slot: 2, version: 2 });
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([
      ['resolved', 'auto: the rule was changed'],
      ['resolved', 'auto: the rule was deleted'],
    ]);
  });

  it('of one tenant see nothing of another, and cost nothing where a tenant has none', () => {
    const world = new RuleWorld();
    world.set(ruleOf({}), { tenantId: 2 });
    world.send({ at: minutes(1), entries: many(50) });
    world.tick(minutes(1) + 10_000);
    expect(world.rows).to.deep.equal([]);
    // two partitions have told the rule, and nothing else
    expect(world.partials).to.have.length(2);
  });

  it('say which entries had no part, of too many groups and beyond their budget', () => {
    const world = new RuleWorld();
    world.set(ruleOf({ query: '* | stats by (user) count()', if: 'value > 50', name: 'users' }));
    world.set(ruleOf({ id: 'ru_2', query: '~"(a|b|c)*d.{0,300}e$" | stats count()', if: 'value > 1000000', name: 'costly' }), { slot: 2 });
    world.send({ at: minutes(1) + 5000, entries: Array.from({ length: 300 }, (_none, user) => ({ user: `u${String(user)}`, _msg: 'abc'.repeat(1300) })) }); // prettier-ignore
    world.ticks(minutes(1) + 10_000, minutes(4));
    const titles = world.alerts.map(({ title, severity, state }) => [severity, state, title.replace(/\d+ entries/, 'N entries')]);
    expect(titles).to.deep.equal([
      ['info', 'firing', "Rule 'users' has too many groups: N entries belong to none"],
      ['info', 'firing', "Rule 'costly' is over its budget: N entries were not evaluated"],
    ]);
    expect(Math.max(...world.sizes)).to.be.below(100_000);
  });
});
