import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { FailingInserts } from '../../sinks/failing-inserts.ts';

const error = (code: string, type: string): ClickHouseError => new ClickHouseError({ message: 'it said so', code, type });

describe('inserts that fail', () => {
  it('are told of by table and reason once they last, and no more when one was stored', () => {
    let now = Date.parse('2026-11-27T03:00:00Z');
    const changes: string[] = [];
    const failing = new FailingInserts({ now: () => now, onChange: (table, is) => changes.push(`${table} ${String(is)}`) });
    failing.failed('logs', error('243', 'NOT_ENOUGH_SPACE'));
    expect(failing.warning).to.equal(null);
    now += 3000;
    failing.failed('volume', error('243', 'NOT_ENOUGH_SPACE'));
    now += 3000;
    failing.failed('alerts', error('164', 'READONLY'));
    now += 3000;
    failing.failed('logs', error('243', 'NOT_ENOUGH_SPACE'));
    expect(failing.warning).to.equal(
      'ClickHouse takes no inserts into logs, volume since 2026-11-27T03:00:00Z: its disk is full: NOT_ENOUGH_SPACE (243). ' +
        'ClickHouse takes no inserts into alerts since 2026-11-27T03:00:06Z: it is read-only: READONLY (164).',
    );
    for (const table of ['logs', 'volume', 'volume', 'alerts']) failing.stored(table);
    expect(failing.warning).to.equal(null);
    expect(changes).to.deep.equal(['logs true', 'volume true', 'alerts true', 'logs false', 'volume false', 'alerts false']);
  });

  for (const [about, caught, words] of [
    [
      'no connection',
      Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
      'the connection was refused: nothing listens there.',
    ],
    ['an error that nobody has named', error('999', 'KEEPER_EXCEPTION'), 'KEEPER_EXCEPTION (999): it said so.'],
    ['a table without its policy or right', error('497', 'ACCESS_DENIED'), 'the user lacks a right: ACCESS_DENIED (497).'],
  ] as const)
    it(`say what was answered: ${about}`, () => {
      let now = 0;
      const failing = new FailingInserts({ now: () => now });
      failing.failed('logs', caught);
      now = 5000;
      expect(failing.warning).to.contain(words);
    });
});
