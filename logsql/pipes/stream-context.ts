import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { formatTime, parseTime } from '../../pipeline/core/time.ts';
import { momentText } from '../values/times.ts';
import { FieldSet } from '../base/fields.ts';
import type { QueryMemory } from '../base/memory.ts';
import { AndFilter } from '../filters/logic.ts';
import { parseStreamText } from '../filters/stream.ts';
import { duration } from '../filters/duration.ts';
import { TimeFilter } from '../filters/time.ts';
import { Query } from '../base/query.ts';
import { contextsOf } from '../sql/contexts.ts';
import type { StatementRunner, Parser, Pipe, PipeSpec, RunContext, RunRows, SqlInput, Stage } from '../base/types.ts';
import { count } from '../base/arguments.ts';

const HOUR = 3_600_000_000_000n;
const DELIMITER = '---';

type Context = { readonly before: number; readonly after: number; readonly window: bigint; readonly written: string };

/**
 * `stream_context [before N] [after N] [time_window d]`, only as the first pipe: the matching entries with those around them in their
 * streams, oldest first; contexts that overlap are one, and a row `---` ends each.
 */
class StreamContextPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly #context: Context;
  constructor(context: Context) {
    this.#context = context;
  }
  toString(): string {
    const { before, after, written } = this.#context;
    return `stream_context before ${String(before)} after ${String(after)}${written}`;
  }
  needs(): FieldSet {
    return FieldSet.all;
  }
  stage(): Stage {
    throw new Error('BUG: stream_context was not expanded.');
  }

  /** Where few entries match: those around each of them alone. */
  async gather(input: SqlInput, runner: StatementRunner): Promise<readonly LogEntry[] | null> {
    const found = await contextsOf(input, this.#context, runner);
    return found === null ? null : found.flatMap(({ matched, around }) => this.#around(matched, around, input.run.memory));
  }

  async expand(rows: readonly LogEntry[], run: RunRows, { memory }: RunContext): Promise<LogEntry[]> {
    const byStream = new Map<string, LogEntry[]>();
    for (const row of rows) {
      memory.step();
      const stream = textOf(row.get('_stream'));
      const own = byStream.get(stream);
      if (own === undefined) byStream.set(stream, [row]);
      else own.push(row);
    }
    const out: LogEntry[] = [];
    for (const [stream, own] of byStream) {
      // they come newest first, of equal times too
      const matched = memory.sort(
        own.toReversed().map((row) => ({ row, at: timeOf(row) })),
        (a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0),
      );
      const [from, to] = [(matched[0]?.at ?? 0n) - this.#context.window, (matched.at(-1)?.at ?? 0n) + this.#context.window];
      const filter = new AndFilter([new TimeFilter(from, to, `[${formatTime(from)},${formatTime(to)}]`), parseStreamText(stream)]);
      const found = await run(new Query({ ignoreGlobalTimeFilter: true }, filter, []));
      const all = found.filter((row) => textOf(row.get('_stream')) === stream).toReversed();
      const around = this.#around(
        matched.map(({ row }) => row),
        all,
        memory,
      );
      for (const row of around) out.push(row);
    }
    return out;
  }

  /** The entries around each match, which are all of its stream or at least these; both oldest first. */
  #around(matched: readonly LogEntry[], all: readonly LogEntry[], memory: QueryMemory): LogEntry[] {
    const { before, after } = this.#context;
    const out: LogEntry[] = [];
    const times = all.map((row) => {
      memory.step();
      return timeOf(row);
    });
    let next = 0;
    let from = 0;
    for (const row of matched) {
      const at = timeOf(row);
      // what is earlier is none of the matches that follow
      for (; from < all.length && (times[from] as bigint) < at; from++) memory.step();
      let index = from;
      while (times[index] === at && !isSame(row, all[index] as LogEntry)) {
        memory.step(row.size);
        index += 1;
      }
      if (times[index] !== at) continue;
      from = index + 1;
      const start = Math.max(index - before, next);
      if (next > 0 && index - before >= next) out.push(delimiterAfter(out.at(-1) ?? row));
      next = Math.max(next, Math.min(index + 1 + after, all.length));
      for (let each = start; each < next; each++) {
        memory.step();
        out.push(all[each] as LogEntry);
      }
    }
    return out.length === 0 ? out : [...out, delimiterAfter(out.at(-1) ?? new Map<string, string>())];
  }
}

const timeOf = (row: LogEntry): bigint => parseTime(textOf(row.get('_time'))) ?? 0n;

/** The row after a context: a nanosecond after its last entry. */
function delimiterAfter(row: LogEntry): LogEntry {
  const at = parseTime(textOf(row.get('_time'))) ?? 0n;
  return new Map([
    ['_time', momentText(at + 1n)],
    ['_stream', row.get('_stream') ?? '{}'],
    ['_msg', DELIMITER],
  ]);
}

/** True when both have the same values; the order in which two equal entries are taken does not show. */
function isSame(a: LogEntry, b: LogEntry): boolean {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) if (textOf(b.get(name)) !== textOf(value)) return false;
  return true;
}

function parseStreamContext(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const hasBefore = lexer.accept('before');
  const before = hasBefore ? count(lexer, 'a number of entries') : 0;
  const hasAfter = lexer.accept('after');
  const after = hasAfter ? count(lexer, 'a number of entries') : 0;
  if (!hasBefore && !hasAfter) lexer.fail('expected "before" or "after"');
  if (!lexer.accept('time_window')) return new StreamContextPipe({ before, after, window: HOUR, written: '' });
  const { length, text } = duration(lexer);
  return new StreamContextPipe({ before, after, window: length, written: ` time_window ${text}` });
}

const line = (second: string, message: string): { readonly _time: string; readonly _stream: string; readonly _msg: string } => ({
  _time: `2026-11-18T10:00:0${second}Z`,
  _stream: '{a="x"}',
  _msg: message,
});
const INPUT = [line('5', 'e'), line('4', 'boom'), line('3', 'c'), line('2', 'b'), line('1', 'a')];

export const streamContext: PipeSpec = {
  names: ['stream_context'],
  examples: [
    {
      query: 'boom | stream_context before 1 after 1',
      input: INPUT,
      output: [line('3', 'c'), line('4', 'boom'), line('5', 'e'), line('5.000000001', '---')],
    },
  ],
  parse: parseStreamContext,
};
