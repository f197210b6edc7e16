import { expect } from 'chai';
import type { SignalRecord } from '../../../pipeline/bus/records/signal-record.ts';
import type { RowChunk } from '../../../pipeline/intake/rows.ts';
import { KeyBytes } from '../../../pipeline/samples/key-bytes.ts';
import { eachDefinition } from '../../../pipeline/samples/record-definitions.ts';
import { definitionLayout, sampleLayout, type SampleRow } from '../../../pipeline/samples/sample.ts';
import { DEFINITION_PAGES, type SamplesRecord } from '../../../pipeline/samples/samples-record.ts';
import { samplesSignal } from '../../../pipeline/samples/samples-signal.ts';
import { SamplesCodec } from '../../../pipeline/samples/sample-chunk.ts';
import type { SamplesWriter } from '../../../pipeline/samples/samples-writer.ts';
import { extent } from '../../extent.ts';
import { Random } from '../../fuzz/random.ts';
import { rowsOf, writerOf, type SampleOptions, type TakenSample } from './take-samples.ts';

const AT = 1_795_269_600_000;

/** A writer that has a sample of each of these series. */
function written(codec: SamplesCodec, series: readonly number[], options: SampleOptions = {}): SamplesWriter {
  const writer = writerOf({ codec, ...options });
  for (const n of series) {
    const key = new KeyBytes();
    for (const [name, value] of [['__name__', 'up'], ['pod', `p${String(n)}`], ['secret', `of tenant ${String(options.tenantId ?? 1)}`]]) key.text(name ?? '', value ?? ''); // prettier-ignore
    writer.useSeries(key.bytes, 0, key.length);
    writer.number(AT + n, n, 0x3ff00000);
  }
  return writer;
}

function recordOf(chunk: RowChunk, change: (headers: Record<string, string>) => Record<string, string> = (same) => same): SamplesRecord {
  const { count } = chunk;
  const { value, headers } = chunk.encode();
  return decoded(value, count, change(headers as Record<string, string>));
}

function decoded(value: Buffer, count: number, headers: Readonly<Record<string, string>>): SamplesRecord {
  const original = { key: null, value, headers: {}, timestamp: String(AT) };
  const record: SignalRecord = {
    ...{ tenantId: 1, retentionDays: 30, count, bytes: 0, encoding: 'columns', partition: 3, offset: 5, timestamp: AT, value },
    ...{ replayOf: null, fault: null, original },
  };
  const own = samplesSignal.decode(record, (name) => headers[name] ?? '');
  if ('reason' in own) throw new Error(own.detail);
  return own;
}

const one = (writer: SamplesWriter): RowChunk => {
  const [chunk, ...more] = writer.chunks();
  if (chunk === undefined || more.length > 0) throw new Error('not one chunk');
  return chunk;
};

/** Definitions of a record, and the frames that were looked at. */
function seen(record: SamplesRecord, known: ReadonlySet<string> = new Set()): { definitions: string[]; frames: string[] } {
  expect(samplesSignal.check(record)).to.equal(null);
  const [definitions, frames]: [string[], string[]] = [[], []];
  const isKnown = (frame: Buffer): boolean => frames.push(frame.toString('hex')) > 0 && known.has(frame.toString('hex'));
  eachDefinition(record, (bytes, start, end) => definitions.push(bytes.toString('utf8', start, end)), isKnown);
  return { definitions, frames };
}

const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_none, at) => from + at);
const podOf = (text: string): number => Number(/"pod":"p(\d+)"/.exec(text)?.[1]);

describe('pages of definitions', () => {
  it('are the same bytes in each record, so that who knows them need not look at what they hold', () => {
    const codec = new SamplesCodec();
    const first = seen(recordOf(one(written(codec, numbers(0, 500)))));
    expect(first.definitions.map(podOf)).to.deep.equal(numbers(0, 500));
    expect(first.frames).to.have.length(8);
    const second = recordOf(one(written(codec, numbers(0, 500))));
    const known = new Set(first.frames);
    expect(seen(second, known)).to.deep.equal({ definitions: [], frames: first.frames });
    expect(seen(second).definitions.map(podOf)).to.deep.equal(numbers(0, 500));
  });

  it('give each row its series, in whichever order and number they come', () => {
    const random = new Random(3);
    const codec = new SamplesCodec();
    for (let round = 0; round < extent(60, 600); round++) {
      const from = random.below(300);
      const series = numbers(from, 1 + random.below(400)).filter(() => random.below(5) > 0);
      if (round % 3 === 0) series.reverse();
      const rows = rowsOf(written(codec, series));
      expect(rows.map((row) => [podOf(shown(row)), row['time']])).to.deep.equal(series.map((n) => [n, AT + n]));
    }
  });

  it('give each row its series where records of several requests become one', () => {
    const random = new Random(4);
    const codec = new SamplesCodec();
    for (let round = 0; round < extent(40, 400); round++) {
      const parts = Array.from({ length: 3 }, () => numbers(random.below(200), 1 + random.below(200)));
      const [whole, ...others] = parts.map((series) => one(written(codec, series)));
      if (whole === undefined) throw new Error('no chunk');
      for (const other of others) {
        expect(whole.fits(other)).to.equal(true);
        whole.append(other);
      }
      const rows = rowsOf({ chunks: () => [whole] } as unknown as SamplesWriter);
      expect(rows.map((row) => podOf(shown(row)))).to.deep.equal(parts.flat());
    }
  });

  it('never hold definitions of another tenant, though the labels be the same', () => {
    const codec = new SamplesCodec();
    const series = numbers(0, 200);
    const own = (tenantId: number): string[] => {
      const writer = writerOf({ codec, tenantId });
      for (const n of series.filter((at) => tenantId === 1 || at % 3 === 0)) {
        const key = new KeyBytes();
        key.text('__name__', 'up');
        key.text('pod', `p${String(n)}`);
        writer.useSeries(key.bytes, 0, key.length);
        writer.number(AT, 0, 0);
      }
      return seen(recordOf(one(writer))).definitions;
    };
    for (let round = 0; round < 3; round++) {
      expect(new Set(own(1).map(podOf))).to.deep.equal(new Set(series));
      expect(new Set(own(2).map(podOf))).to.deep.equal(new Set(series.filter((n) => n % 3 === 0)));
    }
  });

  it('are made anew on another day, so that no series counts as active by them', () => {
    const codec = new SamplesCodec();
    written(codec, numbers(0, 100)).chunks().forEach((chunk) => chunk.encode()); // prettier-ignore
    const later = { receivedAt: BigInt(AT + 86_400_000) * 1_000_000n };
    expect(seen(recordOf(one(written(codec, numbers(0, 80), later)))).definitions.map(podOf)).to.deep.equal(numbers(0, 80));
  });

  it('come to an end where records use little of them', () => {
    const codec = new SamplesCodec();
    written(codec, numbers(0, 64)).chunks().forEach((chunk) => chunk.encode()); // prettier-ignore
    const counts = Array.from({ length: 10 }, () => seen(recordOf(one(written(codec, [7])))).definitions.length);
    expect(counts).to.deep.equal([64, 64, 64, 64, 64, 64, 64, 64, 1, 1]);
  });
});

const shown = (row: TakenSample): string => JSON.stringify(row).replaceAll('\\"', '"').replaceAll('pod="', '"pod":"');

describe('definitions of a record', () => {
  const row: SampleRow = { type: 0, series: 1n, time: AT, start: 0, value: 0n, payload: Buffer.alloc(0) };

  it('of before there were pages are read', () => {
    const definitions = numbers(0, 300).map((n) => ({ definition: `{"__name__":"up","pod":"p${String(n % 70)}"}` }));
    const value = sampleLayout.encode(definitions.map(() => row));
    const record = decoded(Buffer.concat([value, definitionLayout.encode(definitions)]), 300, { definitions_at: String(value.length) });
    expect(seen(record).definitions.map(podOf)).to.deep.equal(numbers(0, 70));
  });

  it('are refused where they are not cut as the header says', () => {
    const codec = new SamplesCodec();
    for (const wrong of ['0,0', '1,150', '3,1', '2,0', '99999,0', '2,99999']) {
      const record = recordOf(one(written(codec, numbers(0, 150))), (headers) => ({ ...headers, [DEFINITION_PAGES]: wrong }));
      expect(samplesSignal.check(record)?.reason, wrong).to.equal('rows');
    }
    for (const bad of ['x', '1', '-1,0', '1,2,3'])
      expect(() => recordOf(one(written(codec, [1])), (headers) => ({ ...headers, [DEFINITION_PAGES]: bad })), bad).to.throw(
        'definition_pages',
      );
  });
});
