import { expect } from 'chai';
import { throughPipes } from '../../logsql/evaluation/pipeline.ts';
import { cpuMs } from '../cpu-time.ts';
import { EVERYTHING, entryOf, parse } from './support.ts';

/** Texts that a careless reader goes through again and again, by what is repeated. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  json: ['"\\', '\\"', '{"a":', '[', '{"a":"\\"', '"', '1', '{"a":1},', '["a\\"', '-'],
  logfmt: ['a="b ', 'a="\\" ', '"', '`', '=', ' ', 'a=', 'a="x\\q '],
  syslog: ['[a b="c"', '[a b="\\"', ' b="c"', '[', '"', ' ', ':', 'a'],
  text: ['a', 'a ', '1', '1_', '12,', 'ab ', '\u001b[0', '\u001b[1m', '<N>-', '1:', '1.', '<', '%', 'é', '\n', '"', '`', 'x='],
};
/** How a text must begin so that the pipe reads on. */
const BEGINS: Readonly<Record<string, string>> = { json: '{"x":', array: '["x",', syslog: '<13>1 - - - - - ', text: '' };

const PIPES: readonly (readonly [pipe: string, hostile: string, begin: string])[] = [
  ['unpack_json', 'json', 'json'],
  ['unpack_json', 'json', 'text'],
  ['unroll by (_msg)', 'json', 'array'],
  ['json_array_len(_msg) as n', 'json', 'array'],
  ['unpack_logfmt', 'logfmt', 'text'],
  ['unpack_syslog', 'syslog', 'syslog'],
  ['unpack_syslog', 'syslog', 'text'],
  ['unpack_words as w', 'text', 'text'],
  ['extract "<a>=<b> <c>"', 'logfmt', 'text'],
  ['extract "x<a>y<b>z"', 'text', 'text'],
  ['replace ("a", "b")', 'text', 'text'],
  ['replace_regexp ("[0-9]+", "N")', 'text', 'text'],
  ['collapse_nums prettify', 'text', 'text'],
  ['decolorize', 'text', 'text'],
  ['format "<q:_msg><urlencode:_msg><urldecode:_msg><base64decode:_msg><hexdecode:_msg>" as z', 'text', 'text'],
  ['filter seq(a, x, b)', 'text', 'text'],
  ['filter _msg:>1', 'text', 'text'],
  ['filter i(b)', 'text', 'text'],
  ['stats by (_msg:5) count()', 'text', 'text'],
];
const SMALL = 2000;
const TIMES = 32;

/** What the pipe takes for the same characters in one long value, against many short ones: 1 where it is linear, TIMES where quadratic. */
function growth(query: string, begin: string, piece: string): number {
  const { pipes } = parse(`* | ${query}`);
  const textOf = (length: number): string => begin + piece.repeat(Math.ceil(length / piece.length));
  const cost = (texts: readonly string[]): number => {
    const rows = texts.map((text) => entryOf({ _msg: text }));
    const began = cpuMs();
    throughPipes(pipes, rows, EVERYTHING);
    return cpuMs() - began;
  };
  const many = cost(Array.from({ length: TIMES }, () => textOf(SMALL)));
  return cost([textOf(SMALL * TIMES)]) / Math.max(many, 1);
}

describe('texts are read in one pass', () => {
  for (const [query, hostile, begin] of PIPES)
    it(`${query}, ${begin === 'text' ? 'any text' : `after ${JSON.stringify(BEGINS[begin])}`}`, () => {
      for (const piece of HOSTILE[hostile] ?? []) {
        let least = Infinity;
        for (let tries = 0; tries < 5 && least >= TIMES / 4; tries += 1) least = Math.min(least, growth(query, BEGINS[begin] ?? '', piece));
        expect(least, JSON.stringify(piece)).to.be.below(TIMES / 4);
      }
    });
  it('and two texts are compared in one', () => {
    for (const query of ['sort by (_msg)', 'sort by (_msg) limit 5', 'stats min(_msg), max(_msg)']) {
      const { pipes } = parse(`* | ${query}`);
      const cost = (length: number, count: number): number => {
        const rows = Array.from({ length: count }, (_none, index) => entryOf({ _msg: `${'1'.repeat(length)}${String(index % 2)}x` }));
        const began = cpuMs();
        throughPipes(pipes, rows, EVERYTHING);
        return cpuMs() - began;
      };
      let least = Infinity;
      for (let tries = 0; tries < 5 && least >= TIMES / 4; tries += 1)
        least = Math.min(least, cost(SMALL * TIMES, 2) / Math.max(cost(SMALL, 2 * TIMES), 1));
      expect(least, query).to.be.below(TIMES / 4);
    }
  });
});
