import { patternOf } from '../../../logsql/values/message-pattern.ts';
import { severityOf } from '../../../pipeline/core/severity.ts';
import type { Deps, Request } from '../deps.ts';
import type { Chunk } from '../runner.ts';
import { readJson } from '../../../pipeline/core/read-json.ts';

/** Severities that are errors: error and fatal. */
const FIRST_ERROR = 5;
const [QUOTE, BACKSLASH] = ['"', '\\'] as const;

/**
 * Entries as JSON strings, with what is known of the patterns of error entries: `_fingerprint`, `_first_seen` and `_occurrences`. A chunk
 * without an error goes on unchanged.
 */
export async function* enriched(chunks: AsyncIterable<Chunk<string>>, request: Request, deps: Deps): AsyncGenerator<Chunk<string>> {
  for await (const chunk of chunks) {
    const patterns = chunk.rows.map(errorPattern);
    const wanted = patterns.filter((pattern) => pattern !== '');
    if (wanted.length === 0) {
      yield chunk;
      continue;
    }
    const known = await deps.patterns.of(wanted, request, deps);
    const rows = chunk.rows.map((text, index) => {
      const found = known.get(patterns[index] ?? '');
      if (found === undefined) return text;
      const { fingerprint, firstSeen, occurrences } = found;
      return `${text.slice(0, -1)},"_fingerprint":"${fingerprint}","_first_seen":"${firstSeen}","_occurrences":${String(occurrences)}}`;
    });
    yield { rows, placeOf: (index) => chunk.placeOf(index) };
  }
}

/**
 * The pattern of an error entry, by its JSON string, which begins with `_time`, `_stream`, `_msg` and `level`; empty for any other, and for
 * one that has a fingerprint of its own.
 */
export function errorPattern(text: string): string {
  const stream = endOfMember(text, endOfMember(text, 1, '_time'), '_stream');
  const end = endOfMember(text, stream, '_msg');
  const levelEnd = endOfMember(text, end, 'level');
  if (levelEnd < 0) return '';
  const level = text.slice(end + ',"level":"'.length, levelEnd - 1);
  if (severityOf(level) < FIRST_ERROR || text.includes('"_fingerprint":')) return '';
  const message: unknown = readJson(text.slice(stream + ',"_msg":'.length, end));
  return patternOf(String(message));
}

/** Where the member of this name ends that begins at `at`, with a comma before it where it is not the first; -1 where another one does. */
function endOfMember(text: string, at: number, name: string): number {
  const head = `${at === 1 ? '' : ','}"${name}":"`;
  if (at < 0 || !text.startsWith(head, at)) return -1;
  for (let end = text.indexOf(QUOTE, at + head.length); end >= 0; end = text.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
}
