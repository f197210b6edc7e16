import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { giveServerId, giveShardId, serverIds } from '../../../pipeline/store/server-id.ts';

const ID = '6f1c0f4e-8f5a-4f0e-9d51-0c1d2e3f4a5b';

describe('the id of a server', () => {
  const server = (rows: readonly unknown[][], statements: string[] = []) => ({
    database: 'd',
    ownerRows: () => Promise.resolve(rows as never),
    command: (text: string) => Promise.resolve(void statements.push(text)),
  });

  it('is in the definition of a table, which an owner may make, and another one for each', async () => {
    const statements: string[] = [];
    await giveServerId(server([], statements));
    await giveServerId(server([], statements));
    for (const text of statements)
      expect(text).to.match(/^CREATE TABLE IF NOT EXISTS server_id \(id String DEFAULT '[0-9a-f-]{36}'\) ENGINE = Null$/);
    expect(new Set(statements).size).to.equal(2);
  });

  it('stays where the server becomes a shard', async () => {
    const statements: string[] = [];
    await giveShardId(server([[ID]], statements));
    expect(statements).to.deep.equal([`CREATE VIEW IF NOT EXISTS shard_id AS SELECT '${ID}' AS id`]);
    await giveShardId(server([], statements));
    expect(statements[1]).to.match(/^CREATE VIEW IF NOT EXISTS shard_id AS SELECT '[0-9a-f-]{36}' AS id$/);
  });

  it('is empty where there is none, or no database, and not known where the server does not answer', async () => {
    expect(await serverIds([server([[ID]]), server([])])).to.deep.equal([ID, '']);
    const failing = (code: string) => ({
      database: 'd',
      ownerRows: () => Promise.reject(new ClickHouseError({ message: code, code, type: 'X' })),
    });
    expect(await serverIds([failing('81')])).to.deep.equal(['']);
    expect(await serverIds([failing('209')]).catch((error: unknown) => (error as Error).message)).to.equal('209');
  });
});
