import { expect } from 'chai';
import fc from 'fast-check';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { inputOf } from '../../../pipeline/processors/base/input.ts';
import type { MergerInput } from '../../../pipeline/processors/merge/merger.ts';
import { partialInputOf, hostedProcessor, hostedMerger } from '../../../pipeline/processors/merge/partials.ts';
import type { Fold, Processor } from '../../../pipeline/processors/base/processor.ts';
import { latestOf } from '../../fakes/measures-record.ts';
import { logMessage, tickMessage } from './inputs.ts';
import { log, NOW, without } from './logs.ts';
import { merged } from './subjects.ts';
import { extent } from '../../extent.ts';

/** Of a partition's state, after so many records as one of these extents. */
const RECORDS = extent(50, 300);
const MOST_STATE = (RECORDS / 300) * 64 * 1024 * 1024;
/** Partitions of the log. */
const SOURCES = 3;

/** What a processor emits of a partition of the log, until all of it is told. */
function partialsOf(processor: Processor, partition: number, messages: readonly KafkaMessage[]): AbsoluteRecord[] {
  const hosted = hostedProcessor(processor);
  const state = hosted.init();
  const last = messages.at(-1);
  const end = last === undefined ? [] : [tickMessage(Number(last.offset) + 1, Number(last.timestamp) + 10 * 86_400_000)];
  const outputs = [...messages, ...end].flatMap((message) => [...hosted.fold(state, inputOf(partition, message))]);
  return outputs.filter(({ topic }) => topic === 'partials.v1');
}

/** What mergers read where these records are on their partition. */
const inputsOf = (records: readonly AbsoluteRecord[]): MergerInput[] =>
  records.map(({ value, headers }, offset) =>
    partialInputOf(0, { value, headers, offset: String(offset), timestamp: String(NOW + 1000 * offset) } as KafkaMessage),
  );

/** An order of all of them that keeps each source's own; `turns` says whose turn it is. */
function interleaved(sources: readonly (readonly AbsoluteRecord[])[], turns: readonly number[]): AbsoluteRecord[] {
  const left = sources.map((records) => [...records]);
  const order: AbsoluteRecord[] = [];
  for (let turn = 0; left.some(({ length }) => length > 0); turn++) {
    const open = left.filter(({ length }) => length > 0);
    order.push(open[(turns[turn % turns.length] ?? 0) % open.length]?.shift() as AbsoluteRecord);
  }
  return order;
}

/** The same with owners that begin again where they were: at each of these places, so many records before it come again. */
function repeated(records: readonly AbsoluteRecord[], replays: readonly (readonly [number, number])[]): AbsoluteRecord[] {
  return records.flatMap((record, index) => {
    const again = replays.filter(([at]) => at === index).flatMap(([, length]) => records.slice(Math.max(0, index - length), index));
    return [...again, record];
  });
}

const shown = (records: readonly AbsoluteRecord[]): unknown[] =>
  records.map(({ value, headers, ...where }) => ({ ...where, value: value.toString('base64'), headers: JSON.stringify(headers) }));

/** Folds from a state on; gives the outputs by offset. */
function fold(hosted: Fold<never, MergerInput>, state: unknown, inputs: readonly MergerInput[]): Map<number, AbsoluteRecord[]> {
  return new Map(inputs.map((input) => [input.offset, [...hosted.fold(state as never, input)]]));
}

const turns = fc.array(fc.nat(SOURCES - 1), { minLength: 1, maxLength: 40 });
const replays = fc.array(fc.tuple(fc.nat(60), fc.nat(40)), { maxLength: 5 });
const logs = fc.tuple(...Array.from({ length: SOURCES }, () => log));

for (const { processor, merger } of merged)
  describe(`the merger ${merger.name} of ${processor.name}`, () => {
    const hosted = hostedMerger(merger) as Fold<never, MergerInput>;
    const emitted = (all: readonly KafkaMessage[][]): AbsoluteRecord[][] => all.map((messages, n) => partialsOf(processor, n, messages));

    it('gives the same from any snapshot on as without one, and needs neither clock nor chance', () => {
      fc.assert(
        fc.property(logs, turns, fc.array(fc.nat(60), { maxLength: 5 }), (all, order, cuts) => {
          const inputs = inputsOf(interleaved(emitted(all), order));
          const whole = hosted.init();
          const expected = without(() => fold(hosted, whole, inputs));
          let state = hosted.init();
          const found = new Map<number, AbsoluteRecord[]>();
          const stops = [...new Set(cuts)].filter((cut) => cut < inputs.length).sort((a, b) => a - b);
          for (const [index, stop] of [...stops, inputs.length].entries()) {
            for (const [at, outputs] of fold(hosted, state, inputs.slice(stops[index - 1] ?? 0, stop))) found.set(at, outputs);
            const restored = hosted.restore(hosted.snapshot(state));
            expect(restored).to.not.equal(null);
            state = restored as never;
          }
          expect([...found].map(([at, outputs]) => [at, shown(outputs)])).to.deep.equal(
            [...expected].map(([at, outputs]) => [at, shown(outputs)]),
          );
          expect(hosted.snapshot(state).equals(hosted.snapshot(whole))).to.equal(true);
        }),
        { numRuns: extent(10, 50) },
      );
    });

    it('says the same in the end whatever comes again, in whichever order of the sources', () => {
      fc.assert(
        fc.property(logs, turns, turns, replays, (all, order, other, again) => {
          const sources = emitted(all);
          const last = (records: readonly AbsoluteRecord[]): unknown =>
            [...latestOf([...fold(hosted, hosted.init(), inputsOf(records)).values()].flat())].sort();
          const expected = last(interleaved(sources, order));
          expect(last(repeated(interleaved(sources, order), again)), 'again').to.deep.equal(expected);
          expect(last(interleaved(sources, other)), 'another order').to.deep.equal(expected);
        }),
        { numRuns: extent(10, 50) },
      );
    });

    it('keeps the same state whatever comes again', () => {
      fc.assert(
        fc.property(logs, turns, replays, (all, order, again) => {
          const records = interleaved(emitted(all), order);
          const [once, twice] = [hosted.init(), hosted.init()];
          fold(hosted, once, inputsOf(records));
          fold(hosted, twice, inputsOf(repeated(records, again)));
          expect(hosted.snapshot(twice).equals(hosted.snapshot(once))).to.equal(true);
        }),
        { numRuns: extent(10, 50) },
      );
    });

    it('restores no bytes that are none of its snapshots, and dies of none', () => {
      const state = hosted.init();
      const entries = [{ _msg: 'x', service: 'web', user: 'u1', _time: new Date(NOW - 1000).toISOString() }];
      fold(hosted, state, inputsOf(partialsOf(processor, 1, [logMessage(entries, { offset: 0, appendedAt: NOW })])));
      const good = hosted.snapshot(state);
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), (bytes, at) => {
          const cut = good.subarray(0, at % good.length);
          for (const hostile of [Buffer.from(bytes), cut, Buffer.concat([cut, bytes])]) hosted.restore(hostile);
        }),
      );
      expect(hosted.restore(Buffer.alloc(0))).to.equal(null);
    });

    it('keeps its state within bounds, whatever services and users come', () => {
      const state = hosted.init();
      const messages = Array.from({ length: RECORDS }, (_none, offset) => {
        const appendedAt = NOW + offset * (540_000_000 / RECORDS);
        const entries = Array.from({ length: 100 }, (_entry, index) => ({
          _time: new Date(appendedAt - 1000).toISOString(),
          _msg: 'x',
          service: `${String(offset)}-${String(index)}`,
          user: String(index),
        }));
        return logMessage(entries, { offset, appendedAt, tenantId: 1 + (offset % 7) });
      });
      fold(hosted, state, inputsOf(partialsOf(processor, 1, messages)));
      expect(hosted.snapshot(state).length).to.be.below(MOST_STATE);
    });
  });
