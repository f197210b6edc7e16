import { expect } from 'chai';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import { measureLayout } from '../../../../pipeline/counters/measure-layout.ts';
import type { Merger, MergerInput } from '../../../../pipeline/processors/merge/merger.ts';
import { MAX_PARTIAL_BYTES, type PartialOutput } from '../../../../pipeline/processors/base/partial.ts';
import { partialInputOf, partialsSignal, hostedProcessor, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import type { Processor } from '../../../../pipeline/processors/base/processor.ts';
import { billed } from '../inputs.ts';

const NOW = 1_795_269_600_000;
const own: AbsoluteRecord = { topic: 't', partition: 3, key: null, value: Buffer.from('own'), headers: {} };
const partial = (tenantId: number, text: string): PartialOutput => ({
  kind: 'partial',
  tenantId,
  retentionDays: 14,
  value: Buffer.from(text),
});

/** Tells of each record a partial to two tenants, with a record of its own between them. */
const notification: Processor<null> = {
  name: 'telling',
  init: () => null,
  fold: (_state, { offset }) => [partial(1, `a${String(offset)}`), own, partial(2, `b${String(offset)}`)],
  snapshot: () => Buffer.alloc(0),
  restore: () => null,
};

/** Collects what it is given. */
const hearing: Merger<string[]> = {
  name: 'heard',
  of: 'telling',
  init: () => [],
  fold(state, input: MergerInput) {
    if (input.kind === 'tick') return [];
    state.push(input.value.toString());
    const measure = { kind: 'measure', tenantId: input.tenantId, retentionDays: input.retentionDays, name: 'heard' } as const;
    return [own, { ...measure, labels: { b: '2', a: '1' }, span: 60, time: 120, value: state.length }];
  },
  snapshot: (state) => Buffer.from(JSON.stringify(state)),
  restore: (bytes) => (bytes.length === 0 ? null : (JSON.parse(bytes.toString()) as string[])),
};

const messageOf = ({ key, value, headers }: Pick<AbsoluteRecord, 'value' | 'headers'> & { key?: string | null }, offset: number): KafkaMessage =>
  ({ key: Buffer.from(key ?? ''), value, headers, offset: String(offset), timestamp: String(NOW + offset), attributes: 0 }); // prettier-ignore

/** The partials of records 4 and 5 of partition 3. */
const records = [4, 5].flatMap((offset) =>
  [...hostedProcessor(notification).fold(null, billed(1, 1, NOW)(3, offset))].filter(({ topic }) => topic === 'partials.v1'),
);
const inputs = records.map((record, offset) => partialInputOf(0, messageOf(record, offset)));

describe('a processor with partials', () => {
  it('has them written for the partition of their tenant, with who emitted them where; other records stay as they are', () => {
    const outputs = hostedProcessor(notification).fold(null, billed(1, 1, NOW)(3, 4));
    expect(outputs.map(({ topic, partition, key }) => [topic, partition, key])).to.deep.equal([
      ['partials.v1', null, '1'],
      ['t', 3, null],
      ['partials.v1', null, '2'],
    ]);
    expect(outputs[2]?.headers).to.deep.equal({
      ...{ signal: 'partials', tenant: '2', retention: '14', count: '1', bytes: '0', sv: '1', encoding: 'partial' },
      ...{ processor: 'telling', source: `3:4:1:${String(NOW)}` },
    });
    expect(inputs[1]).to.deep.equal({
      ...{ kind: 'partial', partition: 0, offset: 1, appendedAt: NOW + 1, tenantId: 2, retentionDays: 14, value: Buffer.from('b4') },
      ...{ processor: 'telling', source: { partition: 3, offset: 4, number: 1, appendedAt: NOW } },
    });
  });

  it('is wrong where one of them is too large', () => {
    const large = hostedProcessor({ ...notification, fold: () => [partial(1, 'x'.repeat(MAX_PARTIAL_BYTES + 1))] });
    expect(() => large.fold(null, billed(1, 1, NOW)(3, 4))).to.throw('at most 524288 are taken');
  });

  it('is wrong where one of them could not be read', () => {
    for (const more of [
      { tenantId: 0 },
      { tenantId: NaN },
      { tenantId: 2 ** 32 },
      { retentionDays: 0.5 },
      { value: 'text' },
      { kind: 'measure' },
    ]) {
      const wrong = hostedProcessor({ ...notification, fold: () => [{ ...partial(1, 'x'), ...more } as PartialOutput] });
      expect(() => wrong.fold(null, billed(1, 1, NOW)(3, 4)), JSON.stringify(more)).to.throw('partial');
    }
  });
});

describe('a merger', () => {
  const hosted = hostedMerger(hearing);
  const heard = (state: ReturnType<typeof hosted.init>): unknown => hosted.restore(hosted.snapshot(state))?.state;

  it('takes each partial of its processor once, also behind a snapshot, and no others', () => {
    let state = hosted.init();
    for (const input of [...inputs.slice(0, 3), ...inputs]) {
      hosted.fold(state, { ...input, ...(input.kind === 'partial' ? { processor: 'other' } : {}) });
      hosted.fold(state, input);
      const restored = hosted.restore(hosted.snapshot(state));
      expect(restored).to.not.equal(null);
      state = restored as typeof state;
    }
    expect(heard(state)).to.deep.equal(['a4', 'b4', 'a5', 'b5']);
  });

  it('has its measures written where its partials lie, under the offset that they were found at', () => {
    const outputs = hosted.fold(hosted.init(), inputs[1] as MergerInput);
    expect(outputs[0]).to.equal(own);
    expect(outputs[1]).to.include({ topic: 'measures.v1', partition: 0, key: null });
    expect(measureLayout.read(outputs[1]?.value as Buffer, 1)).to.deep.equal([
      {
        ...{ tenantId: 2, retentionDays: 14, name: 'heard', span: 60, time: 120, value: 1, version: 1 },
        labels: [
          ['a', '1'],
          ['b', '2'],
        ],
      },
    ]);
  });

  it('is told that time has passed by a tick, and by what is no partial', () => {
    const [record] = records;
    if (record === undefined) throw new Error('No partial.');
    const seen = (headers: object): string => partialInputOf(0, messageOf({ value: Buffer.alloc(0), headers: { ...record.headers, ...headers } }, 0)).kind; // prettier-ignore
    expect(partialInputOf(0, messageOf(encodeTick(partialsSignal), 7))).to.deep.equal({ kind: 'tick', partition: 0, offset: 7, appendedAt: NOW + 7 }); // prettier-ignore
    expect(seen({})).to.equal('partial');
    for (const source of ['', '1:2:3', '1:2:3:-4', '1:2:3:4:5', 'a:2:3:4', '99999999999:2:3:4', '1:2:3:1e9'])
      expect(seen({ source }), source).to.equal('tick');
    for (const bad of [{ processor: '' }, { tenant: '0' }, { signal: 'logs' }, { sv: '2' }, { encoding: 'columns' }])
      expect(seen(bad), JSON.stringify(bad)).to.equal('tick');
  });

  it('is wrong where it gives what is no measure', () => {
    const wrong = hostedMerger({ ...hearing, fold: () => [partial(1, 'x')] } as unknown as Merger);
    expect(() => wrong.fold(wrong.init(), inputs[1] as MergerInput)).to.throw('A merger gives measures and records, not "partial".');
  });

  it('restores no snapshot that is cut off', () => {
    const state = hosted.init();
    for (const input of inputs) hosted.fold(state, input);
    const bytes = hosted.snapshot(state);
    for (let length = 0; length < 8; length++) expect(hosted.restore(bytes.subarray(0, length))).to.equal(null);
  });
});
