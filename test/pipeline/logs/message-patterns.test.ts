import { expect } from 'chai';
import { LAYOUTS } from '../../../pipeline/clusterer/headers/layouts.ts';
import { Masker } from '../../../pipeline/clusterer/masker.ts';
import { fingerprintOf } from '../../../pipeline/clusterer/shapes.ts';
import { encodeColumns } from '../../../pipeline/logs/columns/column-encoder.ts';
import { readColumns } from '../../../pipeline/logs/columns/column-reader.ts';
import { LogColumns } from '../../../pipeline/logs/columns/log-columns.ts';
import { viewOf } from '../../../pipeline/logs/columns/record-view.ts';
import { addView, type Words } from '../../../pipeline/logs/columns/view-rows.ts';
import { WordTable } from '../../../pipeline/rows/words.ts';
import { Names } from '../../../pipeline/logs/names.ts';
import { newWriter } from './entry-lines.ts';

const MESSAGES = [
  'user 12 logged in from 10.0.0.1',
  'user 13 logged in from 10.0.0.2',
  'a "quoted" line\nwith a break\tand a tab',
  'é世界 12',
  'x'.repeat(127),
  'x '.repeat(64),
  'y 1 '.repeat(5000),
  'failed to open /var/log/app.log: ENOENT',
  '\u0000control\u001f',
  '7',
];

/** What a message's pattern must be: the first 8 bytes of the fingerprint of its template. */
function patternOf(message: string): string {
  const masker = new Masker();
  const bytes = Buffer.from(message);
  const length = masker.mask(bytes, 0, bytes.length);
  return fingerprintOf(Buffer.from(masker.out.subarray(0, length)).toString()).slice(0, 16);
}

type Rows = { readonly bytes: Buffer; readonly pattern: number; readonly count: number };
const patternsOf = ({ bytes, pattern, count }: Rows): string[] =>
  Array.from({ length: count }, (_none, row) =>
    bytes
      .readBigUInt64LE(pattern + 8 * row)
      .toString(16)
      .padStart(16, '0'),
  );

const viewIn = (value: Buffer, count: number): Rows => {
  const view = readColumns(value, count);
  if (typeof view === 'string') throw new Error(view);
  return view;
};

/** The value of a record with these entries, as ingest makes it. */
function written(entries: readonly object[]): Buffer {
  const writer = newWriter();
  for (const entry of entries) writer.add(entry);
  const [chunk] = writer.chunks();
  return chunk?.encode().value ?? Buffer.alloc(0);
}

describe('the pattern of an entry', () => {
  const expected = MESSAGES.map(patternOf);

  it('is the first eight bytes of the fingerprint of its message', () => {
    expect(patternsOf(viewIn(written(MESSAGES.map((_msg) => ({ _msg, n: 1 }))), MESSAGES.length))).to.deep.equal(expected);
    expect(expected[0]).to.equal(expected[1]);
    expect(new Set(expected).size).to.equal(MESSAGES.length - 1);
  });

  it('is that of the text of a message which is no string, and of one that stands elsewhere', () => {
    expect(patternsOf(viewIn(written([{ _msg: 7 }, { message: 'é世界 9' }]), 2))).to.deep.equal([patternOf('7'), patternOf('é世界 12')]);
  });

  it('is that of the content of a raw line, behind its header', () => {
    const lines = [
      '2026-11-24 10:00:00,123 INFO  [main] com.shop.Cart - took 5 ms',
      'I1124 10:00:00.000000   12 cart.go:17] took 6 ms',
      '{"log":"took 7 ms\\n","stream":"stdout","time":"2026-11-24T10:00:00Z"}',
    ];
    const value = written(lines.map((_msg) => ({ _msg, level: 'info' })));
    expect(patternsOf(viewIn(value, lines.length))).to.deep.equal(lines.map(() => patternOf('took 5 ms')));
  });

  it('is the same whether its header was read for level and time or not', () => {
    const long = `2026-11-24T10:00:00Z stderr F ${'x'.repeat(500)}`;
    const examples = LAYOUTS.map(({ example }) => example);
    const lines = [
      ...[...MESSAGES, ...examples, ...examples.map((example) => `2026-11-24T10:00:00Z stderr F ${example}`)],
      ...examples.flatMap((example) => [`${example}took "5" ms`, `${example}took 5 ms\n\tat shop.go:5`, `${example} \u0001${long}`]),
      ...[`[${'y'.repeat(600)}] INFO took 5 ms`, `${long} "quoted" I1124 10:00:00.000000   12 cart.go:17] took 6 ms`],
    ].filter((line) => line !== '');
    const read = (more: object): string[] => patternsOf(viewIn(written(lines.map((_msg) => ({ _msg, ...more }))), lines.length));
    expect(read({})).to.deep.equal(read({ level: 'info', _time: Date.now() }));
  });

  it('is 0 of an empty message', () => {
    const line = `${JSON.stringify({ _time: '1795269600000000000', _stream_id: '1', _msg: '' })}\n`;
    const view = viewOf({ encoding: 'ndjson', value: Buffer.from(line), count: 1 });
    expect(view === null ? [] : patternsOf(view)).to.deep.equal(['0'.repeat(16)]);
  });

  it('is the same for a record of lines, and of rows that share a block', () => {
    const lines = MESSAGES.map((_msg) => `${JSON.stringify({ _time: '1795269600000000000', _stream_id: '1', _msg })}\n`).join('');
    const view = viewOf({ encoding: 'ndjson', value: Buffer.from(lines), count: MESSAGES.length });
    if (view === null) throw new Error('The lines cannot be read.');
    expect(patternsOf(view)).to.deep.equal(expected);
    const words: Words = { names: new Names(), levels: new WordTable(), services: new WordTable() };
    const columns = new LogColumns({ names: words.names.ids, levels: words.levels, services: words.services }, 2);
    addView(columns, view, words);
    addView(columns, view, words);
    expect(patternsOf(viewIn(encodeColumns(columns), 2 * MESSAGES.length))).to.deep.equal([...expected, ...expected]);
  });
});
