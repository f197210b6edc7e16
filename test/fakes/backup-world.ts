import { pino } from 'pino';
import { TurnTaken } from '../../pipeline/bus/consumer/turn.ts';
import type { Commitment } from '../../pipeline/bus/reading/group-positions.ts';
import type { FilledTable, Logs, Noted, SinkGroups } from '../../api/backups/sink-groups.ts';
import type { BackupSources } from '../../api/backups/sources.ts';

/** The tables of three sinks. */
export const FILLED: readonly FilledTable[] = [
  { sink: 'logs', table: 'logs', topic: 'logs.v1', groupId: 'g-logs' },
  { sink: 'span_counts', table: 'span_counts', topic: 'span_counts.v1', groupId: 'g-counts' },
  { sink: 'pattern_counts', table: 'pattern_counts', topic: 'pattern_counts.v1', groupId: 'g-patterns' },
];

/** A server, and sinks, that keep what they are told in its order. */
export class BackupWorld {
  readonly done: string[] = [];
  /** What the manifest's table has. */
  manifest: readonly [text: string, digest: string] | null = null;
  /** The rows of each table, by database. */
  readonly rows = new Map<string, Record<string, number>>();
  readonly engines = new Map([['logs', 'MergeTree'], ['migrations', 'ReplacingMergeTree']]); // prettier-ignore
  running: readonly string[] = [];
  logs: Logs = { cluster: 'c', bounds: new Map() };
  noted: Noted = { cluster: 'c', positions: [] };
  readonly put = new Map<string, ReadonlyMap<number, Commitment>>();
  /** What the engine says of the BACKUP or RESTORE that runs. */
  states: readonly (readonly string[])[] = [['BACKUP_CREATED', '']];
  /** The statement, or the step, that fails. */
  failsAt = '';
  /** What held when a backup was opened last. */
  settings: object = {};
  /** Turns that were taken and not ended. */
  turns = 0;
  /** How often the turn is confirmed before another node has it. */
  confirmations = Infinity;

  get sources(): BackupSources {
    const did = (step: string): void => {
      this.done.push(step);
      if (this.failsAt !== '' && step.includes(this.failsAt)) throw new Error(`${this.failsAt} failed`);
    };
    const groups: SinkGroups = {
      note: () => {
        did('note');
        return Promise.resolve(this.noted);
      },
      logs: () => Promise.resolve(this.logs),
      running: () => Promise.resolve(this.running),
      put: (all) => {
        did('put');
        for (const { groupId, positions } of all) this.put.set(groupId, positions);
        return Promise.resolve();
      },
    };
    return {
      groups,
      takeTurn: () => {
        this.turns += 1;
        const confirm = (): Promise<void> =>
          (this.confirmations -= 1) < 0 ? Promise.reject(new TurnTaken('another has it')) : Promise.resolve();
        return Promise.resolve({ confirm, end: () => Promise.resolve(void (this.turns -= 1)) });
      },
      ...{ filled: FILLED, log: pino({ level: 'silent' }), database: 'logweir', newestSchema: 24 },
      prepare: (database) => {
        did(`prepare ${database}`);
        return Promise.resolve();
      },
      identify: (database) => {
        did(`identify ${database}`);
        return Promise.resolve();
      },
      server: {
        command: async (text, settings) => {
          await Promise.resolve();
          if (text.includes('ENGINE = Backup')) this.settings = settings ?? {};
          did(text);
        },
        insert: (_text, [body]) => {
          const row = JSON.parse(String(body)) as { text: string; digest: string };
          this.manifest = [row.text, row.digest];
          return Promise.resolve(1);
        },
        ownerRows: async (text, params) => {
          await Promise.resolve();
          if (text.endsWith(' ASYNC')) did(text);
          return this.#answer(text, params ?? {});
        },
      },
    };
  }

  #answer(text: string, params: Record<string, unknown>): (string | number)[][] {
    if (text.endsWith(' ASYNC')) return [['id', 'CREATING_BACKUP']];
    if (text.includes('system.backups')) {
      const [now, ...later] = this.states;
      if (later.length > 0) this.states = later;
      return now === undefined || now.length === 0 ? [] : [[...now, '1', '10', '1', '5']];
    }
    if (text.includes('system.tables')) return [...this.engines];
    if (text.includes('max(number)')) return [[24]];
    if (text.includes('.`manifest`')) return this.manifest === null ? [] : [[...this.manifest]];
    if (text.includes('uniqExact')) return [['3']];
    return Object.entries(this.rows.get(String(params['database'])) ?? {}).map(([table, rows]) => [table, String(rows), '7', '1']);
  }
}
