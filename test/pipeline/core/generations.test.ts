import { expect } from 'chai';
import { Generations, RecentMap } from '../../../pipeline/core/generations.ts';

describe('a map of what was used lately', () => {
  it('finds what was put in, and forgets what nobody asked for', () => {
    const map = new RecentMap<number, string>(3);
    map.set(0, 'zero');
    expect(map.get(0)).to.equal('zero');
    expect(map.get(1)).to.equal(undefined);
    for (let key = 1; key <= 6; key++) map.set(key, 'x');
    expect(map.get(0)).to.equal(undefined);
  });

  it('keeps what is used, whatever else comes by', () => {
    const map = new RecentMap<number, string>(100);
    for (let hot = 0; hot < 50; hot++) map.set(-1 - hot, 'hot');
    for (let key = 0; key < 100_000; key++) {
      map.set(key, 'once');
      expect(map.get(-1 - (key % 50))).to.equal('hot');
    }
  });

  it('holds at most twice the items, and twice the bytes', () => {
    const made: Map<number, number>[] = [];
    const make = (): Map<number, number> => {
      const map = new Map<number, number>();
      made.push(map);
      return map;
    };
    const items = new Generations(make, 10);
    for (let key = 0; key < 1000; key++) items.tableFor().set(key, 0);
    expect(Math.max(...made.map(({ size }) => size))).to.equal(10);
    made.length = 0;
    const bytes = new Generations(make, Infinity, 100);
    for (let key = 0; key < 1000; key++) bytes.tableFor(9).set(key, 0);
    expect(Math.max(...made.map(({ size }) => size))).to.equal(11);
    expect(bytes.young.size + bytes.old.size).to.be.at.most(22);
  });

  it('takes one item that is larger than all it may hold', () => {
    const map = new RecentMap<string, number>(10, 100);
    map.set('huge', 1, 1000);
    expect(map.get('huge')).to.equal(1);
    map.set('small', 2, 1);
    expect([map.get('huge', 1000), map.get('small', 1)]).to.deep.equal([1, 2]);
  });
});
