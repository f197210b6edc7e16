import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Store } from '../../../pipeline/store/client.ts';
import { migrate } from '../../../pipeline/store/migrations.ts';

const FILES = readdirSync(path.join(import.meta.dirname, '../../../pipeline/store/schema')).sort();

/** A store of no more than what was migrated; keeps the statements it is given. */
function storeWith(applied: readonly (readonly [number, string])[]): { readonly store: Store; readonly statements: string[] } {
  const statements: string[] = [];
  const store: Pick<Store, 'database' | 'createDatabase' | 'command' | 'ownerRows'> = {
    database: 'logs_of_shop',
    createDatabase: () => Promise.resolve(),
    command: (text) => Promise.resolve(void statements.push(text)),
    ownerRows: () => Promise.resolve(applied.map(([number, name]) => [number, name])),
  };
  return { store: store as Store, statements };
}

const laid = (statements: readonly string[]): string[] =>
  statements.flatMap((text) => /^(?:--.*\n)*CREATE TABLE IF NOT EXISTS (\w+)/.exec(text)?.[1] ?? []);

describe('migrations', () => {
  it('lay all tables in an empty database, streams before entries, and note each file', async () => {
    const { store, statements } = storeWith([]);
    expect(await migrate(store)).to.deep.equal(FILES.map((name) => Number(name.slice(0, 3))));
    expect(laid(statements)).to.deep.equal([
      'migrations',
      'streams',
      'logs',
      'insert_fences',
      'volume',
      'measures',
      'alerts',
      'pattern_counts',
      'patterns',
      'spans',
      'span_counts',
      'samples',
      'series',
      'series_labels',
      'metrics',
      'replay_chunks',
      'metric_rule_states',
    ]);
    for (const name of FILES) expect(statements.join('\n')).to.include(`'${name}')`);
  });

  it('do nothing where all is done, also by a later version', async () => {
    const done = FILES.map((name) => [Number(name.slice(0, 3)), name] as const);
    const { store, statements } = storeWith([...done, [900, '900_of_a_later_version.sql']]);
    expect(await migrate(store)).to.deep.equal([]);
    expect(laid(statements)).to.deep.equal(['migrations']);
  });

  it('refuse the tables of an earlier layout with one sentence, and change nothing', async () => {
    const { store, statements } = storeWith([
      [1, '001_logs.sql'],
      [2, '002_streams.sql'],
      [9, '009_codecs.sql'],
    ]);
    const refused: unknown = await migrate(store).catch((error: unknown) => error);
    expect(refused).to.be.an('error').with.property('message').that.matches(/^The ClickHouse database logs_of_shop has the tables of an earlier layout \(001_logs\.sql\).*LOGWEIR_DATA_DIR.*\.$/); // prettier-ignore
    expect(laid(statements)).to.deep.equal(['migrations']);
  });
});
