import { expect } from 'chai';
import { effectivePlan, FLAGS, parseFlag } from '../../../api/control/flags.ts';
import { findPlan, PLANS } from '../../../api/tenants/plans.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

describe('plans', () => {
  const GB = 1e9;
  const rows: readonly (readonly [string, number, number, number, number])[] = [
    ['trial', 500, 73 * GB, 1200, 14],
    ['team', 500, 34 * GB, 1200, 30],
    ['growth', 2000, 135 * GB, 3000, 30],
    ['trial_expired', 100, 0, 300, 14],
    ['unlimited', Infinity, Infinity, Infinity, 0],
  ];
  for (const [name, entriesPerSecond, dailyBytes, queriesPerMinute, retentionDays] of rows) {
    it(`${name}: the contract's numbers`, () =>
      expect(findPlan(name)).to.include({ entriesPerSecond, dailyBytes, queriesPerMinute, retentionDays }));
  }

  const features: readonly (readonly [string, boolean, boolean, number, boolean])[] = [
    ['trial', true, false, 0, true],
    ['team', true, true, 0, true],
    ['growth', true, true, 5, true],
    ['custom', true, true, 0, true],
    ['trial_expired', false, false, 0, false],
    ['unlimited', true, true, 100, true],
  ];
  for (const [name, metrics, replay, projects, ai] of features)
    it(`${name}: its features`, () => expect(findPlan(name)?.features).to.deep.equal({ metrics, replay, projects, ai }));

  it('custom: no rate of queries unless its contract has one', () => {
    expect(findPlan('custom')?.queriesPerMinute).to.equal(Infinity);
    expect(effectivePlan({ plan: 'custom', flags: { queries_per_minute: 9 } }).queriesPerMinute).to.equal(9);
  });

  it('the shards that a tenant begins with', () => {
    expect(PLANS.map(({ name, shards }) => `${name} ${shards}`)).to.deep.equal(
      ['trial 1', 'team 1', 'growth 2', 'custom 2', 'trial_expired 1', 'unlimited 1'], // prettier-ignore
    );
  });

  it('the queries of a tenant that run at once', () => {
    expect(PLANS.map(({ name, queriesAtOnce }) => `${name} ${queriesAtOnce}`)).to.deep.equal(
      ['trial 4', 'team 4', 'growth 4', 'custom 4', 'trial_expired 4', 'unlimited 16'], // prettier-ignore
    );
  });

  it('aliases, and names that are no plan', () => {
    expect(findPlan('free')?.name).to.equal('trial');
    expect(findPlan('enterprise')?.name).to.equal('custom');
    for (const name of ['', 'Team', '__proto__', 'constructor', 'toString']) expect(findPlan(name), name).to.equal(undefined);
    expect(new Set(PLANS.map((plan) => plan.name)).size).to.equal(PLANS.length);
  });
});

describe('flags', () => {
  const ok: readonly (readonly [string, string, string, boolean | number | null])[] = [
    ['demo', 'on', 'team', true],
    ['demo', 'FALSE', 'team', false],
    ['metrics', '0', 'team', false],
    ['replay', 'yes', 'trial', true],
    ['ai', 'default', 'trial', null],
    ['projects', '12', 'team', 12],
    ['projects', 'on', 'team', 5],
    ['projects', 'off', 'team', 0],
    ['entries_per_second', '50', 'custom', 50],
    ['daily_bytes', '0', 'custom', 0],
    ['retention_days', '365', 'custom', 365],
    ['queries_at_once', '16', 'custom', 16],
    ['streams_per_day', '5000', 'custom', 5000],
    ['ceiling_bytes', '1000000', 'team', 1_000_000],
    ['shards', '12', 'team', 12],
  ];
  for (const [flag, text, plan, value] of ok)
    it(`${flag}=${text} on ${plan}: ${String(value)}`, () => expect(parseFlag(flag, text, plan)).to.equal(value));

  const bad: readonly (readonly [string, string, string, string])[] = [
    ['nothing', 'on', 'team', 'No flag is named "nothing"'],
    ['__proto__', 'on', 'team', 'No flag is named'],
    ['demo', 'maybe', 'team', 'is on, off or default'],
    ['demo', '2', 'team', 'is on, off or default'],
    ['projects', '-1', 'team', 'whole number'],
    ['projects', '1.5', 'team', 'whole number'],
    ['projects', '99999', 'team', 'at most 10000'],
    ['entries_per_second', '50', 'team', 'belongs to the plan custom'],
    ['retention_days', '366', 'custom', 'at most 365'],
    ['retention_days', 'NaN', 'custom', 'whole number'],
    ['shards', '2049', 'unlimited', 'at most 2048'],
  ];
  for (const [flag, text, plan, message] of bad)
    it(`${flag}=${text} on ${plan}: 400`, () => expect(() => parseFlag(flag, text, plan)).to.throw(HttpError, message));

  it('stand in for what the plan says', () => {
    expect(effectivePlan({ plan: 'team', flags: { metrics: false, projects: 3 } }).features).to.deep.equal({
      metrics: false,
      replay: true,
      projects: 3,
      ai: true,
    });
    const flags = { entries_per_second: 7, daily_bytes: 0, queries_per_minute: 9, retention_days: 90 };
    const contract = { entriesPerSecond: 7, dailyBytes: 0, queriesPerMinute: 9, retentionDays: 90 };
    expect(effectivePlan({ plan: 'custom', flags })).to.include(contract);
    expect(effectivePlan({ plan: 'custom', flags: { queries_at_once: 0, streams_per_day: 3 } })).to.include({
      queriesAtOnce: 1,
      streamsPerDay: 3,
    });
    expect(effectivePlan({ plan: 'custom', flags: { retention_days: 0 } }).retentionDays).to.equal(1);
    expect(effectivePlan({ plan: 'team', flags: { ceiling_bytes: 5 } }).ceilingBytes).to.equal(5);
  });
  it('the numbers of a contract end with the plan custom, a ceiling with a paid plan', () => {
    expect(effectivePlan({ plan: 'team', flags: { entries_per_second: 7, retention_days: 3 } })).to.include({
      entriesPerSecond: 500,
      retentionDays: 30,
    });
    expect(effectivePlan({ plan: 'trial', flags: { ceiling_bytes: 5 } }).ceilingBytes).to.equal(73e9);
  });
  it('an unknown plan or flag of a newer release is the least', () => {
    expect(effectivePlan({ plan: 'galaxy', flags: { wormholes: true } }).name).to.equal('trial_expired');
    expect(effectivePlan({ plan: 'team', flags: { wormholes: true } })).to.deep.equal(findPlan('team'));
  });
  it('have unique names', () => expect(new Set(FLAGS.map((flag) => flag.name)).size).to.equal(FLAGS.length));
});
