import { expect } from 'chai';
import path from 'node:path';
import { ROOMS } from '../../lint/rooms.js';
import { circles, importGraph } from './circles.ts';

const root = path.resolve(import.meta.dirname, '../..');
const sources = new Set(Object.keys(ROOMS).map((room) => room.split('/')[0] ?? ''));

/** Circles that are being taken apart. An entry that is not a circle any more is removed. */
const KNOWN: readonly (readonly string[])[] = [
  ['pipeline/alerts/alert.ts', 'pipeline/alerts/shown-alert.ts'],
  ['pipeline/processors/alerting/pattern-watch.ts', 'pipeline/processors/alerting/tenant-watch.ts'],
  ['pipeline/processors/alerting/services.ts', 'pipeline/processors/alerting/watched-streams.ts'],
  ['pipeline/processors/base/partial.ts', 'pipeline/processors/base/processor.ts'],
];

describe('circles of files', () => {
  it('are none, apart from those that are known', () => {
    const graph = importGraph(root, [...sources, 'lint', 'bench', 'test']);
    expect(graph.get('api/select/arguments.ts')).to.include('api/select/extra-filters.ts');
    expect(circles(graph)).to.deep.equal(KNOWN);
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
