import { expect } from 'chai';
import { clusterFault, makeFrontTables, refuseShard } from '../../../pipeline/store/front-tables.ts';

const NEVER = new AbortController().signal;

describe('what reaches over the shards of a set', () => {
  const stated = async (made: [string, string][], engines: [string, string][]): Promise<readonly string[]> => {
    const statements: string[] = [];
    const own: [string, string][] = [['logs', '1'], ['spans', '2']]; // prettier-ignore
    await makeFrontTables(
      {
        database: 'd',
        ownerRows: (text, params) => {
          if (text.includes('create_table_query')) return Promise.resolve([]);
          return Promise.resolve(text.includes('engine_full') ? engines : params?.['database'] === 'd' ? own : made);
        },
        command: (text) => Promise.resolve(void statements.push(text)),
      },
      'd_shards',
      'c',
    );
    const [id = ''] = statements.splice(1, 1);
    expect(id).to.match(/^CREATE VIEW IF NOT EXISTS shard_id AS SELECT '[0-9a-f-]{36}' AS id$/);
    return statements;
  };
  const LOGS = "CREATE OR REPLACE TABLE d_shards.logs AS d.logs ENGINE = Distributed('c', 'd', 'logs')";
  const SPANS = "CREATE OR REPLACE TABLE d_shards.spans AS d.spans ENGINE = Distributed('c', 'd', 'spans')";
  const AS_IT_IS: [string, string][] = [['logs', "Distributed('c', 'd', 'logs')"], ['spans', "Distributed('c', 'd', 'spans')"]]; // prettier-ignore

  it('is made where it is missing, and made anew where columns or the cluster are others', async () => {
    const database = 'CREATE DATABASE IF NOT EXISTS d_shards';
    expect(await stated([], [])).to.deep.equal([database, LOGS, SPANS]);
    expect(await stated([['logs', '1'], ['spans', '2']], AS_IT_IS)).to.deep.equal([database]); // prettier-ignore
    expect(await stated([['logs', '0'], ['spans', '2']], AS_IT_IS)).to.deep.equal([database, LOGS]); // prettier-ignore
    expect(await stated([['logs', '1'], ['spans', '2']], [['logs', "Distributed('b', 'd', 'logs')"], ['spans', "Distributed('c', 'd', 'spans')"]])).to.deep.equal([database, LOGS]); // prettier-ignore
  });

  const faultOf = (ids: readonly string[], servers: readonly string[]): Promise<string | null> =>
    clusterFault(
      ids.map(() => ({ ownerRows: (text) => Promise.resolve(text.includes('d_shards') ? servers.map((one) => [one]) : []) })),
      ids,
      'd_shards',
      NEVER,
    );

  it('is known by the view of a shard, so that one that is named alone is refused', async () => {
    const shard = (rows: readonly unknown[][]): Parameters<typeof refuseShard>[0] => ({ database: 'd', ownerRows: () => Promise.resolve(rows as never) }); // prettier-ignore
    await refuseShard(shard([['0']]));
    const refused = await refuseShard(shard([['1']])).catch((error: unknown) => (error as Error).message);
    expect(refused).to.match(/^it is one of several shards/);
  });

  it('is read through just the servers of the shards', async () => {
    expect(await faultOf(['1', '2'], ['2', '1'])).to.equal(null);
    for (const servers of [['1'], ['1', '3'], ['1', '2', '3'], ['1', '1', '2'], []])
      expect(await faultOf(['1', '2'], servers), servers.join()).to.match(
        /^is read through a cluster that has other servers than its shards, in shard 1$/,
      );
    expect(await faultOf(['1', '1'], ['1', '1'])).to.equal('has two shards that are the same server');
  });
});
