import { expect } from 'chai';
import fc from 'fast-check';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import { alertBook, FIRST_VERSION } from '../../../../pipeline/alerting/book/alert-book.ts';
import {
  type AlertCommand,
  type Fires,
  alertCommandsSignal,
  commandRecords,
  commandsInputOf,
} from '../../../../pipeline/alerting/book/command.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import { MAX_STATE_BYTES } from '../../../../pipeline/bus/state/state-log.ts';
import { slicesOf } from '../../../../pipeline/processors/base/slices.ts';
import { alertRowsOf } from '../../../fakes/alert-rows.ts';

const NOW = 1_795_478_400;
const words = { detector: 'log_rate', stream: '{service="web"}', service: 'web', severity: 'warning', title: 't', description: 'd', evidence: '{}' } as const; // prettier-ignore
const fired = (id: number, at: number, more: Partial<Fires> = {}): Fires => ({ kind: 'fired', id, at, ...words, fireCount: 1, ...more });

/** What a source reports at an offset of `partials.v1`. */
const report = (offset: number, commands: readonly AlertCommand[], { reporter = 'alerting', tenantId = 1 } = {}): AbsoluteRecord[] =>
  commandRecords(reporter, { partition: 3, offset, appendedAt: (NOW + offset) * 1000 }, [{ tenantId, retentionDays: 14, commands }]);

const messageOf = ({ value, headers }: Pick<AbsoluteRecord, 'value' | 'headers'>, offset: number): KafkaMessage =>
  ({ value, headers, offset: String(offset), timestamp: String((NOW + offset) * 1000) }) as unknown as KafkaMessage;

/** The rows of these records, each at the offset of its place. */
function fold(records: readonly AbsoluteRecord[], state = alertBook.init(), first = 0): AlertRow[] {
  return records.flatMap((record, index) => alertRowsOf(alertBook.fold(state, commandsInputOf(0, messageOf(record, first + index)))));
}

describe('the book of alerts', () => {
  it('publishes rows above every version that a release before had, in the partition of the commands', () => {
    const [record] = report(5, [fired(7, NOW)]) as [AbsoluteRecord];
    expect(record).to.include({ topic: 'alert-commands.v1', key: '1', partition: null });
    const [row, ...others] = fold([record], undefined, 9);
    expect(others).to.deep.equal([]);
    expect(row).to.include({ id: 7, version: FIRST_VERSION + 9, tenantId: 1, retentionDays: 14, part: 0 });
    expect(Number.isSafeInteger(FIRST_VERSION * 2)).to.equal(true);
  });

  it('takes each record of a source once, whatever comes again, and has the same state then', () => {
    const all = Array.from({ length: 40 }, (_none, offset) => {
      const id = 1 + (offset % 5);
      const back: AlertCommand = { kind: 'back', id, at: NOW + 60 * offset, note: 'auto: back within baseline' };
      const reporter = id % 2 === 0 ? 'alerting' : 'rule-alerts';
      return report(offset, [offset % 10 < 7 ? fired(id, NOW + 60 * offset, { fireCount: offset + 1 }) : back], { reporter });
    }).flat();
    const last = (rows: readonly AlertRow[]): unknown => [...new Map(rows.map((row) => [row.id, { ...row, version: 0 }])).values()];
    const once = alertBook.init();
    const expected = last(fold(all, once));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(40), fc.nat(20)), { maxLength: 6 }), (replays) => {
        const again = all.flatMap((record, index) => [
          ...replays.filter(([at]) => at === index).flatMap(([, length]) => all.slice(Math.max(0, index - length), index)),
          record,
        ]);
        const twice = alertBook.init();
        expect(last(fold(again, twice))).to.deep.equal(expected);
        expect({ ...twice, sweptAt: 0 }.taken).to.deep.equal(once.taken);
        expect(JSON.stringify([...twice.tenants])).to.equal(JSON.stringify([...once.tenants]));
      }),
    );
  });

  it('goes on from a snapshot, at once or in slices, and reads no other bytes', () => {
    const all = Array.from({ length: 30 }, (_none, offset) => report(offset, [fired(1 + (offset % 7), NOW + offset, { fireCount: offset + 1 })], { tenantId: 1 + (offset % 3) })).flat(); // prettier-ignore
    const whole = alertBook.init();
    const expected = fold(all, whole);
    const half = alertBook.init();
    const rows = fold(all.slice(0, 17), half);
    const bytes = Buffer.from(alertBook.snapshot(half));
    const slices = [...slicesOf(alertBook, half)];
    expect(slices.length).to.equal(3);
    const restored = alertBook.restore(bytes);
    if (restored === null) throw new Error('The snapshot cannot be read.');
    expect([...rows, ...fold(all.slice(17), restored, 17)]).to.deep.equal(expected);
    expect(alertBook.snapshot(restored).equals(alertBook.snapshot(whole))).to.equal(true);
    for (const wrong of [Buffer.alloc(0), bytes.subarray(0, 20), Buffer.concat([bytes, bytes]), Buffer.from('{}')])
      expect(alertBook.restore(wrong)).to.equal(null);
  });

  it('says of an alert its last word, where a record has several of it', () => {
    const back: AlertCommand = { kind: 'back', id: 7, at: NOW, note: 'n' };
    const rows = fold(report(0, [fired(7, NOW), fired(8, NOW), back]));
    expect(rows.map(({ id, state }) => [id, state])).to.deep.equal([[7, 'resolved'], [8, 'firing']]); // prettier-ignore
  });

  it('lets time pass with ticks, and with what is no record of it', () => {
    const state = alertBook.init();
    const tick = messageOf({ ...encodeTick(alertCommandsSignal) }, 0);
    expect(commandsInputOf(0, tick)).to.include({ kind: 'tick' });
    const [record] = report(5, [fired(7, NOW)]) as [AbsoluteRecord];
    const [text, place] = [record.headers['reporter'], record.headers['source']];
    for (const headers of [{ source: '' }, { source: '1:2' }, { reporter: '' }, { encoding: 'x' }, { sv: '2' }])
      expect(commandsInputOf(0, messageOf({ value: record.value, headers: { ...record.headers, ...headers } }, 1)).kind).to.equal('tick');
    expect([String(text), String(place)]).to.deep.equal(['alerting', `3:5:0:${String((NOW + 5) * 1000)}`]);
    const long = report(6, [{ kind: 'back', id: 7, at: NOW, note: '' }]);
    fold([record, ...long], state);
    const later = messageOf({ ...encodeTick(alertCommandsSignal) }, 3 * 86_400);
    expect(alertBook.fold(state, commandsInputOf(0, later))).to.deep.equal([]);
    expect(state.tenants.size, 'nothing is remembered after days').to.equal(0);
  });

  it('keeps within a snapshot whatever tenants have, and leaves the others room', function () {
    this.timeout(240_000);
    const state = alertBook.init();
    let offset = 0;
    const tell = (tenantId: number, count: number, evidence: string): number => {
      const commands = Array.from({ length: count }, (_none, index) => fired(1 + index, NOW, { evidence, service: '' }));
      return fold(report(offset++, commands, { tenantId }), state).length;
    };
    const large = JSON.stringify({ text: '"\\'.repeat(10_000) });
    for (let tenantId = 1; tenantId <= 8; tenantId++) tell(tenantId, 400, large);
    expect(state.bytes).to.be.below(48.5 * 1024 * 1024);
    expect(Buffer.from(alertBook.snapshot(state)).length)
      .to.be.below(0.97 * MAX_STATE_BYTES)
      .and.above(20e6);
    expect(tell(9, 40, '{}'), 'another tenant').to.equal(40);
  });
});
