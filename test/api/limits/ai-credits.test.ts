import { expect } from 'chai';
import { pino } from 'pino';
import { effectivePlan } from '../../../api/control/flags.ts';
import { AiCredits, type Spender } from '../../../api/limits/ai-credits.ts';
import { CreditLedger, type CreditFeature } from '../../../api/limits/credit-ledger.ts';
import { findPlan, PLANS } from '../../../api/tenants/plans.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { FakeLog, FakeTopic } from '../../fakes/compacted-log.ts';

const logger = pino({ level: 'silent' });
const NOON = Date.UTC(2026, 10, 21, 12);
const spender = (plan: string, tenantId = 7, flags: Readonly<Record<string, boolean | number>> = {}): Spender => ({
  tenantId,
  plan: effectivePlan({ plan, flags }),
});

/** What it throws: status, wait and sentence; null where it does not. */
async function refusalOf(
  work: () => Promise<unknown> | void,
): Promise<{ status: number; wait: number | undefined; message: string } | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { status: error.status, wait: error.options.retryAfter, message: error.message };
  }
}

describe('AI credits', () => {
  let topic: FakeTopic;
  let now: number;
  const nodes: AiCredits[] = [];
  /** A node; one that was killed is just not used any more. */
  const node = async (): Promise<AiCredits> => {
    const made = new AiCredits({ log: new FakeLog(topic), logger, clock: () => now, retryMs: 1, deadlineMs: 500 });
    nodes.push(made);
    await made.start();
    return made;
  };
  beforeEach(() => {
    topic = new FakeTopic();
    now = NOON;
  });
  afterEach(() => Promise.all(nodes.splice(0).map((one) => one.stop())));

  const limits: [plan: string, daily: number, deep: number, playbook: number][] = [
    ['trial', 200, 40, 20],
    ['team', 200, 40, 20],
    ['growth', 500, 100, 50],
  ];
  for (const [plan, daily, deep, playbook] of limits)
    it(`${plan}: every limit at its boundary, through a kill in the middle`, async () => {
      expect(findPlan(plan)?.credits).to.deep.equal({ daily, deepRca: deep, playbookImport: playbook });
      const of = spender(plan);
      const spendAll = async (feature: CreditFeature, count: number): Promise<void> => {
        let current = await node();
        for (let at = 0; at < count; at += 1) {
          // killed, and started again from the topic alone
          if (at === Math.floor(count / 2) || at === count - 1) current = await node();
          expect(await refusalOf(() => current.spend(of, feature)), `${feature} ${String(at)}`).to.equal(null);
        }
        current = await node();
        const refused = await refusalOf(() => current.spend(of, feature));
        expect(refused?.status, feature).to.equal(429);
        expect(refused?.wait).to.equal(12 * 3600);
      };
      await spendAll('deep_rca', deep);
      await spendAll('playbook_import', playbook);
      const current = await node();
      expect((await refusalOf(() => current.spend(of, 'deep_rca')))?.message).to.equal(
        `The daily AI credits for deep RCA are used up: ${String(deep)} of the plan ${plan}; they reset at 00:00 UTC.`,
      );
      expect((await refusalOf(() => current.spend(of, 'playbook_import')))?.message).to.contain(
        `for playbook import are used up: ${String(playbook)} `,
      );
      await spendAll('explain', daily - deep - playbook);
      const last = await node();
      expect((await refusalOf(() => last.spend(of, 'query')))?.message).to.equal(
        `The daily AI credits are used up: ${String(daily)} of the plan ${plan}; they reset at 00:00 UTC.`,
      );
      // both are used up: the share is named before the total
      expect((await refusalOf(() => last.spend(of, 'deep_rca')))?.message).to.contain('for deep RCA');
      expect(last.useOf(of)).to.deep.equal({
        total: { used: daily, limit: daily },
        features: { deep_rca: { used: deep, limit: deep }, playbook_import: { used: playbook, limit: playbook } },
      });
      now = Date.UTC(2026, 10, 22);
      expect(await refusalOf(() => last.spend(of, 'deep_rca'))).to.equal(null);
      expect(last.useOf(of).total.used).to.equal(1);
    });

  it('are exact where two nodes spend the last ones at once', async () => {
    const [a, b] = [await node(), await node()];
    const tries = Array.from({ length: 260 }, (_, at) => refusalOf(() => (at % 2 === 0 ? a : b).spend(spender('trial'), 'explain')));
    const refused = (await Promise.all(tries)).filter((one) => one !== null);
    expect(refused.map(({ status }) => status)).to.deep.equal(Array.from({ length: 60 }, () => 429));
    for (const one of [a, b]) expect(one.useOf(spender('trial')).total.used).to.equal(200);
  });

  it('are those of a tenant', async () => {
    const one = await node();
    for (let at = 0; at < 200; at += 1) await one.spend(spender('trial', 7), 'query');
    expect((await refusalOf(() => one.spend(spender('trial', 7), 'query')))?.status).to.equal(429);
    expect(await refusalOf(() => one.spend(spender('trial', 8), 'query'))).to.equal(null);
  });

  it('are given back, once', async () => {
    const [a, b] = [await node(), await node()];
    const spent = await a.spend(spender('trial'), 'deep_rca');
    await a.giveBack(spent);
    await a.giveBack(spent);
    await b.spend(spender('trial'), 'explain');
    expect(b.useOf(spender('trial'))).to.deep.include({ total: { used: 1, limit: 200 } });
    expect(b.useOf(spender('trial')).features['deep_rca']?.used).to.equal(0);
  });

  it('of every plan and flag: the gate, or no limit', async () => {
    const one = await node();
    const gate = (plan: string): object => ({ status: 403, wait: undefined, message: `AI is not available on your plan (${plan}).` });
    for (const { name } of PLANS) {
      const isOn = name !== 'trial_expired';
      expect(await refusalOf(() => one.admit(spender(name), 'explain')), name).to.deep.equal(isOn ? null : gate(name));
      expect(await refusalOf(() => one.admit(spender(name, 7, { ai: false }), 'explain')), name).to.deep.equal(gate(name));
      expect(await refusalOf(() => one.admit(spender(name, 7, { ai: true }), 'explain')), name).to.deep.equal(isOn ? null : gate(name));
    }
    expect(one.useOf(spender('unlimited')).total).to.deep.equal({ used: 0, limit: null });
    expect(one.useOf(spender('trial_expired')).total).to.deep.equal({ used: 0, limit: 0 });
    const contract = spender('custom', 9, { ai_credits: 2, deep_rca_credits: 1 });
    await one.spend(contract, 'deep_rca');
    expect((await refusalOf(() => one.spend(contract, 'deep_rca')))?.message).to.contain('for deep RCA are used up: 1 of the plan custom');
    await one.spend(contract, 'playbook_import');
    expect((await refusalOf(() => one.spend(contract, 'playbook_import')))?.message).to.contain(
      'credits are used up: 2 of the plan custom',
    );
  });

  it('are not spent while the topic cannot be read or written: 503', async () => {
    const one = await node();
    topic.down = true;
    expect(await refusalOf(() => one.spend(spender('trial'), 'explain'))).to.include({ status: 503, wait: 5 });
    const other = await node();
    expect(await refusalOf(() => other.admit(spender('trial'), 'explain'))).to.include({ status: 503, wait: 5 });
    topic.down = false;
  });

  it('take a refused request without a record: a tenant cannot fill the topic', async () => {
    const one = await node();
    for (let at = 0; at < 200; at += 1) await one.spend(spender('trial'), 'query');
    const { next } = topic;
    for (let at = 0; at < 20; at += 1) await refusalOf(() => one.spend(spender('trial'), 'query'));
    await refusalOf(() => one.spend(spender('trial_expired'), 'query'));
    expect(topic.next).to.equal(next);
  });
});

describe('the ledger of credits', () => {
  const DAY = 20_778;
  const record = (more: object = {}): string =>
    JSON.stringify({ v: 1, tenant: 7, day: DAY, feature: 'explain', limit: 2, feature_limit: null, ...more });

  it('counts a record once that a producer has sent twice', () => {
    const ledger = new CreditLedger();
    expect([ledger.fold('a', record(), DAY), ledger.fold('a', record(), DAY), ledger.fold('b', record(), DAY), ledger.fold('c', record(), DAY)]).to.deep.equal(['spent', null, 'spent', 'total']); // prettier-ignore
    expect(ledger.usedOf(7, DAY)).to.equal(2);
  });

  it('skips what it does not know, and days that are over', () => {
    const ledger = new CreditLedger();
    const values = [null, '', '{', 'null', '[]', '7', '"x"', record({ v: 2 }), record({ feature: 'magic' }), record({ feature: '__proto__' }), record({ tenant: 'x' }), record({ day: 1.5 }), record({ day: DAY - 2 }), record({ day: DAY + 2 })]; // prettier-ignore
    for (const [at, value] of values.entries()) expect(ledger.fold(String(at), value, DAY), String(value)).to.equal(null);
    expect(ledger.usedOf(7, DAY)).to.equal(0);
  });

  it('gives back only what counts', () => {
    const ledger = new CreditLedger();
    ledger.fold('x:back', record({ back: 'x' }), DAY);
    expect(ledger.usedOf(7, DAY)).to.equal(0);
    for (const id of ['a', 'b', 'c']) ledger.fold(id, record(), DAY);
    ledger.fold('c:back', record({ back: 'c' }), DAY);
    expect(ledger.usedOf(7, DAY)).to.equal(2);
    ledger.fold('a:back', record({ back: 'a' }), DAY);
    expect(ledger.usedOf(7, DAY)).to.equal(1);
    expect(ledger.fold('d', record(), DAY)).to.equal('spent');
  });
});
