import { expect } from 'chai';
import { courseSpan, perMinute } from '../../web/ui/alerts/course.ts';
import { readEvidence, type Alert } from '../../web/ui/alerts/evidence.ts';
import { bodyOf, type Rule } from '../../web/ui/alerts/rule-body.ts';
import { strengthOf, withRule } from '../../web/ui/alerts/sensitivity-rules.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 28, 10, minute)).toISOString();
const alert = (firedAt: string, resolvedAt: string | null): Alert => ({ fired_at: firedAt, resolved_at: resolvedAt }) as Alert;
const bare = readEvidence({});

describe('the course of an alert', () => {
  it('begins an hour before, and ends half an hour after, or now without the minute that is open', () => {
    const now = Date.parse(at(30)) + 20_000;
    const span = courseSpan(alert(at(0), null), bare, now);
    expect(span).to.include({ step: '1m', start: Date.parse(at(-60)), end: Date.parse(at(30)) });
    expect(span?.times).to.have.length(90);
    expect(courseSpan(alert(at(-300), at(-240)), bare, now)).to.include({ step: '1m', end: Date.parse(at(-210)) });
    expect(courseSpan(alert(at(-60 * 24), null), bare, now)?.step).to.equal('15m');
    expect(courseSpan(alert('never', null), bare, now)).to.equal(null);
  });
  it('has entries a minute at each step, those of earlier days in their place', () => {
    const span = courseSpan(alert(at(-300), null), bare, Date.parse(at(0)));
    if (span === null) throw new Error('There is no span.');
    expect(span.step).to.equal('5m');
    const day = 864e5;
    const hits = [
      { time: new Date(span.start - day + 5 * 6e4).toISOString(), hits: 50 },
      { time: at(500), hits: 9 },
    ];
    const values = perMinute(hits, span, day);
    expect(values[1]).to.equal(10);
    expect(values.reduce((sum, one) => sum + one, 0)).to.equal(10);
  });
});

describe('what is set of detectors and rules', () => {
  const one = { detector: 'log_rate', stream: '{a="b"}', sensitivity: 'off' } as const;
  it('is found by the first rule that fits, else that of all tenants', () => {
    const all = { detector: 'log_rate', sensitivity: 'high' } as const;
    expect(strengthOf({ rules: [one, all], defaults: [] }, 'log_rate', '{a="b"}')).to.equal('off');
    expect(strengthOf({ rules: [one, all], defaults: [] }, 'log_rate', '{c="d"}')).to.equal('high');
    expect(strengthOf({ rules: [], defaults: [{ sensitivity: 'low' }] }, 'silence', '')).to.equal('low');
    expect(strengthOf({ rules: [], defaults: [] }, 'silence', '')).to.equal('normal');
  });
  it('keeps a rule for one stream in front of one for all', () => {
    const all = withRule([one], 'log_rate', '', 'low');
    expect(all).to.deep.equal([one, { detector: 'log_rate', sensitivity: 'low' }]);
    expect(strengthOf({ rules: all, defaults: [] }, 'log_rate', '{a="b"}')).to.equal('off');
  });
  it('sends all members of a rule but those that the service makes', () => {
    const rule = { id: 'ru_1', created_at: at(0), name: 'n', query: 'q', if: 'value > 1', detector: { name: 'x', state: 'on', since: null, reason: null } } as Rule; // prettier-ignore
    expect(bodyOf(rule)).to.deep.equal({ name: 'n', query: 'q', if: 'value > 1' });
  });
});
