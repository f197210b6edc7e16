import { expect } from 'chai';
import { entries } from '../../../../pipeline/processors/base/entries.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { logMessage, tickMessage } from '../inputs.ts';

const NOW = 1_795_269_600_000;

describe('the entries of a batch', () => {
  it('come in their order, with what the producer sent', () => {
    const sent = [
      { _time: '2026-11-21T12:34:56.123456789Z', _msg: 'ü', service: 'web', level: 'info', user: { id: 'u1' }, app: 'shop' },
      { _time: '1969-12-31T23:59:59Z', _msg: 'old', app: 'shop' },
      { _time: '2026-11-21T13:00:00Z', _msg: '-', service: 'api', level: 'é', n: 12, app: 'shop' },
    ];
    const input = inputOf(0, logMessage(sent, { offset: 4, appendedAt: NOW }));
    const found = Array.from(entries(input), (entry) => [
      ...[entry.time, entry.spanStart(3600), entry.spanStart(60), entry.message, entry.service, entry.level],
      ...['user.id', 'n', 'app', 'user', '__proto__'].map((name) => entry.field(name)),
    ]);
    expect(found).to.deep.equal([
      [1_795_264_496_123_456_789n, 1_795_262_400, 1_795_264_440, 'ü', 'web', 'info', 'u1', '', 'shop', '', ''],
      [-1_000_000_000n, -3600, -60, 'old', '', '', '', '', 'shop', '', ''],
      [1_795_266_000_000_000_000n, 1_795_266_000, 1_795_266_000, '-', 'api', 'é', '', '12', 'shop', '', ''],
    ]);
  });

  it('are none of a tick, and of a record without entries', () => {
    expect([...entries(inputOf(0, tickMessage(4, NOW)))]).to.deep.equal([]);
    expect([...entries(inputOf(0, logMessage([], { offset: 4, appendedAt: NOW })))]).to.deep.equal([]);
  });
});
