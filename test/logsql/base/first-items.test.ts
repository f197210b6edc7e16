import { expect } from 'chai';
import { FirstItems } from '../../../logsql/base/first-items.ts';
import { QueryMemory } from '../../../logsql/base/memory.ts';

const memory = (): QueryMemory => new QueryMemory({ maxRows: 1e6, maxBytes: 1e9 });
type Item = { readonly key: number; readonly at: number };
const compare = (a: { readonly key: number }, b: { readonly key: number }): number => a.key - b.key;
/** Numbers that look random, many of them equal. */
const items: readonly Item[] = Array.from({ length: 20_000 }, (_none, at) => ({ key: (at * 7919) % 1009, at }));

describe('The first items of an order', () => {
  for (const most of [0, 1, 50, 3000, 20_000, Infinity])
    it(`${String(most)} of 20,000: those of a stable sort of all, and what is dropped is told`, () => {
      const dropped: Item[] = [];
      const first = new FirstItems<Item>({ most, memory: memory(), compare, onDropped: (some) => dropped.push(...some) });
      const refused = items.filter((item) => {
        if (!first.mayBeFirst(item)) return true;
        first.push(item);
        return false;
      });
      const sorted = items.toSorted(compare);
      expect(first.inOrder()).to.deep.equal(most === Infinity ? sorted : sorted.slice(0, most));
      expect(dropped.length + refused.length + first.inOrder().length).to.equal(items.length);
    });

  it('holds few, and refuses an item that comes behind them by one comparison', () => {
    let [held, most, compared] = [0, 0, 0];
    const first = new FirstItems<Item, { readonly key: number }>({
      ...{ most: 10, memory: memory() },
      compare: (a, b) => {
        compared += 1;
        return compare(a, b);
      },
      onDropped: (some) => (held -= some.length),
    });
    for (const item of items.toSorted(compare)) {
      if (!first.mayBeFirst({ key: item.key })) continue;
      first.push(item);
      most = Math.max(most, (held += 1));
    }
    expect(most).to.be.below(2000);
    expect(compared).to.be.below(items.length * 2);
  });
});
