import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const ROOMS = ['pipeline', 'api', 'sinks', 'main', 'compose'];
/** Words that no log line has: the field says retry, publish, return, discard, halted, recovered, idle, fixed. */
const AVOIDED =
  /\b(?:nobody|whoever|anew|still stands?|stood still|stands still|(?:tried|given|asked|told|sent|taken) again|is repeated|goes on|tell|told|gives?|mend(?:ed)?|trouble|bur(?:y|ied)|parcels?|let go|at rest|made anew|looked)\b/i;
/** A call that logs, up to the end of its text. */
const CALL = /\b(?:log|#log)\.(?:debug|info|warn|error|fatal)\((.{1,700}?)\);?\n/gs;
const TEXT = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;

/** The texts of a file's log lines. */
const lines = (file: string): string[] =>
  [...readFileSync(path.join(root, file), 'utf8').matchAll(CALL)].flatMap(([, call = '']) =>
    [...call.matchAll(TEXT)].map(([, plain, template]) => plain ?? template ?? '').filter((text) => text.includes(' ')),
  );

describe('the words of log lines', () => {
  const files = ROOMS.flatMap((room) =>
    readdirSync(path.join(root, room), { recursive: true, encoding: 'utf8' }).map((name) => path.join(room, name)),
  ).filter((name) => /\.(?:ts|mjs)$/.test(name));
  const all = files.flatMap((file) => lines(file).map((text) => ({ file, text })));

  it('are those of the field', () => {
    expect(all.filter(({ text }) => AVOIDED.test(text))).to.deep.equal([]);
  });

  it('are at most twenty-five a sentence', () => {
    const long = all.filter(({ text }) => text.split(/[.;:] /).some((sentence) => sentence.split(' ').length > 25));
    expect(long).to.deep.equal([]);
  });

  it('are found by this test', () => {
    expect(all.length).to.be.above(50);
  });
});
