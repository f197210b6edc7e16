import { expect } from 'chai';
import { figureText, grouped, merged, placeOf, readEvidence, rowOf, shareText, type Alert } from '../../web/ui/alerts/evidence.ts';
import { withRule } from '../../web/ui/alerts/sensitivity-rules.ts';
import { hoursOf, isGone, windowsOf } from '../../web/ui/patterns/course.ts';
import { masked, SNIPPETS, snippetOf } from '../../web/ui/start/snippets.ts';

const alert = (id: number, more: Partial<Alert> = {}): Alert => ({
  ...{ id, detector_type: 'log_rate', stream: '{}', severity: 'warning', title: `alert ${String(id)}`, description: '', evidence: {} },
  ...{ state: 'firing', fired_at: '2026-11-28T05:00:00Z', fire_count: 1, resolved_at: null, last_updated_at: '2026-11-28T05:00:00Z' },
  ...{ resolution_note: null, incident_id: null },
  ...more,
});

describe('the evidence of an alert', () => {
  it('is read piece by piece', () => {
    const read = readEvidence({
      ...{ z_score: 14.2, current_value: 870, baseline_mean: 62, expected: { low: 54, high: 70 } },
      series: { minute: '2026-11-28T04:00:00Z', step: '1m', values: [1, 2, 3] },
      links: { query: 'level:error', start: '2026-11-28T04:00:00Z', end: '2026-11-28T05:00:00Z' },
      why: [{ field: 'pod', value: 'a', share: 0.996, baseline_share: 0.33 }],
      slow_traces: [{ trace_id: 'abc', duration_ms: 1234.56 }],
      failing_traces: [{ trace_id: 'def' }],
      exemplars: [{ trace_id: 'abd', value: 0.25, metric: 'took_seconds' }, { trace_id: 'abe', value: '+Inf' }, { trace_id: 'x' }, null],
      sessions: ['one', '', 7, 'two'],
    });
    expect(read.sessions).to.deep.equal(['one', 'two']);
    expect(read.expected).to.deep.equal({ low: 54, high: 70 });
    expect(read.series).to.deep.equal({ start: Date.parse('2026-11-28T04:00:00Z'), stepMs: 60_000, values: [1, 2, 3] });
    expect(read.link?.query).to.equal('level:error');
    expect(read.why).to.deep.equal([{ field: 'pod', value: 'a', share: 0.996, before: 0.33 }]);
    expect(read.traces).to.deep.equal([
      { id: 'abc', note: '1,234.6 ms' },
      { id: 'def', note: 'failed' },
      { id: 'abd', note: 'took_seconds 0.25' },
      { id: 'abe', note: 'sample +Inf' },
    ]);
    expect(read.others).to.deep.equal([]);
  });

  it('is of a place: what its stream has beside the service', () => {
    expect(placeOf('{env="demo",pod="web-1",service="web"}')).to.equal('pod=web-1');
    expect(placeOf('{service="web"}')).to.equal('');
    expect(placeOf('{}')).to.equal('');
    expect(placeOf(String.raw`{k8s.node="a\"b",pod="<i>"}`)).to.equal('k8s.node=a"b pod=<i>');
    expect(placeOf('up == 0')).to.equal('');
    expect(placeOf(`{pod="${'x'.repeat(500)}"}`)).to.have.length(80);
  });

  it('of a form that is not known is a table, with units', () => {
    const { others } = readEvidence({ duration_p95_ms: 12.5, sent_bytes: 100, rate_per_min: 7, where: { shard: 3 }, list: [1, 2] });
    expect(others).to.deep.equal([
      ['duration p95', '12.5 ms'],
      ['sent', '100 B'],
      ['rate', '7 a minute'],
      ['where shard', '3'],
      ['list', '[1,2]'],
    ]);
    expect(rowOf('took_ms', '<b>x</b>')).to.deep.equal(['took ms', '<b>x</b>']);
  });

  it('that is broken or hostile breaks nothing', () => {
    const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":"y"}') as unknown;
    for (const evidence of [
      null,
      undefined,
      'text',
      7,
      [],
      hostile,
      { series: 'x', expected: [], why: {}, links: null, window: 3, z_score: 'NaN' },
    ]) {
      const read = readEvidence(evidence);
      expect(read.series).to.equal(null);
      expect(read.why).to.deep.equal([]);
    }
    const unlike = readEvidence({
      why: [null, { field: 1 }, { field: 'a', value: 'b', share: 'c' }],
      series: { minute: 'never', values: [1, 2] },
    });
    expect(unlike.why).to.deep.equal([]);
    expect(unlike.series).to.equal(null);
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_none, at) => [`n${String(at)}`, 'x'.repeat(5000)]));
    const { others } = readEvidence(many);
    expect(others).to.have.length(100);
    expect(others[0]?.[1]).to.have.length(2000);
  });
});

describe('the list of alerts', () => {
  it('has those of an incident together, and those that fire first', () => {
    const ended = { state: 'resolved', resolved_at: '2026-11-28T05:10:00Z' } as const;
    const { firing, resolved } = grouped([alert(1, ended), alert(2, { incident_id: 9 }), alert(3), alert(4, { incident_id: 9, ...ended })]);
    expect(firing.map(({ alerts }) => alerts.map(({ id }) => id))).to.deep.equal([[2, 4], [3]]);
    expect(resolved.map(({ alerts }) => alerts.map(({ id }) => id))).to.deep.equal([[1]]);
  });

  it('takes a change in its place, and what is new in front', () => {
    const changed = merged([alert(1), alert(2)], alert(2, { fire_count: 5 }));
    expect(changed.map(({ id, fire_count: many }) => [id, many])).to.deep.equal([[1, 1], [2, 5]]); // prettier-ignore
    expect(merged(changed, alert(3)).map(({ id }) => id)).to.deep.equal([3, 1, 2]);
  });

  it('has shares and figures that a person reads', () => {
    expect([0, 0.0005, 0.02, 0.33, 0.996, 1].map(shareText)).to.deep.equal(['0 %', '< 0.1 %', '2 %', '33 %', '99.6 %', '100 %']);
    expect([870.4, 62.31, 3.333].map(figureText)).to.deep.equal(['870', '62.3', '3.33']);
  });
});

describe('snippets of the first steps', () => {
  it('have the key only in the copy', () => {
    const key = 'lw_$&secretsecret';
    for (const snippet of SNIPPETS) {
      expect(snippetOf(snippet, 'http://127.0.0.1:1', key))
        .to.contain(key)
        .and.contain('http://127.0.0.1:1');
      expect(snippetOf(snippet, 'http://127.0.0.1:1', masked(key))).to.not.contain('secret');
    }
  });
});

describe('the sensitivity of a detector', () => {
  it('is one rule in front of the others, and none where it is taken back', () => {
    const other = { detector: 'silence', sensitivity: 'off' } as const;
    const own = { detector: 'log_rate', stream: '{a="b"}', sensitivity: 'low' } as const;
    expect(withRule([other], 'log_rate', '{a="b"}', 'low')).to.deep.equal([own, other]);
    expect(withRule([own, other], 'log_rate', '{a="b"}', 'high')).to.deep.equal([{ ...own, sensitivity: 'high' }, other]);
    expect(withRule([own, other], 'log_rate', '', 'off')).to.deep.equal([own, { detector: 'log_rate', sensitivity: 'off' }, other]);
    expect(withRule([own, other], 'log_rate', '{a="b"}', null)).to.deep.equal([other]);
  });
});

describe('patterns', () => {
  it('are gone where they were regular and the last quarter has none', () => {
    expect(isGone({ trend: [...Array<number>(18).fill(5), ...Array<number>(6).fill(0)] })).to.equal(true);
    expect(isGone({ trend: [...Array<number>(18).fill(5), 0, 0, 0, 0, 0, 1] })).to.equal(false);
    expect(isGone({ trend: [5, ...Array<number>(23).fill(0)] })).to.equal(false);
    expect(isGone({})).to.equal(false);
  });

  it('have a bar for each hour, also for those without entries', () => {
    const history = [
      { time: '2026-11-28T01:00:00Z', hits: 3 },
      { time: '2026-11-28T03:00:00Z', hits: 5 },
    ];
    expect(hoursOf(history, '2026-11-28T05:00:00Z')).to.deep.equal([3, 0, 5, 0]);
    expect(hoursOf([], '2026-11-28T05:00:00Z')).to.deep.equal([]);
    expect(hoursOf([{ time: '1970-01-01T00:00:00Z', hits: 1 }], '2026-11-28T05:00:00Z')).to.have.length(169);
    expect(hoursOf([{ time: 'never', hits: 1 }], 'never')).to.deep.equal([]);
  });

  it('are compared with the window of the same length before', () => {
    expect(windowsOf('-6h')).to.deep.equal({ a: '-12h..-6h', b: '-6h..now' });
    expect(windowsOf('yesterday')).to.deep.equal({ a: '-48h..-24h', b: '-24h..now' });
  });
});
