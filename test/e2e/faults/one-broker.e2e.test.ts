import { expect } from 'chai';
import type { Cluster } from '../../faults/cluster.ts';
import { runScenarios, type RunReport } from '../../faults/run-scenarios.ts';
import { samples } from '../../faults/sample.ts';
import { extent, isWhole } from '../../extent.ts';
import type { Recounted } from '../../faults/verdict.ts';

const SEED = 20_261_121;

async function clickhouse({ clickhouse: { url, user, password, database } }: Cluster, statement: string): Promise<void> {
  const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': database };
  const response = await fetch(url, { method: 'POST', body: statement, headers });
  if (!response.ok) throw new Error(await response.text());
}

describe('faults', function () {
  this.timeout(1_800_000);

  let report: RunReport;
  let damaged: Recounted | undefined;

  before(async () => {
    const lines: string[] = [];
    try {
      report = await runScenarios({
        ...samples(isWhole).shared,
        seed: SEED,
        log: (line) => lines.push(line),
        afterwards: async (cluster, again) => {
          // one row is lost, and another one is there twice
          await clickhouse(cluster, 'INSERT INTO logs SELECT * FROM logs WHERE kafka_part = 0 ORDER BY kafka_off, kafka_idx LIMIT 1');
          const victim = 'kafka_part = 1 AND (kafka_off, kafka_idx) = (SELECT min((kafka_off, kafka_idx)) FROM logs WHERE kafka_part = 1)';
          await clickhouse(
            cluster,
            `ALTER TABLE logs DELETE WHERE ${victim} SETTINGS mutations_sync = 1, allow_nondeterministic_mutations = 1`,
          );
          damaged = await again();
        },
      });
    } catch (error) {
      throw new Error(`The run failed:\n${lines.join('\n')}`, { cause: error });
    }
  });

  it('has each acknowledged entry once, whatever was killed, stopped or cut', () => {
    expect(report.violations, `seed ${SEED}`).to.deep.equal([]);
    expect(report.figures).to.include({ stored_rows: report.figures['rows'], positions: report.figures['rows'] });
    expect(report.figures['acked']).to.equal(report.totals.ackedEntries).and.to.be.above(extent(5000, 20_000));
  });

  it('has killed, stopped and cut', () => {
    const counted = (pattern: RegExp): number =>
      Object.entries(report.counters).reduce((sum, [name, count]) => sum + (pattern.test(name) ? count : 0), 0);
    expect(counted(/^kills of api/), 'API').to.be.at.least(1);
    expect(counted(/^kills of sink/), 'sink').to.be.at.least(1);
    expect(counted(/^kills of kafka/), 'Kafka').to.be.at.least(1);
    expect(counted(/^kills of clickhouse/), 'ClickHouse').to.be.at.least(1);
    expect(counted(/^SIGKILL (after|mid)/), 'fault points').to.be.at.least(1);
    expect(counted(/^kills of live worker/), 'live workers').to.be.at.least(1);
    expect(counted(/^pauses of/), 'pauses').to.be.at.least(2);
    expect(counted(/^dropped|^truncated/), 'answers and bodies').to.be.at.least(3);
    expect(counted(/^late inserts/), 'inserts that came late').to.be.at.least(1);
  });

  it('counts again well enough to find one row that is lost and one that is doubled', () => {
    const found = new Map(damaged?.violations.map(({ check, count }) => [check, count]));
    expect(found.get('a record is in the table in part') ?? found.get('a record is not in the table')).to.equal(1);
    expect(found.get('a position is in the table more than once')).to.equal(1);
    expect(found.get('the log and the table do not have the same entries')).to.equal(2);
  });
});
