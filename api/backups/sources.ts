import type { Logger } from 'pino';
import type { Turn } from '../../pipeline/bus/consumer/turn.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { Part, Place } from './place.ts';
import type { FilledTable, SinkGroups } from './sink-groups.ts';

/** What of the engine a backup needs: statements of the owner. */
export type Statements = Pick<Store, 'ownerRows' | 'command' | 'insert'>;

/** What backups are made of, and restored to. */
export type BackupSources = {
  readonly groups: SinkGroups;
  /** Takes the turn of this set: of all nodes one backs it up or restores it at a time. Rejects with TurnTaken where another one does. */
  readonly takeTurn: () => Promise<Turn>;
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

/** A database that is there while it is used. `opened`: a backup that it shows; without it, it is empty. What an earlier try has left of it goes first. */
export async function withDatabase<Answer>(
  server: Statements,
  name: string,
  opened: { readonly place: Place; readonly part: Part } | null,
  use: () => Promise<Answer>,
): Promise<Answer> {
  const drop = (): Promise<void> => server.command(`DROP DATABASE IF EXISTS \`${name}\` SYNC`);
  await drop();
  const engine = opened === null ? '' : ` ENGINE = Backup('${IN_BACKUP}', ${opened.place.of(opened.part)})`;
  await server.command(`CREATE DATABASE \`${name}\`${engine}`, opened?.place.settings);
  try {
    return await use();
  } finally {
    await drop();
  }
}

/** Does what no other node may do at the same time. */
export async function inTurn<Answer>({ takeTurn }: BackupSources, work: (turn: Turn) => Promise<Answer>): Promise<Answer> {
  const turn = await takeTurn();
  try {
    return await work(turn);
  } finally {
    await turn.end();
  }
}
