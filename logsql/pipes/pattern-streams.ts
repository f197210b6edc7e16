import { fingerprintOf } from '../../pipeline/clusterer/shapes.ts';
import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, uint32 } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import { Budget } from '../base/rows.ts';
import type { Pipe, RunContext, SqlInput, SqlPipe, Stage } from '../base/types.ts';
import { patternOf, templateOf } from '../values/message-pattern.ts';
import { compareBytes } from '../values/order.ts';
import { countEntries } from '../sql/aggregate.ts';
import { columnTime } from '../sql/time.ts';
import { doubtColumn, groupKeys, isInDoubt } from './group.ts';

/** Of two times in ISO 8601, which have as many digits as they need: without the Z behind them the shorter one comes first. */
export const isEarlier = (a: string, b: string): boolean => compareBytes(a.slice(0, -1), b.slice(0, -1)) < 0;

/** Entries of one template, stream and level. */
type Group = { readonly stream: string; readonly level: string; hits: number; example: string; first: string; last: string };

/**
 * Entries by the templates of their own messages, their streams and levels: `fingerprint`, `normalized_message`, `_stream`, `level`, `hits`,
 * `example_raw_message`, `first` and `last`. All of it is of the entries that the query finds. No query names this pipe; more groups than `most`
 * are cut.
 */
export class PatternStreamsPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  toString(): string {
    return 'patterns';
  }

  needs(): FieldSet {
    return FieldSet.of(['_msg', '_stream', 'level', '_time']);
  }

  stage(context: RunContext): Stage {
    const groups = new Map<string, Group>();
    const budget = new Budget(context.memory, 'Counting by patterns');
    return {
      push: (row) => {
        const [message, stream, level, time] = ['_msg', '_stream', 'level', '_time'].map((name) => textOf(row.get(name))) as [string, string, string, string]; // prettier-ignore
        if (message === '') return [];
        const id = JSON.stringify([patternOf(message), stream, level]);
        const group = groups.get(id);
        if (group === undefined) {
          if (groups.size >= this.#most) return [];
          budget.take(1, message.length * 2 + stream.length * 2 + 300);
          groups.set(id, { stream, level, hits: 1, example: message, first: time, last: time });
          return [];
        }
        group.hits += 1;
        if (isEarlier(time, group.first)) group.first = time;
        if (isEarlier(group.last, time)) group.last = time;
        return [];
      },
      flush: () => [...groups.values()].map(rowOf),
    };
  }

  sql({ source, entries, context, doubt }: SqlInput): SqlPipe | null {
    const keys = groupKeys(['_stream', 'level'], context);
    if (context.computed?.('_msg') !== undefined || !context.table.hasPatterns || keys === null) return null;
    const [stream, level] = keys as [(typeof keys)[number], (typeof keys)[number]];
    // rows of before there were patterns have the number 0, as those without a message
    const isUnknown = sql`sum(countIf(pattern = 0 AND _msg != '')) OVER () > 0`;
    const groups = [stream.expression, level.expression];
    const columns = [...groups, sql`leftPad(lower(hex(pattern)), 16, '0')`, sql`min(_msg)`, sql`${countEntries(entries)}`, sql`min(_time)`, sql`max(_time)`, isUnknown]; // prettier-ignore
    return {
      statement: sql`SELECT ${join([...columns, ...doubtColumn(doubt)], sql`, `)} FROM ${source} GROUP BY pattern, ${join(groups, sql`, `)} LIMIT ${uint32(this.#most)}`,
      streamColumns: stream.isId === true ? [0] : [],
      decode: (row, streams) => {
        const [pattern, example, hits, first, last, unknown] = row.slice(2).map(String) as [string, string, string, string, string, string];
        if (isInDoubt(doubt, row) || Number(unknown) > 0) return null;
        if (example === '') return [];
        // by other rules than those of this release
        if (patternOf(example) !== pattern) return null;
        const labels = stream.decode(row[0], streams);
        return rowOf({ stream: labels, level: level.decode(row[1], streams), hits: Number(hits), example, first: columnTime(first), last: columnTime(last) }); // prettier-ignore
      },
    };
  }
}

function rowOf({ stream, level, hits, example, first, last }: Group): LogEntry {
  const template = templateOf(example);
  const row: LogEntry = new Map([
    ['fingerprint', fingerprintOf(template)],
    ['normalized_message', template],
    ['example_raw_message', example],
    ['_stream', stream],
    ['level', level],
    ['first', first],
    ['last', last],
  ]);
  return row.set('hits', new Literal(String(hits)));
}
