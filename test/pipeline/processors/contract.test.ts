import { expect } from 'chai';
import fc from 'fast-check';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { inputOf } from '../../../pipeline/processors/base/input.ts';
import { hostedProcessor } from '../../../pipeline/processors/merge/partials.ts';
import type { Fold } from '../../../pipeline/processors/base/processor.ts';
import { logMessage } from './inputs.ts';
import { logFor, NOW, without } from './logs.ts';
import { fault, subjects } from './subjects.ts';
import { extent } from '../../extent.ts';

/** Of a partition's state, after so many records as one of these extents. */
const RECORDS = extent(50, 300);
const MOST_STATE = (RECORDS / 300) * 64 * 1024 * 1024;

/** What comes of a record, as far as it can be told apart. */
const shown = (records: readonly AbsoluteRecord[]): unknown[] =>
  records.map(({ topic, partition, key, value, headers }) => ({
    topic,
    partition,
    key,
    value: value.toString('base64'),
    headers: JSON.stringify(headers),
  }));

/** Folds from a state on; gives the outputs by offset. */
function fold(processor: Fold, state: unknown, messages: readonly KafkaMessage[]): Map<number, unknown[]> {
  const outputs = new Map<number, unknown[]>();
  for (const message of messages) outputs.set(Number(message.offset), shown(processor.fold(state, inputOf(3, message))));
  return outputs;
}

describe('processors of others', () => {
  it('can be loaded', () => {
    if (fault !== null) throw fault;
  });
});

for (const subject of subjects) {
  const processor = hostedProcessor(subject);
  const log = logFor(subject);
  describe(`the processor ${processor.name}`, () => {
    it('gives the same from any snapshot on as without one, and needs neither clock nor chance', () => {
      fc.assert(
        fc.property(log, fc.array(fc.nat(30), { maxLength: 5 }), (messages, cuts) => {
          const whole = processor.init();
          const expected = without(() => fold(processor, whole, messages));
          let state = processor.init();
          const found = new Map<number, unknown[]>();
          const stops = [...new Set(cuts)].filter((cut) => cut < messages.length).sort((a, b) => a - b);
          for (const [index, stop] of [...stops, messages.length].entries()) {
            for (const [offset, outputs] of fold(processor, state, messages.slice(stops[index - 1] ?? 0, stop))) found.set(offset, outputs);
            const restored = processor.restore(processor.snapshot(state));
            expect(restored).not.to.equal(null);
            state = restored;
          }
          expect(found).to.deep.equal(expected);
          expect(processor.snapshot(state).equals(processor.snapshot(processor.restore(processor.snapshot(whole))))).to.equal(true);
        }),
        { numRuns: extent(20, 100) },
      );
    });

    it('does not change with a snapshot', () => {
      fc.assert(
        fc.property(log, (messages) => {
          const [watched, alone] = [processor.init(), processor.init()];
          const expected = fold(processor, alone, messages);
          for (const message of messages) {
            processor.snapshot(watched);
            expect(shown(processor.fold(watched, inputOf(3, message)))).to.deep.equal(expected.get(Number(message.offset)));
          }
        }),
        { numRuns: extent(8, 30) },
      );
    });

    it('two owners write the same, whatever each has told before', () => {
      fc.assert(
        fc.property(log, fc.nat(30), (messages, at) => {
          const first = processor.init();
          fold(processor, first, messages.slice(0, at));
          const second = processor.restore(processor.snapshot(first));
          processor.news?.(first, 3, at);
          const rest = messages.slice(at);
          expect(fold(processor, second, rest)).to.deep.equal(fold(processor, first, rest));
        }),
        { numRuns: extent(8, 30) },
      );
    });

    it('restores no bytes that are none of its snapshots, and dies of none', () => {
      const state = processor.init();
      fold(processor, state, [logMessage([{ _msg: 'x', app: 'a' }], { offset: 0, appendedAt: NOW })]);
      const good = processor.snapshot(state);
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), (bytes, at) => {
          const cut = good.subarray(0, at % good.length);
          for (const hostile of [Buffer.from(bytes), cut, Buffer.concat([cut, bytes])]) processor.restore(hostile);
        }),
      );
      expect(processor.restore(Buffer.alloc(0))).to.equal(null);
    });

    it('keeps its state within bounds, whatever streams and levels come', () => {
      const state = processor.init();
      for (let offset = 0; offset < RECORDS; offset++) {
        const entries = Array.from({ length: 100 }, (_none, index) => ({
          _msg: 'x',
          app: `${String(offset)}-${String(index)}`,
          service: `${String(offset)}-${String(index)}`,
          user: String(index),
          level: `${String(offset)}l`,
        }));
        processor.fold(state, inputOf(3, logMessage(entries, { offset, appendedAt: NOW + offset, tenantId: 1 + (offset % 7) })));
      }
      expect(processor.snapshot(state).length).to.be.below(MOST_STATE);
    });

    for (const [key, values] of Object.entries(subject.settings ?? {}))
      it(`takes the setting ${key}`, () => {
        for (const value of values)
          expect(
            subject.checkSetting?.({ tenantId: 0, key, value }) === null || subject.checkSetting?.({ tenantId: 1, key, value }) === null,
          ).to.equal(true);
      });
  });
}
