import { expect } from 'chai';
import { Clusterer } from '../../../pipeline/clusterer/clusterer.ts';
import { MessagePatterns } from '../../../pipeline/clusterer/message-patterns.ts';
import { fingerprintOf } from '../../../pipeline/clusterer/shapes.ts';
import { capturedLines, contentOf, messageOf, type CapturedLine } from './captured.ts';

const LINES = capturedLines();

/** The lines of each log, as a tenant of its own. */
const logOf = ({ statement }: CapturedLine): string => statement.split('/').slice(0, 2).join('/');
const runtimeOf = ({ statement }: CapturedLine): string => statement.split('/')[0] as string;

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The indexes of each group, as a string. */
function groupsOf(keys: readonly string[]): ReadonlyMap<string, string> {
  const groups = grouped([...keys.keys()], (index) => keys[index] as string);
  return new Map([...groups].map(([key, group]) => [key, group.join(' ')]));
}

/** The lines of a log whose cluster is not exactly the lines of their statement. `textOf` is what is clustered. */
function wrongOf(log: readonly CapturedLine[], textOf: (line: CapturedLine) => string): readonly CapturedLine[] {
  const patterns = new MessagePatterns();
  const clusterer = new Clusterer({ maxTemplates: 50_000 });
  const prints = log.map((line, index) => {
    const bytes = Buffer.from(textOf(line));
    patterns.read(bytes, 0, bytes.length);
    clusterer.add(patterns.template(), index);
    return fingerprintOf(patterns.template());
  });
  const roots = prints.map((print) => clusterer.rootOf(print) as string);
  const statements = log.map(({ statement }) => statement);
  const [wanted, found] = [groupsOf(statements), groupsOf(roots)];
  return log.filter((_, index) => wanted.get(statements[index] as string) !== found.get(roots[index] as string));
}

/** The group accuracy of all lines and of each runtime's. */
function accuracy(textOf: (line: CapturedLine) => string): Readonly<Record<string, number>> {
  const wrong = [...grouped(LINES, logOf).values()].flatMap((log) => wrongOf(log, textOf));
  const share = (lines: readonly CapturedLine[], ofWrong: readonly CapturedLine[]): number => 1 - ofWrong.length / lines.length;
  const byRuntime = [...grouped(LINES, runtimeOf)].map(
    ([runtime, lines]) =>
      [
        runtime,
        share(
          lines,
          wrong.filter((line) => runtimeOf(line) === runtime),
        ),
      ] as const,
  );
  return Object.fromEntries([['all', share(LINES, wrong)], ...byRuntime]);
}

/** What is reached, rounded down; the goal is 0.97 of all (docs/patterns.md says what is missing). None of it may fall. */
const REACHED: readonly (readonly [string, (line: CapturedLine) => string, Readonly<Record<string, number>>])[] = [
  ['as they are shipped', ({ line }) => messageOf(line), { all: 0.83 }],
  ['without their headers', contentOf, { all: 0.82 }],
];

describe('the clusters of lines that real programs printed', () => {
  it('come from at least 4,000 lines of 250 statements', () => {
    expect(LINES.length).to.be.at.least(4000);
    expect(new Set(LINES.map(({ statement }) => statement)).size).to.be.at.least(250);
  });

  for (const [kind, textOf, reached] of REACHED)
    it(`are their statements, ${kind}`, () => {
      const found = accuracy(textOf);
      for (const [name, least] of Object.entries(reached)) expect(found[name], `${name} of ${JSON.stringify(found)}`).to.be.at.least(least);
    });
});
