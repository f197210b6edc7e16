import { expect } from 'chai';
import fc from 'fast-check';
import { Literal, type LogEntry } from '../../../../pipeline/core/entry.ts';
import { encodeColumns } from '../../../../pipeline/logs/columns/column-encoder.ts';
import { checkColumns, readColumns, type ColumnsView } from '../../../../pipeline/logs/columns/column-reader.ts';
import { FrameWriter, readFrames } from '../../../../pipeline/rows/frames.ts';
import { LogColumns } from '../../../../pipeline/logs/columns/log-columns.ts';
import { nanosecondsOf } from '../../../../pipeline/rows/halves.ts';
import { addPlainRow, type PlainRow } from '../../../../pipeline/logs/columns/plain-rows.ts';
import { entriesIn } from '../../../../pipeline/logs/columns/row-reader.ts';
import { addView, type Words } from '../../../../pipeline/logs/columns/view-rows.ts';
import { WordTable } from '../../../../pipeline/rows/words.ts';
import { Names } from '../../../../pipeline/logs/names.ts';
import { extent } from '../../../extent.ts';

const words: Words = { names: new Names(), levels: new WordTable(), services: new WordTable() };
const vocabulary = { names: words.names.ids, levels: words.levels, services: words.services };

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', '"', '\\', '\u0000', 'é'.repeat(100), 'x'.repeat(20_000)),
);
const value = fc.oneof(
  text,
  fc.integer().map((number) => new Literal(String(number))),
  fc.constantFrom(new Literal('true'), new Literal('12345678901234567890')),
);
const row: fc.Arbitrary<PlainRow> = fc.record({
  time: fc.bigInt({ min: -2_208_988_800_000_000_000n, max: 9_223_372_036_854_775_807n }),
  streamId: fc.bigInt({ min: 0n, max: 18_446_744_073_709_551_615n }),
  severity: fc.integer({ min: 0, max: 6 }),
  message: text,
  level: fc.constantFrom('', 'info', 'error', 'é'),
  service: text,
  trace_id: text,
  span_id: text,
  fields: fc.uniqueArray(fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'user.id')), value), {
    selector: ([name]) => name,
    maxLength: 12,
  }),
});
const rows = fc.array(row, { minLength: 1, maxLength: 40 });

const columnsOf = (list: readonly PlainRow[]): LogColumns => {
  const columns = new LogColumns(vocabulary, 2);
  for (const one of list) addPlainRow(columns, one, words);
  return columns;
};

const read = (bytes: Buffer, count: number): LogEntry[] => entriesIn(bytes, count, (id) => id);

/** What must come back of a row. */
const expected = (one: PlainRow): [string, string | Literal][] => [
  ['_stream', String(one.streamId)],
  ['_msg', one.message],
  ...(['level', 'service', 'trace_id', 'span_id'] as const).flatMap((name): [string, string][] =>
    one[name] === '' ? [] : [[name, one[name]]],
  ),
  ...one.fields.map(([name, field]): [string, string | Literal] => [name, field]),
];

const withoutTime = (entry: LogEntry): [string, string | Literal][] => [...entry].filter(([name]) => name !== '_time');

/** Rows whose fields have no name of a column: those would overwrite it when they are read as one entry. */
const plain = rows.map((list) =>
  list.map((one) => ({
    ...one,
    fields: one.fields.filter(([name]) => !/^(_time|_msg|_stream|level|service|trace_id|span_id)$/.test(name)),
  })),
);

/** What reading gives; checking must find the same fault, or none. */
function readOrCheck(value: Buffer, count: number): ColumnsView | string {
  const view = readColumns(value, count);
  const fault = typeof view === 'string' ? view : null;
  expect(checkColumns(value, count)).to.equal(fault);
  return view;
}

describe('the columns of a record', () => {
  it('come back as they were put in', () => {
    fc.assert(
      fc.property(plain, (list) => {
        expect(read(encodeColumns(columnsOf(list)), list.length).map(withoutTime)).to.deep.equal(list.map(expected));
      }),
    );
  });

  it('keep the nanosecond from 1900 to 2262', () => {
    fc.assert(
      fc.property(row, (one) => {
        const view = readColumns(encodeColumns(columnsOf([one])), 1);
        if (typeof view === 'string') throw new Error(view);
        expect(view.bytes.readBigInt64LE(view.time)).to.equal(one.time);
        const halves = { low: 0, high: 0 };
        const seconds = Number((one.time - (((one.time % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)) / 1_000_000_000n);
        nanosecondsOf(seconds, Number(one.time - BigInt(seconds) * 1_000_000_000n), halves);
        expect(BigInt.asIntN(64, (BigInt(halves.high >>> 0) << 32n) | BigInt(halves.low))).to.equal(one.time);
      }),
    );
  });

  it('of several requests can be joined, by whoever wrote them and by whoever read them', () => {
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 4 }), fc.boolean(), (lists, forget) => {
        const joined = new LogColumns(vocabulary, 2);
        const copied = new LogColumns(vocabulary, 2);
        for (const list of lists) {
          const columns = columnsOf(list);
          // ids that mean other words from now on must not matter
          if (forget) words.names.ids.restart(words.names.ids.given);
          joined.append(columns);
          const view = readColumns(encodeColumns(columns), list.length);
          if (typeof view === 'string') throw new Error(view);
          addView(copied, view, words);
        }
        const all = lists.flat();
        expect(read(encodeColumns(joined), all.length).map(withoutTime)).to.deep.equal(all.map(expected));
        expect(read(encodeColumns(copied), all.length).map(withoutTime)).to.deep.equal(all.map(expected));
      }),
      { numRuns: 50 },
    );
  });

  it('can be used again after they were cleared', () => {
    const columns = columnsOf([{ ...sample, fields: [['a', 'b']] }]);
    columns.clear();
    addPlainRow(columns, { ...sample, fields: [['c', 'd']] }, words);
    expect(read(encodeColumns(columns), 1).map(withoutTime)).to.deep.equal([expected({ ...sample, fields: [['c', 'd']] })]);
  });

  it('take more names than eight bits can count', () => {
    const list = Array.from({ length: 3 }, (_, n) => ({
      ...sample,
      fields: Array.from({ length: 200 }, (_name, i): [string, string] => [`name ${String(n * 200 + i)}`, String(i)]),
    }));
    expect(read(encodeColumns(columnsOf(list)), 3).map(withoutTime)).to.deep.equal(list.map(expected));
  });

  it('are read record after record, by one reader: of few rows and of many, of none of a kind, after one that was refused', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, fc.boolean()), { minLength: 2, maxLength: 6 }), (lists) => {
        for (const [list, spoil] of lists) {
          const encoded = encodeColumns(columnsOf(list));
          if (spoil) expect(readColumns(encoded, list.length + 1)).to.be.a('string');
          else expect(read(encoded, list.length).map(withoutTime)).to.deep.equal(list.map(expected));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('are read where records are larger than the reader keeps room for', () => {
    const large = Array.from({ length: 300 }, (_, n) => ({ ...sample, message: `${String(n)} `.repeat(8000) }));
    for (const list of [large, [sample], large.slice(0, 3)])
      expect(read(encodeColumns(columnsOf(list)), list.length).map(withoutTime)).to.deep.equal(list.map(expected));
  });

  it('may be larger than a frame', () => {
    const list = Array.from({ length: 300 }, (_, n) => ({ ...sample, message: `${String(n)} `.repeat(4000) }));
    const encoded = encodeColumns(columnsOf(list));
    expect(read(encoded, 300).map(withoutTime)).to.deep.equal(list.map(expected));
  });
});

const sample: PlainRow = {
  ...{ time: 1_795_269_600_000_000_000n, streamId: 5n, severity: 3, message: 'hello', level: 'info', service: 'web' },
  ...{ trace_id: 'abc', span_id: '', fields: [['status', new Literal('200')]] },
};

describe('a record that is not what it says', () => {
  const good = encodeColumns(columnsOf(Array.from({ length: 50 }, (_, n) => ({ ...sample, message: `hello ${String(n)}` }))));
  const content = Buffer.from(readFrames(good, Buffer.alloc(0)) ?? '');
  const framed = (bytes: Uint8Array): Buffer => {
    const writer = new FrameWriter();
    writer.put(bytes);
    return writer.finish();
  };

  it('of another number of rows is found out', () => {
    for (const count of [49, 51, 1, 0, 100_000]) expect(readOrCheck(good, count), String(count)).to.be.a('string');
    expect(readOrCheck(good, 50)).to.be.an('object');
  });

  it('that is cut off anywhere is found out', () => {
    for (let length = 0; length < good.length; length++)
      expect(readOrCheck(good.subarray(0, length), 50), String(length)).to.be.a('string');
    for (let length = 0; length < content.length; length++) expect(readOrCheck(framed(content.subarray(0, length)), 50)).to.be.a('string');
  });

  it('with bytes after its last column is found out', () => {
    expect(readOrCheck(framed(Buffer.concat([content, Buffer.from([0])])), 50)).to.equal('1 bytes follow its last column');
    expect(readOrCheck(Buffer.concat([good, good]), 50)).to.match(/follow its last column/);
  });

  it('never ends the reader, whatever byte is changed', () => {
    fc.assert(
      fc.property(fc.nat(content.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(content);
        changed[at] = (changed[at] as number) ^ change;
        const view = readOrCheck(framed(changed), 50);
        if (typeof view === 'string') return;
        // what is let through has fifty whole rows
        expect(view.count).to.equal(50);
        expect(entriesIn(framed(changed), 50, (id) => id)).to.have.length(50);
      }),
      { numRuns: extent(600, 2000) },
    );
  });

  it('never ends the reader, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(readOrCheck(Buffer.from(bytes), 5)).to.be.a('string');
        expect(readOrCheck(framed(bytes), 5)).to.be.a('string');
      }),
    );
  });

  it('whose frames claim to be huge takes no memory', () => {
    const bomb = Buffer.from(good);
    bomb.writeUInt32LE(0xffffffff, 21);
    expect(readOrCheck(bomb, 50)).to.equal('its frames cannot be decompressed');
  });
});
