import { expect } from 'chai';
import fc from 'fast-check';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import { replayOf } from '../../../../pipeline/bus/records/dead-letter.ts';
import { appendedAt, decodeBilled, encodeTick, isTick, readChecked, readRecord, TICK } from '../../../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../../../pipeline/logs/logs-signal.ts';

const tick = encodeTick(logsSignal);

/** A tick as it is read, but for what is said of it. */
const message = (more: IHeaders = {}, value: Buffer | null = tick.value): KafkaMessage => ({
  key: null,
  value,
  headers: Object.fromEntries(Object.entries({ ...tick.headers, ...more }).map(([name, text]) => [name, Buffer.from(String(text))])),
  offset: '12',
  timestamp: '5',
  attributes: 0,
});

describe('a tick', () => {
  it('has the headers that all signals share, says 0 in each that is a number, and has an empty value', () => {
    expect(tick.value).to.have.length(0);
    expect(tick.headers).to.deep.equal({
      ...{ signal: 'logs', tenant: '0', retention: '0', count: '0', bytes: '0', sv: '2', encoding: TICK },
    });
  });

  for (const read of [readRecord, readChecked])
    it(`is read by ${read.name} as nobody's record without rows and without a fault`, () => {
      const record = read(logsSignal, 3, message());
      expect(record).to.include({
        partition: 3,
        offset: 12,
        tenantId: 0,
        retentionDays: 0,
        count: 0,
        bytes: 0,
        replayOf: null,
        fault: null,
      });
      expect(record).not.to.have.property('streams');
      expect([isTick(record), appendedAt(record)]).to.deep.equal([true, 5]);
    });

  it('counts nothing for anybody', () => expect(decodeBilled(message())).to.equal(null));

  it('is one also where it comes from the dead letters, to which a version that knows no ticks has put it', () => {
    const original = message();
    const letter = { reason: 'foreign', detail: '', stage: '', topic: 'logs.v1', partition: 3, offset: 7, version: '', original } as const;
    const { headers, value } = replayOf(letter);
    const record = readChecked(logsSignal, 3, message(headers, value));
    expect([isTick(record), record.fault, record.replayOf, record.count]).to.deep.equal([true, null, 7, 0]);
  });

  for (const [what, headers, value, reason] of [
    ['a tenant', { tenant: '1' }, '', 'headers'],
    ['no tenant at all', { tenant: '' }, '', 'headers'],
    ['a retention', { retention: '7' }, '', 'headers'],
    ['rows', { count: '1' }, '', 'headers'],
    ['bytes', { bytes: '1' }, '', 'headers'],
    ['a value', {}, 'x', 'rows'],
    ['null for a value', {}, null, 'foreign'],
    ['another signal', { signal: 'spans' }, '', 'foreign'],
    ['another version', { sv: '3' }, '', 'version'],
  ] as const)
    it(`is not read with ${what}`, () => {
      const record = readRecord(logsSignal, 3, message(headers, value === null ? null : Buffer.from(value)));
      expect(record.fault).to.include({ reason });
      expect([isTick(record), record.count]).to.deep.equal([false, 0]);
    });

  it('is the only record that is of no tenant', () => {
    expect(readRecord(logsSignal, 3, message({ encoding: 'columns', streams: '' })).fault).to.include({ reason: 'headers' });
  });

  it('has no rows, or is none, whatever its headers are', () => {
    const number = fc.oneof(fc.constant('0'), fc.nat().map(String), fc.string());
    const names = ['tenant', 'retention', 'count', 'bytes', 'replayed_from', 'arrived'] as const;
    fc.assert(
      fc.property(
        fc.record(Object.fromEntries(names.map((name) => [name, number])), { requiredKeys: [] }),
        fc.string(),
        (headers, value) => {
          const record = readChecked(logsSignal, 3, message(headers, Buffer.from(value)));
          expect(record.count + record.bytes + record.tenantId).to.equal(0);
          expect(isTick(record)).to.equal(record.fault === null);
        },
      ),
    );
  });
});
