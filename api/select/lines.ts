import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';

/** Rows as JSON lines whose values are all strings. */
export const renderLines = (rows: readonly LogEntry[]): string => rows.map((row) => `${renderTexts(row)}\n`).join('');

/** A row as a JSON object whose values are all strings. */
export function renderTexts(row: LogEntry): string {
  const parts: string[] = [];
  for (const [name, value] of row) if (value !== '') parts.push(`${JSON.stringify(name)}:${JSON.stringify(textOf(value))}`);
  return `{${parts.join(',')}}`;
}

/** A generator whose first step was taken already: what fails there still has a status of its own. */
export async function* resumed<T>(first: IteratorResult<T, void>, rest: AsyncGenerator<T>): AsyncGenerator<T, void, unknown> {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
