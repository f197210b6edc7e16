import { expect } from 'chai';
import path from 'node:path';
import { ROOMS } from '../../lint/rooms.js';
import { circles, importGraph } from './circles.ts';

const root = path.resolve(import.meta.dirname, '../..');
const sources = new Set(Object.keys(ROOMS).map((room) => room.split('/')[0] ?? ''));

describe('circles of files', () => {
  it('are none', () => {
    const graph = importGraph(root, [...sources, 'lint', 'bench', 'test']);
    expect(graph.get('api/select/arguments.ts')).to.include('api/select/extra-filters.ts');
    expect(circles(graph)).to.deep.equal([]);
  });

  it('are found whatever their length, each once', () => {
    const graph = new Map([
      ['a', ['b', 'e']],
      ['b', ['c']],
      ['c', ['a', 'd']],
      ['d', ['e', 'f']],
      ['e', []],
      ['f', ['d']],
    ]);
    expect(circles(graph)).to.deep.equal([
      ['a', 'b', 'c'],
      ['d', 'f'],
    ]);
  });
});
