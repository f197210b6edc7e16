import { expect } from 'chai';
import type { ProcessEvent } from './kept-process.ts';
import { recoveries } from './recovery.ts';

const event = (at: number, name: string, kind: ProcessEvent['kind'], how = ''): ProcessEvent => ({ at, name, kind, how });

describe('recoveries', () => {
  it('counts from the end of a process to its start, and from an engine to the work that goes on', () => {
    const events = [
      event(0, 'kafka', 'up'),
      event(10, 'sink-1', 'up'),
      event(100, 'sink-1', 'kill'),
      event(101, 'sink-1', 'gone'),
      event(601, 'sink-1', 'up'),
      event(1000, 'kafka', 'kill'),
      event(1001, 'kafka', 'gone'),
      event(5001, 'kafka', 'up'),
      event(7000, 'clickhouse', 'gone'),
      event(8000, 'clickhouse', 'up'),
      event(9000, 'clickhouse', 'kill', 'SIGTERM'),
      event(9300, 'clickhouse', 'gone'),
    ];
    const acks = [500, 4000, 5500].map((at) => ({ at }));
    const stored = [
      { at: 7900, rows: 5 },
      { at: 8100, rows: 5 },
      { at: 8400, rows: 6 },
    ];
    expect(recoveries(events, acks, stored)).to.deep.equal([
      { what: 'sink: from its end to its start', times: 1, median: 500, max: 500 },
      { what: 'kafka: from its end to its start', times: 1, median: 4000, max: 4000 },
      { what: 'acknowledgements after Kafka is back', times: 1, median: 499, max: 499 },
      { what: 'clickhouse: from its end to its start', times: 1, median: 1000, max: 1000 },
      { what: 'rows in the table after ClickHouse is back', times: 1, median: 400, max: 400 },
      { what: 'clickhouse: from SIGTERM to its end', times: 1, median: 300, max: 300 },
    ]);
  });

  it('takes the brokers of a cluster for one kind of their own', () => {
    const events = [event(0, 'kafka-1', 'gone'), event(10, 'kafka-3', 'gone'), event(300, 'kafka-3', 'up'), event(500, 'kafka-1', 'up')];
    expect(recoveries(events, [{ at: 900 }], [])).to.deep.equal([
      { what: 'a broker of three: from its end to its start', times: 2, median: 500, max: 500 },
    ]);
  });

  it('counts nothing where another fault came before the work went on', () => {
    const events = [event(0, 'kafka', 'gone'), event(10, 'kafka', 'up'), event(20, 'kafka', 'kill')];
    expect(recoveries(events, [{ at: 900 }], []).map(({ what }) => what)).to.deep.equal(['kafka: from its end to its start']);
  });
});
