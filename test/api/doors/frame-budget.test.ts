import { expect } from 'chai';
import { FrameBudget, type FrameAccount } from '../../../api/doors/frame-budget.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

class Connection {
  isHeldBack = false;
  isCut = false;
  readonly account: FrameAccount;
  constructor(budget: FrameBudget, owner: string) {
    this.account = budget.open(owner, this);
  }
  holdBack(): void {
    this.isHeldBack = true;
  }
  goOn(): void {
    this.isHeldBack = false;
  }
  cut(): void {
    this.isCut = true;
    this.account.set(0, 0);
  }
}

describe('the budget of frames', () => {
  let budget: FrameBudget;
  beforeEach(() => {
    budget = new FrameBudget(8 * MIB);
  });
  const connections = (owner: string, count: number): Connection[] => Array.from({ length: count }, () => new Connection(budget, owner));
  const heldBack = (all: readonly Connection[]): boolean[] => all.map(({ isHeldBack }) => isHeldBack);
  const cut = (all: readonly Connection[]): boolean[] => all.map(({ isCut }) => isCut);

  it('holds back all of an owner whose frames wait for the log, until it has half of its part', () => {
    const [mine, others] = [connections('tenant 1', 3), connections('tenant 2', 1)];
    mine[0]?.account.set(0, 1.5 * MIB);
    others[0]?.account.set(0, MIB);
    expect(heldBack([...mine, ...others])).to.deep.equal([false, false, false, false]);
    mine[1]?.account.set(0, MIB);
    expect(heldBack([...mine, ...others])).to.deep.equal([true, true, true, false]);
    const late = connections('tenant 1', 1);
    expect(heldBack(late)).to.deep.equal([true]);
    mine[1]?.account.set(0, 0);
    expect(heldBack(mine), '1.5 of 2 MiB').to.deep.equal([true, true, true]);
    mine[0]?.account.set(0, MIB);
    expect(heldBack([...mine, ...late])).to.deep.equal([false, false, false, false]);
  });

  it('lets each owner have a little, however much all have', () => {
    const many = Array.from({ length: 5 }, (_, index) => new Connection(budget, `tenant ${String(index)}`));
    for (const one of many) one.account.set(0, 1.9 * MIB);
    expect(heldBack(many), 'more than 8 MiB').to.deep.equal([false, false, false, false, true]);
    const [quiet] = connections('tenant 9', 1);
    quiet?.account.set(200 * KIB, 200 * KIB);
    expect([quiet?.isHeldBack, quiet?.isCut]).to.deep.equal([false, false]);
    many[0]?.account.set(0, 0);
    expect(heldBack(many).at(-1), 'still 1.9 MiB').to.equal(true);
    many[4]?.account.set(0, 0.9 * MIB);
    expect(heldBack(many).at(-1)).to.equal(false);
  });

  it('cuts the longest frame that does not end of an owner that has too much of them', () => {
    const [mine, others] = [connections('address a', 40), connections('address b', 1)];
    others[0]?.account.set(64 * KIB, 0);
    mine.forEach(({ account }, index) => account.set((index === 5 ? 65 : 60) * KIB, 0));
    expect(cut(others)).to.deep.equal([false]);
    const all = cut(mine);
    expect(all[5]).to.equal(true);
    expect(all.filter(Boolean)).to.have.length(6);
    expect(budget.bytes).to.be.at.most(2 * MIB + 64 * KIB);
  });

  it('cuts that of whoever has most, where it is too much of all together', () => {
    const owners = Array.from({ length: 9 }, (_, index) => connections(`tenant ${String(index)}`, 20));
    for (const [index, own] of owners.entries()) for (const { account } of own.slice(0, index === 3 ? 20 : 14)) account.set(64 * KIB, 0);
    expect(owners[3]?.some(({ isCut }) => isCut)).to.equal(true);
    expect(owners.filter((_, index) => index !== 3).every((own) => cut(own).every((isCut) => !isCut))).to.equal(true);
    expect(budget.bytes).to.be.at.most(8 * MIB);
  });

  it('has what connections hold under their tenants, once these are known, and nothing of those that are gone', () => {
    const all = connections('address a', 2);
    for (const { account } of all) account.set(10, 1.5 * MIB);
    expect(heldBack(all)).to.deep.equal([true, true]);
    all[0]?.account.moveTo('tenant 1');
    all[1]?.account.moveTo('tenant 2');
    expect(heldBack(all), 'each has 1.5 of 2 MiB').to.deep.equal([false, false]);
    for (const { account } of all) {
      account.end();
      account.end();
    }
    expect(budget.bytes).to.equal(0);
  });
});
