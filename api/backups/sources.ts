import type { Logger } from 'pino';
import type { Store } from '../../pipeline/store/client.ts';
import type { FilledTable, SinkGroups } from './sink-groups.ts';

/** What of the engine a backup needs: statements of the owner. */
export type Statements = Pick<Store, 'ownerRows' | 'command' | 'insert'>;

/** What backups are made of, and restored to. */
export type BackupSources = {
  readonly groups: SinkGroups;
  readonly log: Logger;
  /** The database of the tables. */
  readonly database: string;
  /** The server, as the owner; no statement names a table without its database. */
  readonly server: Statements;
  readonly filled: readonly FilledTable[];
  /** The number of the last migration of this version. */
  readonly newestSchema: number;
  /** Makes the database where there is none, and brings its tables to this version. */
  readonly prepare: (database: string) => Promise<void>;
  /** Has every node know the database as the one that the set lies in, where there are several sets. */
  readonly identify: (database: string) => Promise<void>;
};

/** Is told what is being done now. */
export type Report = (step: string, done?: { readonly bytes: number; readonly of: number }) => void;

/** The name of the database in every backup, whatever it is called on the server. */
export const IN_BACKUP = 'logweir';

/** A table with its database, as statements have it. */
export const tableName = (database: string, table: string): string => `\`${database}\`.\`${table}\``;

/** A database that is there while it is used. `engine`: what stands behind its name. What an earlier try has left of it goes first. */
export async function withDatabase<Answer>(server: Statements, name: string, engine: string, use: () => Promise<Answer>): Promise<Answer> {
  const drop = (): Promise<void> => server.command(`DROP DATABASE IF EXISTS \`${name}\` SYNC`);
  await drop();
  await server.command(`CREATE DATABASE \`${name}\` ${engine}`);
  try {
    return await use();
  } finally {
    await drop();
  }
}
