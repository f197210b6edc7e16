import { expect } from 'chai';
import { Clusterer } from '../../../pipeline/clusterer/clusterer.ts';
import { headerOf } from '../../../pipeline/clusterer/headers/index.ts';
import { Shapes, fingerprintOf } from '../../../pipeline/clusterer/shapes.ts';
import { ownLines } from './own-lines.ts';

describe('the clusters of services of today', () => {
  it('are the statements that printed the lines: group accuracy of 0.97 at least', () => {
    const lines = ownLines(4000);
    const shapes = new Shapes();
    const clusterer = new Clusterer({ maxTemplates: 50_000 });
    const prints = lines.map(({ line }, index) => {
      const bytes = Buffer.from(line);
      const { contentAt, contentEnd } = headerOf(bytes, 0, bytes.length);
      shapes.read(bytes, contentAt, contentEnd);
      clusterer.add(shapes.template(), index);
      return fingerprintOf(shapes.template());
    });
    const roots = prints.map((print) => clusterer.rootOf(print) as string);
    const groupsOf = (keys: readonly string[]): Map<string, string> => {
      const groups = new Map<string, number[]>();
      keys.forEach((key, index) => groups.set(key, [...(groups.get(key) ?? []), index]));
      return new Map([...groups].map(([key, group]) => [key, group.join(' ')]));
    };
    const statements = lines.map(({ statement }) => statement);
    const [wanted, found] = [groupsOf(statements), groupsOf(roots)];
    const wrong = lines.filter((_, index) => wanted.get(statements[index] as string) !== found.get(roots[index] as string));
    expect(1 - wrong.length / lines.length, [...new Set(wrong.map(({ statement }) => statement))].join('\n')).to.be.at.least(0.97);
  });
});
