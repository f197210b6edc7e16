import { expect } from 'chai';
import type { Stored } from '../../../sinks/audit/compare.ts';
import type { StoredPositions } from '../../../sinks/audit/stored.ts';
import { positionsInShards } from '../../../sinks/audit/stored-in-shards.ts';

/** A shard with these records, each with the indexes of its rows. */
const shard = (records: Readonly<Record<number, readonly number[]>>): StoredPositions => {
  const all = Object.entries(records).map(([offset, indexes]) => ({ offset: Number(offset), indexes }));
  return {
    between: (_partition, first, last) =>
      Promise.resolve(
        all
          .filter(({ offset }) => offset >= first && offset <= last)
          .map(({ offset, indexes }): Stored => ({
            ...{ offset, timestamp: 7, rows: indexes.length, distinct: new Set(indexes).size, last: Math.max(...indexes) },
          })),
      ),
    copies: (_partition, offsets) =>
      Promise.resolve(
        new Map(
          all
            .filter(({ offset }) => offsets.includes(offset))
            .map(({ offset, indexes }) => [`${String(offset)}@7`, new Map(indexes.map((index) => [index, 1]))]),
        ),
      ),
    firstBefore: (_partition, before) => {
      const offsets = all.map(({ offset }) => offset).filter((offset) => offset < before);
      return Promise.resolve(offsets.length === 0 ? null : Math.min(...offsets));
    },
    highest: () => Promise.resolve(Math.max(-1, ...all.map(({ offset }) => offset))),
  };
};

describe('the positions in several shards', () => {
  it('are those of all, in their order', async () => {
    const both = positionsInShards([shard({ 1: [0], 4: [0, 1] }), shard({ 2: [0, 1, 2] })]);
    expect((await both.between(0, 0, 9)).map(({ offset, rows }) => [offset, rows])).to.deep.equal([[1, 1], [2, 3], [4, 2]]); // prettier-ignore
    expect(await both.highest(0)).to.equal(4);
    expect([await both.firstBefore(0, 3, 0), await both.firstBefore(0, 1, 0)]).to.deep.equal([1, null]);
    expect(await positionsInShards([shard({}), shard({})]).highest(0)).to.equal(-1);
  });

  it('show a record that lies in two as doubled', async () => {
    const both = positionsInShards([shard({ 1: [0, 1] }), shard({ 1: [0, 1] })]);
    expect(await both.between(0, 0, 9)).to.deep.equal([{ offset: 1, timestamp: 7, rows: 4, distinct: 2, last: 1 }]);
    expect([...((await both.copies(0, [1])).get('1@7') ?? [])]).to.deep.equal([[0, 2], [1, 2]]); // prettier-ignore
  });

  it('of one shard are its own', () => {
    const only = shard({});
    expect(positionsInShards([only])).to.equal(only);
  });
});
