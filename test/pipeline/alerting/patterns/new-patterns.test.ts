import { expect } from 'chai';
import { alertRow, type Alert, alertLayout } from '../../../../pipeline/alerting/book/alert.ts';
import { AlertBook } from '../../../../pipeline/alerting/book/alert-book.ts';
import { fingerprintOf } from '../../../../pipeline/clusterer/shapes.ts';
import { sensitivityIn } from '../../../../pipeline/alerting/settings/sensitivity.ts';
import { clusters } from '../../../../pipeline/processors/patterns/clusters.ts';
import { NewPatterns, type NewPattern } from '../../../../pipeline/alerting/patterns/new-patterns.ts';
import { withSettings } from '../../../../pipeline/processors/settings/with-settings.ts';
import { TestBook } from '../../../fakes/test-book.ts';
import books from '../../../fixtures/snapshots/books.json' with { type: 'json' };
import { FoldedPatterns } from '../../../fakes/folded-patterns.ts';

const HOUR = 3600;
/** 2026-11-24 00:00 UTC, seconds. */
const START = 1_795_478_400;
const WHOSE = { tenantId: 1, retentionDays: 14 };

const pattern = (template: string, at: number, more: Partial<NewPattern> = {}): NewPattern => ({
  ...{ fingerprint: fingerprintOf(template), template, example: template, severity: 5, stream: '{service="web"}', first: at * 1000 },
  ...more,
});

/** What has known a tenant, and its service, for more than a day. */
function learned(): NewPatterns {
  const news = new NewPatterns();
  news.take(pattern('started', START - 25 * HOUR), true, WHOSE, START - 25 * HOUR);
  return news;
}

describe('error templates that were never seen before', () => {
  it('fire once, and are over after an hour', () => {
    const news = learned();
    const alert = news.take(pattern('cannot connect to <IP>', START), true, WHOSE, START);
    expect(alert).to.include({
      kind: 'fired',
      detector: 'new_pattern',
      severity: 'warning',
      service: 'web',
      at: START,
      fireCount: 1,
    });
    expect(alert?.title).to.equal('New error of web: cannot connect to <IP>');
    expect(JSON.parse(alert?.evidence ?? '')).to.nested.include({
      normalized_message: 'cannot connect to <IP>',
      'links.all': '{service="web"} ',
    });
    expect(news.take(pattern('cannot connect to <IP>', START + 5), false, WHOSE, START + 5)).to.equal(null);
    expect(news.end(START + HOUR - 1)).to.deep.equal([]);
    expect(news.end(START + HOUR)).to.deep.equal([
      { kind: 'back', id: alert?.id, at: START + HOUR, note: 'auto: the pattern is known by now' },
    ]);
    expect(news.end(START + 2 * HOUR)).to.deep.equal([]);
  });

  const quiet: readonly (readonly [string, NewPatterns, NewPattern])[] = [
    ['of a tenant in its first day', new NewPatterns(), pattern('a', START)],
    ['of a service in its first day', learned(), pattern('a', START, { stream: '{service="other"}' })],
    ['that are no errors', learned(), pattern('a', START, { severity: 4 })],
    ['of entries that came late', learned(), pattern('a', START - 2 * HOUR)],
  ];
  for (const [what, news, given] of quiet)
    it(`do not fire ${what}`, () => {
      expect(news.take(given, true, WHOSE, START)).to.equal(null);
    });

  it('are one alert from the sixth of an hour on', () => {
    const news = learned();
    const alerts = Array.from({ length: 30 }, (_none, index) => news.take(pattern(`error ${'abcdefghijklmnopqrstuvwxyzABCD'[index] ?? ''}`, START), true, WHOSE, START + index)); // prettier-ignore
    expect(new Set(alerts.map((alert) => alert?.id)).size).to.equal(6);
    expect(alerts.at(-1)).to.include({ title: '25 more new errors of web in this hour', fireCount: 25, stream: '{service="web"}' });
    expect((JSON.parse(alerts.at(-1)?.evidence ?? '') as { patterns: unknown[] }).patterns).to.have.length(20);
    expect(news.take(pattern('in the next hour', START + HOUR), true, WHOSE, START + HOUR)?.title).to.equal(
      'New error of web: in the next hour',
    );
  });

  it('are told as easily as is set: two, five or ten of an hour one by one, or none', () => {
    for (const [sensitivity, alone] of [
      ['low', 2],
      ['normal', 5],
      ['high', 10],
      ['off', -1],
    ] as const) {
      const news = learned();
      const alerts = Array.from('abcdefghijklm', (word, index) => news.take(pattern(`error ${word}`, START), true, WHOSE, START + index, sensitivity)); // prettier-ignore
      expect(new Set(alerts.flatMap((alert) => alert?.id ?? [])).size, sensitivity).to.equal(alone + 1);
    }
  });

  it('are told as rules say that are set for alerts, for the streams that they name, from a snapshot on too', () => {
    const hosted = withSettings(clusters);
    const said = { processor: 'alerting', tenantId: 1, key: 'sensitivity', version: 1 };
    const value = [{ detector: 'new_pattern', stream: '{service="web"}', sensitivity: 'off' }];
    let state = hosted.init();
    const tick = { kind: 'tick', partition: 0, offset: 0, appendedAt: START * 1000 } as const;
    expect(hosted.lacks?.(state, [{ ...said, value }])).to.have.length(1);
    hosted.fold(state, { ...tick, setting: { ...said, value } });
    expect(hosted.lacks?.(state, [{ ...said, value }])).to.deep.equal([]);
    state = hosted.restore(Buffer.from(hosted.snapshot(state))) as typeof state;
    const { sensitivities } = state.state;
    expect(sensitivityIn(sensitivities, 1, 'new_pattern', '{service="web"}')).to.equal('off');
    expect(sensitivityIn(sensitivities, 1, 'new_pattern', '{service="other"}')).to.equal('normal');
    expect(sensitivityIn(sensitivities, 2, 'new_pattern', '{service="web"}')).to.equal('normal');
    hosted.fold(state, { ...tick, setting: { ...said, value: null, version: 2 } });
    expect(sensitivities.size).to.equal(0);
  });

  it('are told as far as there is room for their alerts, of services with long names too', () => {
    const news = learned();
    const stream = `{service=${JSON.stringify('\u0001'.repeat(600))}}`;
    news.take(pattern('started', START - 25 * HOUR, { stream }), true, WHOSE, START - 25 * HOUR);
    const told = Array.from({ length: 200 }, (_none, index) =>
      news.take(pattern(`failed at ${'x'.repeat(index)}`, START, { stream }), true, WHOSE, START + 13 * index, 'high', 200_000),
    ).filter((alert) => alert !== null);
    expect(news.bytes).to.be.within(200_000, 240_000);
    expect(new Set(told.map(({ id }) => id)).size).to.be.within(3, 50);
    const written = JSON.stringify(news);
    expect(Buffer.byteLength(written)).to.be.below(1.02 * news.bytes);
    expect(JSON.stringify(NewPatterns.from(JSON.parse(written)))).to.equal(written);
    news.end(START + 10 * HOUR);
    expect(news.bytes).to.equal(0);
  });

  it('know the services of a state that names them', () => {
    const [version, since, , , ...rest] = JSON.parse(JSON.stringify(learned())) as [number, number, unknown, unknown, ...unknown[]];
    const named = NewPatterns.from([version, since, [['web', START - 25 * HOUR]], [['web', [1, 2]]], ...rest]);
    expect(named.take(pattern('a', START), true, WHOSE, START)?.service).to.equal('web');
  });

  it('of a release before are handed over once, go on, and end', () => {
    const { written, alerts } = (books as unknown as { patterns: { written: never; alerts: readonly Alert[] } }).patterns;
    let news = NewPatterns.from(written);
    const [first, last] = [alerts[0] as Alert, alerts.at(-1) as Alert];
    const carried = news.carried();
    expect(carried.map((command) => command.kind === 'carried' && command.alert.id)).to.deep.equal([
      ...new Set(alerts.map(({ id }) => id)),
    ]);
    expect(carried[0]).to.deep.equal({ kind: 'carried', alert: first, isByHand: false, openedAt: first.firedAt });
    expect(news.carried()).to.deep.equal([]);
    news = NewPatterns.from(JSON.parse(JSON.stringify(news)));
    expect(news.carried(), 'written by this release').to.deep.equal([]);
    const next = news.take(pattern('cannot 9', last.updatedAt + 1), true, WHOSE, last.updatedAt + 1);
    expect(next).to.include({
      kind: 'updated',
      id: last.id,
      fireCount: last.fireCount + 1,
      title: '3 more new errors of web in this hour',
    });
    expect(news.end(first.updatedAt + HOUR)).to.deep.include({ kind: 'back', id: first.id, at: first.updatedAt + HOUR, note: 'auto: the pattern is known by now' }); // prettier-ignore
  });

  it('are as they were after a snapshot', () => {
    const news = learned();
    news.take(pattern('a', START), true, WHOSE, START);
    const copy = NewPatterns.from(JSON.parse(JSON.stringify(news)));
    expect(JSON.stringify(copy)).to.equal(JSON.stringify(news));
    expect(copy.end(START + HOUR)).to.deep.equal(news.end(START + HOUR));
  });

  it('are not told where that is set', () => {
    const state = clusters.init();
    const set = (tenantId: number, value: string | null): void =>
      clusters.configure?.(state, { processor: 'clusters', tenantId, key: 'new_pattern', value, version: 1 });
    expect(clusters.checkSetting?.({ tenantId: 0, key: 'new_pattern', value: 'of' })).to.equal('new_pattern is "on" or "off".');
    set(0, 'off');
    set(1, 'on');
    expect([...state.reported]).to.deep.equal([
      [0, false],
      [1, true],
    ]);
    set(0, null);
    expect([...state.reported]).to.deep.equal([[1, true]]);
  });

  it('make alerts of any text, which fit into their row', () => {
    const news = learned();
    const hostile = '\u0000"\\'.repeat(2000);
    const stream = `{service=${JSON.stringify('\u0001'.repeat(300))},x=${JSON.stringify('"'.repeat(1000))}}`;
    news.take(pattern('started', START - 25 * HOUR, { stream }), true, WHOSE, START - 25 * HOUR);
    for (let index = 0; index < 30; index++) {
      const alert = news.take(pattern(`${hostile}${String(index)}`, START, { stream }), true, WHOSE, START);
      if (alert === null) continue;
      const row = new AlertBook().take(alert, { ...WHOSE, reporter: 'clusters', mayTake: () => true }, START);
      expect(() => alertLayout.encode([alertRow(row as Alert, 1)])).not.to.throw();
    }
  });

  it('come by the way of the service, and not again where they were forgotten', () => {
    const world = new FoldedPatterns(1);
    const send = (at: number, _msg: string): void => {
      const entry = { _time: new Date(at * 1000).toISOString(), _msg, level: 'error', service: 'web' };
      world.log(0, [entry], { appendedAt: at * 1000, retentionDays: 14 });
    };
    send(START - 25 * HOUR, 'started');
    send(START, 'cannot connect to 10.0.0.1');
    send(START + 1, 'cannot connect to 10.0.0.2');
    world.tick((START + 2 * HOUR) * 1000);
    for (const days of [10, 20]) send(START + days * 86_400, 'started');
    send(START + 30 * 86_400, 'again');
    send(START + 30 * 86_400 + 1, 'cannot connect to 10.0.0.2');
    const rows = new TestBook().take(world.written, START * 1000);
    expect(rows.map(({ state, title }) => [state, title])).to.deep.equal([
      ['firing', 'New error of web: cannot connect to <IP>'],
      ['resolved', 'New error of web: cannot connect to <IP>'],
      ['firing', 'New error of web: again'],
    ]);
  });
});
