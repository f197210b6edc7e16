import { expect } from 'chai';
import { pino } from 'pino';
import { Enricher, type Outcome } from '../../../api/alerts/enricher.ts';
import type { QueryJob } from '../../../api/query/engine.ts';
import { alertRow, PART_WHY, type AlertRow } from '../../../pipeline/alerting/book/alert.ts';
import { alert } from '../../fakes/alerts-record.ts';
import { eventually } from '../../fakes/eventually.ts';

const UPDATED = 1_800_000_000;
const MINUTE_MS = 60_000;
const START = UPDATED * 1000 - MINUTE_MS;
const iso = (ms: number): string => new Date(ms).toISOString();

/** An alert of errors that has just fired. */
const fired = (more: Partial<AlertRow> = {}): AlertRow => ({
  ...alertRow(
    alert({
      ...{ detector: 'error_rate', stream: '{service="web"}', firedAt: UPDATED, updatedAt: UPDATED, fireCount: 1 },
      evidence: JSON.stringify({
        direction: 'up',
        ...{ window: { start: iso(START), end: iso(START + MINUTE_MS) }, baseline_mean: 20 },
        links: { query: '{service="web"} level:error' },
      }),
    }),
    7,
  ),
  ...more,
});

type Asked = { readonly operation: string; readonly query: string; readonly start: string; readonly end: string };

/** An engine that knows some errors, and how many entries there are of each query. */
function enricherOver({ usualErrors = 0, hold = false, now = UPDATED * 1000, fail = 0, ofSession = {} } = {}) {
  const asked: Asked[] = [];
  const jobs: QueryJob[] = [];
  const held: (() => void)[] = [];
  const written: (readonly [number, AlertRow])[] = [];
  const outcomes: Outcome[] = [];
  const facets = (counts: Readonly<Record<string, Readonly<Record<string, number>>>>): unknown => ({
    facets: Object.fromEntries(Object.entries(counts).map(([name, values]) => [name, Object.entries(values).map(([value, hits]) => ({ value, hits }))])),
  }); // prettier-ignore
  const answer = ({ operation, query, start }: Asked): unknown => {
    if (operation === 'search')
      return { logs: ['card 1 declined', 'card 22 declined', 'no bank', ''].map((message) => ({ _msg: message, ...ofSession })) };
    if (start === iso(START)) return facets({ _stream: { all: 100 }, version: { 2: 90, 1: 10 }, level: { error: 100 } });
    return query.endsWith('level:error')
      ? facets({ _stream: { all: usualErrors }, version: { 1: usualErrors }, level: { error: usualErrors } })
      : facets({ _stream: { all: 2000 }, version: { 1: 2000 }, level: { info: 2000 } });
  };
  const enricher = new Enricher({
    engine: {
      run: async (job) => {
        const { query, start, end } = job.parameters as Asked;
        asked.push({ operation: job.operation, query, start, end });
        jobs.push(job);
        if (hold) await new Promise<void>((resolve) => held.push(resolve));
        if (jobs.length <= fail) throw new Error('ClickHouse is away');
        return { body: JSON.stringify(answer({ operation: job.operation, query, start, end })) };
      },
    },
    write: (partition, rows) => {
      for (const row of rows) written.push([partition, row]);
      return Promise.resolve();
    },
    log: pino({ level: 'silent' }),
    onOutcome: (outcome) => outcomes.push(outcome),
    now: () => now,
    againMs: 0,
  });
  return { enricher, asked, jobs, held, written, outcomes };
}

describe('the enricher of alerts', () => {
  it('looks at no alert about requests, which names traces itself', async () => {
    const { enricher, asked, outcomes } = enricherOver();
    const evidence = JSON.stringify({ ...(JSON.parse(fired().evidence) as object), links: { traces: '/traces?service=web' } });
    await enricher.take([fired({ evidence })], 3);
    expect([asked, outcomes]).to.deep.equal([[], []]);
  });

  it('tells what has changed and messages, as a row of its own under the same version', async () => {
    const { enricher, written, asked, jobs, outcomes } = enricherOver();
    await enricher.take([fired()], 3);
    expect(written.length).to.equal(1);
    const [[partition, row]] = written as [readonly [number, AlertRow]];
    expect(partition).to.equal(3);
    expect(row).to.include({
      part: PART_WHY,
      id: fired().id,
      tenantId: fired().tenantId,
      version: 7,
      title: 'most are `card <N> declined`',
    });
    expect(row.description).to.equal('Most are `card <N> declined` (67 %). What has changed most: version 2 (90 %, usually 0 %).');
    expect(JSON.parse(row.evidence)).to.deep.equal({
      sample_messages: ['card 1 declined', 'no bank'],
      templates: [
        { template: 'card <N> declined', share: 0.667 },
        { template: 'no bank', share: 0.333 },
      ],
      why: [{ field: 'version', value: '2', share: 0.9, baseline_share: 0 }],
    });
    // hardly any usual errors: what is usual is told by all entries, and that errors are errors is no news
    expect(asked.map(({ operation, query }) => [operation, query])).to.deep.equal([
      ['search', '{service="web"} level:error | fields _msg, session_id, session.id'],
      ['facets', '{service="web"} level:error'],
      ['facets', '{service="web"} level:error'],
      ['facets', '{service="web"}'],
    ]);
    expect(asked[1]).to.include({ start: iso(START), end: iso(START + MINUTE_MS - 1) });
    expect(asked[2]).to.include({ start: iso(START - 63 * MINUTE_MS), end: iso(START - 3 * MINUTE_MS - 1) });
    expect(new Set(jobs.map(({ tenantId }) => tenantId))).to.deep.equal(new Set([fired().tenantId]));
    expect(outcomes).to.deep.equal(['done']);
  });

  it('names the sessions of those entries, where users saw them', async () => {
    for (const ofSession of [{ session_id: 'one' }, { 'session.id': 'one' }]) {
      const { enricher, written } = enricherOver({ ofSession });
      await enricher.take([fired()], 3);
      expect((JSON.parse(written[0]?.[1].evidence ?? '') as { readonly sessions: unknown }).sessions).to.deep.equal(['one']);
    }
  });

  it('says what most entries are where there are more of them, and not of another value that rose', async () => {
    const { enricher, written } = enricherOver();
    const known = JSON.parse(fired().evidence) as object;
    const counted = { entries: 100, current_value: 100 };
    const ofEach = [counted, { ...counted, current_value: 3198 }, { ...counted, direction: 'down' }, { direction: 'down' }];
    for (const more of ofEach) await enricher.take([fired({ evidence: JSON.stringify({ ...known, ...more }) })], 0);
    expect(written.map(([, { title }]) => title)).to.deep.equal(['most are `card <N> declined`', '', '', '']);
  });

  it('compares a later window with what was usual before the alert, not with its own beginning', async () => {
    const { enricher, asked, written } = enricherOver({ usualErrors: 30 });
    const later = START + 5 * MINUTE_MS;
    const known = JSON.parse(fired().evidence) as object;
    const evidence = JSON.stringify({ ...known, window: { start: iso(later), end: iso(later + MINUTE_MS) } });
    await enricher.take([fired({ evidence, updatedAt: UPDATED + 300, fireCount: 6 })], 0);
    expect(written.length).to.equal(1);
    expect(asked[1]).to.include({ start: iso(later), end: iso(later + MINUTE_MS - 1) });
    expect(asked[2]).to.include({ start: iso(START - 63 * MINUTE_MS), end: iso(START - 3 * MINUTE_MS - 1) });
  });

  it('compares errors with usual errors where there are enough', async () => {
    const { enricher, asked } = enricherOver({ usualErrors: 30 });
    await enricher.take([fired()], 0);
    expect(asked.length).to.equal(3);
  });

  it('takes a shorter past where many entries are expected', async () => {
    const { enricher, asked } = enricherOver({ usualErrors: 30 });
    const evidence = JSON.stringify({ ...(JSON.parse(fired().evidence) as object), baseline_mean: 30_000 });
    await enricher.take([fired({ evidence })], 0);
    expect(asked[2]?.start).to.equal(iso(START - 13 * MINUTE_MS));
  });

  it('looks at an alert when it fires and at some later windows, at none that is over, and at nothing that it told itself', async () => {
    const { enricher, written } = enricherOver();
    await enricher.take(
      [
        fired({ state: 'resolved' }),
        fired({ part: PART_WHY }),
        fired({ firedAt: UPDATED - 20, fireCount: 2 }),
        fired({ firedAt: UPDATED - 20, fireCount: 6 }),
        fired({ fireCount: 3 }),
      ],
      0,
    );
    expect(written.map(([, { fireCount }]) => fireCount)).to.have.members([6, 3]);
  });

  it('passes over what has fired long ago, as after an outage', async () => {
    const { enricher, asked, outcomes } = enricherOver({ now: UPDATED * 1000 + 16 * MINUTE_MS });
    await enricher.take([fired()], 0);
    expect([asked, outcomes]).to.deep.equal([[], ['late']]);
  });

  it('tries again what fails, three times, and goes on', async () => {
    const busy = enricherOver({ fail: 2 });
    await busy.enricher.take([fired()], 0);
    expect([busy.outcomes, busy.written.length]).to.deep.equal([['again', 'again', 'done'], 1]);
    const failing = enricherOver({ fail: Infinity });
    await failing.enricher.take([fired()], 0);
    expect([failing.outcomes, failing.written]).to.deep.equal([['again', 'again', 'failed'], []]);
    const { enricher, outcomes } = enricherOver();
    const unreadable = ['', '{}', '[]', '{"window":{"start":"x","end":"y"},"links":{"query":"*"}}'];
    for (const [id, evidence] of unreadable.entries()) await enricher.take([fired({ id, evidence })], 0);
    expect(outcomes).to.deep.equal(unreadable.flatMap(() => ['again', 'again', 'failed']));
  });

  it('looks at an alert without an answer in its next window, once, while it fires, and gives it up in the thirtieth', async () => {
    const { enricher, outcomes, written } = enricherOver({ fail: 4 });
    const next = (fireCount: number, more: Partial<AlertRow> = {}): AlertRow => fired({ firedAt: UPDATED - 20, fireCount, ...more });
    await enricher.take([fired()], 0);
    await enricher.take([next(2, { tenantId: fired().tenantId + 1 })], 0);
    await enricher.take([next(2)], 0);
    expect(outcomes).to.deep.equal(['again', 'again', 'failed', 'failed']);
    await enricher.take([next(3)], 0);
    await enricher.take([next(4)], 0);
    expect(outcomes.slice(4)).to.deep.equal(['done']);
    expect(written.map(([, { fireCount }]) => fireCount)).to.deep.equal([3]);
    const over = enricherOver({ fail: Infinity });
    await over.enricher.take([fired()], 0);
    await over.enricher.take([next(2, { state: 'resolved' })], 0);
    await over.enricher.take([next(3)], 0);
    expect(over.outcomes).to.deep.equal(['again', 'again', 'failed']);
    await over.enricher.take([fired()], 0);
    await over.enricher.take([next(30)], 0);
    await over.enricher.take([next(31)], 0);
    expect(over.outcomes.slice(3)).to.deep.equal(['again', 'again', 'failed', 'failed']);
  });

  it('looks in the next window at those that found too many waiting, and remembers so many of a tenant', async () => {
    const { enricher, outcomes } = enricherOver({ hold: true });
    const ids = Array.from({ length: 51 + 60 }, (_none, index) => index + 1);
    void enricher.take(ids.map((id) => fired({ id })), 0); // prettier-ignore
    expect(outcomes.filter((outcome) => outcome === 'busy').length).to.equal(60);
    // all of them come again, and find no place again: those of 50 ids, as the others are not remembered
    void enricher.take(ids.map((id) => fired({ id, firedAt: UPDATED - 20, fireCount: 2 })), 0); // prettier-ignore
    expect(outcomes.filter((outcome) => outcome === 'busy').length).to.equal(60 + 50);
    await enricher.stop();
  });

  it('looks at one alert of a tenant at a time, and lets others in between', async () => {
    const { enricher, jobs, held, written, outcomes } = enricherOver({ hold: true });
    const mine = Array.from({ length: 60 }, (_none, index) => fired({ tenantId: 1, id: index + 1 }));
    const all = [enricher.take(mine, 0), enricher.take([fired({ tenantId: 2, id: 100 })], 1)];
    // one is being looked at, fifty wait, and the others are given up
    expect(outcomes).to.deep.equal(Array.from({ length: 9 }, () => 'busy'));
    expect(jobs.map(({ tenantId }) => tenantId)).to.deep.equal([1, 2]);
    let isOver = false;
    void Promise.all(all).then(() => (isOver = true));
    const release = (): boolean => {
      for (const one of held.splice(0)) one();
      return isOver;
    };
    await eventually('the end', release, (over) => over);
    expect(outcomes.filter((outcome) => outcome === 'done').length).to.equal(52);
    expect(written.length).to.equal(52);
    expect(written.findIndex(([, { tenantId }]) => tenantId === 2)).to.be.lessThan(2);
  });

  it('leaves what it was looking at to whoever has it next', async () => {
    const { enricher, held, written } = enricherOver({ hold: true, fail: Infinity });
    let isDone = false;
    void enricher.take([fired()], 0).then(() => (isDone = true));
    await enricher.stop();
    for (const release of held) release();
    await new Promise((resolve) => setImmediate(resolve));
    expect([isDone, written]).to.deep.equal([false, []]);
  });
});
