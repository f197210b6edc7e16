import { expect } from 'chai';
import fc from 'fast-check';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import {
  decodeDeadLetter,
  encodeDeadLetter,
  deadLetterKey,
  REASONS,
  replayOf,
  type DeadLetter,
} from '../../../../pipeline/bus/records/dead-letter.ts';
import { decodeBilled, positionOf, readRecord } from '../../../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../../../pipeline/logs/logs-signal.ts';
import { plainHeaders } from '../../../fakes/log-record.ts';

const info = { tenantId: 7, retentionDays: 30, count: 1, bytes: 99 };
const original = {
  key: null,
  value: Buffer.from('{"_time":"1"}\n'),
  headers: plainHeaders(info, ['5', '{}', 1]),
  timestamp: '1795000000000',
};
const letter: DeadLetter = {
  reason: 'refused', detail: 'no', stage: 'sink logs: insert', topic: 'logs.v1', partition: 3, offset: 12, version: '0.1.0', original,
}; // prettier-ignore

/** As Kafka gives a record back: headers are bytes. */
function received({ key, value, headers }: ReturnType<typeof encodeDeadLetter>, offset: number): KafkaMessage {
  const bytes = (part: unknown): Buffer => Buffer.from(part as Buffer | string);
  const all = Object.entries(headers).map(([name, part]) => [name, Array.isArray(part) ? part.map(bytes) : bytes(part)]);
  const keyBytes = key === null ? null : Buffer.from(key);
  return {
    key: keyBytes,
    value,
    headers: Object.fromEntries(all) as IHeaders,
    offset: String(offset),
    timestamp: '1795000009999',
    attributes: 0,
  };
}

describe('a dead letter', () => {
  it('keeps value, headers and key of the record, and says what is known of it', () => {
    const bytes = fc.uint8Array({ maxLength: 20 }).map((part) => Buffer.from(part));
    const headers = fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== '__proto__' && !name.startsWith('dead-letter.')),
      fc.oneof(bytes, fc.array(bytes, { minLength: 2, maxLength: 3 })),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(
        fc.record({ key: fc.option(bytes), value: fc.option(bytes), headers, timestamp: fc.nat().map(String) }),
        fc.constantFrom(...REASONS),
        fc.string({ maxLength: 40 }),
        fc.nat(),
        (record, reason, detail, offset) => {
          const written: DeadLetter = { ...letter, reason, detail, offset, original: record };
          expect(decodeDeadLetter(received(encodeDeadLetter(written), 5))).to.deep.equal(written);
        },
      ),
    );
  });

  it('is named by the position of its record', () => {
    expect(encodeDeadLetter(letter).key).to.equal('logs.v1:3:12');
    expect(deadLetterKey(letter)).to.equal('logs.v1:3:12');
  });

  it('is written also where a header has no value, which Kafka allows', () => {
    const odd = { ...original, headers: { a: null, b: [null, Buffer.from('x')] } as unknown as IHeaders };
    expect(encodeDeadLetter({ ...letter, original: odd }).headers).to.deep.include({ a: '', b: ['', Buffer.from('x')] });
  });

  it('has a bounded sentence', () => {
    expect(String(encodeDeadLetter({ ...letter, detail: 'x'.repeat(100_000) }).headers['dead-letter.detail'])).to.have.length(500);
  });

  for (const [what, change] of Object.entries<IHeaders>({
    'no reason': { 'dead-letter.reason': '' },
    'a reason of another version': { 'dead-letter.reason': 'bored' },
    'no topic': { 'dead-letter.topic': '' },
    'an offset that is no number': { 'dead-letter.offset': '-1' },
  }))
    it(`is not read where there is ${what}`, () => {
      const message = received(encodeDeadLetter(letter), 5);
      expect(decodeDeadLetter({ ...message, headers: { ...message.headers, ...change } })).to.equal(null);
    });

  describe('that is replayed', () => {
    const replayed = (): KafkaMessage => received(replayOf(letter), 40);

    it('is a record of the original position, time and rows, and counts nothing', () => {
      const record = readRecord(logsSignal, 3, replayed());
      expect(record).to.deep.include({ ...info, offset: 40, replayOf: 12, timestamp: 1_795_000_000_000 });
      expect(positionOf(record)).to.equal(12);
      expect(record.value).to.deep.equal(original.value);
      expect(decodeBilled(replayed())).to.equal(null);
    });

    it('is the same letter again where it still cannot be stored', () => {
      const record = readRecord(logsSignal, 3, replayed());
      const again = { ...letter, offset: positionOf(record), original: { ...record.original, timestamp: String(record.timestamp) } };
      expect(received(encodeDeadLetter(again), 6)).to.deep.equal(received(encodeDeadLetter(letter), 6));
    });

    for (const from of ['2:12', '3:40', '3:41', '3:', ':12', '3:1e1', 'x', '3:12:1', '-3:12', '3:99999999999999999999'])
      it(`cannot have been at ${from}`, () => {
        const message = replayed();
        const { fault } = readRecord(logsSignal, 3, { ...message, headers: { ...message.headers, replayed_from: from } } as KafkaMessage);
        expect(fault).to.include({ reason: 'headers' });
      });
  });
});
