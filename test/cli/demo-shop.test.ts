import { expect } from 'chai';
import { RELEASE, Shop, type DemoEntry, type Timed } from '../../cli/shop/shop.ts';

const FROM = Date.UTC(2026, 10, 24);
const HOUR = 3_600_000;

/** The entries of a time, asked for in such steps. */
function made(shop: Shop, from: number, to: number, stepMs: number, most = 1000): Timed[] {
  const all: Timed[] = [];
  for (let at = from; at <= to; at += stepMs)
    for (let part = shop.upTo(at, most); part.length > 0; part = shop.upTo(at, most)) all.push(...part);
  return all;
}
const of = (entries: readonly Timed[], service: string, level: string): DemoEntry[] =>
  entries.map(({ entry }) => entry).filter((entry) => entry['service'] === service && entry['level'] === level);

describe('the shop of the demo', () => {
  it('has the same entries for the same seed, however they are asked for, in the order of their times', () => {
    const [once, often] = [
      made(new Shop(7, 5, FROM), FROM + HOUR, FROM + HOUR, HOUR),
      made(new Shop(7, 5, FROM), FROM, FROM + HOUR, 10_000, 7),
    ];
    expect(often).to.deep.equal(once);
    expect(once.map(({ time }) => time)).to.deep.equal(once.map(({ time }) => time).sort((a, b) => a - b));
    expect(once.length).to.be.within(0.5 * 5 * 3600, 1.5 * 5 * 3600);
    expect(made(new Shop(8, 5, FROM), FROM + HOUR, FROM + HOUR, HOUR)).to.not.deep.equal(once);
  });

  it('has ids that several services share', () => {
    const entries = made(new Shop(1, 5, FROM), FROM + HOUR, FROM + HOUR, HOUR).map(({ entry }) => entry);
    const placed = entries.find(({ _msg }) => typeof _msg === 'string' && _msg.startsWith('order '));
    for (const id of ['trace_id', 'order_id', 'user_id'])
      expect(new Set(entries.filter((entry) => entry[id] === placed?.[id]).map(({ service }) => service)), id).to.include.members(['checkout', 'payments']); // prettier-ignore
  });

  it('has a release of one pod whose payments fail, and checkout with them, until it is taken back', () => {
    const shop = new Shop(1, 5, FROM);
    shop.incident = { from: FROM + HOUR, to: FROM + 2 * HOUR };
    const before = made(shop, FROM + HOUR - 1, FROM + HOUR - 1, HOUR);
    const during = made(shop, FROM + 2 * HOUR - 1, FROM + 2 * HOUR - 1, HOUR);
    const after = made(shop, FROM + 3 * HOUR, FROM + 3 * HOUR, HOUR);
    const [few, many, back] = [before, during, after].map((entries) => of(entries, 'payments', 'error'));
    expect(many?.length).to.be.above(10 * (few?.length ?? 0));
    expect(many?.length).to.be.above(10 * (back?.length ?? 0) - 10);
    const bad = (many ?? []).filter(({ pod, version }) => pod === RELEASE.pod && version === RELEASE.after);
    expect(bad.length).to.be.above(0.9 * (many?.length ?? 0));
    expect(of(during, 'checkout', 'error').filter(({ upstream }) => upstream === RELEASE.pod).length).to.be.above(
      0.9 * (many?.length ?? 0) - 5,
    );
    expect(during.map(({ entry }) => entry['_msg'])).to.include(`payments ${RELEASE.after} listens on :8080`);
    expect(after.map(({ entry }) => entry['_msg'])).to.include(`payments ${RELEASE.before} listens on :8080`);
  });
});
