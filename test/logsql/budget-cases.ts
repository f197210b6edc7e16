/**
 * A program that puts rows through every pipe and every function of `stats`, each written so that it takes as much as it can, with little
 * memory for the query. A line of JSON for each case, when it is over: `[query, input, error or null]`. Its heap is small: what holds more
 * than it may ends it (bounds.test.ts).
 */
import { LogsqlLimitError } from '../../logsql/base/errors.ts';
import { MAX_ROW_BYTES, MAX_VALUE_BYTES } from '../../logsql/base/memory.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { memoryFor } from './support.ts';
import { WORST_CASES, wayThrough, worstPipes, type Input } from './worst.ts';

const MB = 1e6;
const HELD = 2 * MB;
const MOST_ROWS = 100_000;

/** What the pipes throw; null where all went through. */
async function run(query: string, input: Input): Promise<string | null> {
  const memory = memoryFor({ maxRows: 1e9, maxBytes: HELD });
  memory.until = performance.now() + 120_000;
  let made = 0;
  try {
    const way = wayThrough(await worstPipes(query, input), input, memory, (out) => {
      made += 1;
      let size = 0;
      for (const value of out.values()) {
        if (textOf(value).length > MAX_VALUE_BYTES) throw new Error('a value is too long');
        size += textOf(value).length;
      }
      if (size > MAX_ROW_BYTES) throw new Error('a row is too long');
      if (made > MOST_ROWS) throw new LogsqlLimitError('enough');
    });
    for (let index = 0; index < input.rows && !way.done; index += 1) way.push(input.row(index));
    await way.flush();
    return null;
  } catch (error) {
    return error instanceof Error ? error.toString() : 'no error';
  }
}

for (const [query, input] of WORST_CASES) {
  process.stdout.write(`${JSON.stringify([query, input.name])}\n`);
  const error = await run(query, input);
  process.stdout.write(`${JSON.stringify([query, input.name, error])}\n`);
}
