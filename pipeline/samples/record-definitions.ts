import { ColumnReader, readChecked } from '../rows/column-reader.ts';
import { frameEnd, frameSize, readFrames } from '../rows/frames.ts';
import type { StringView } from '../rows/string-view.ts';
import { WordView } from '../rows/word-view.ts';
import { definitionLayout } from './sample.ts';
import { definitionsOf, type DefinitionCut, type SamplesRecord } from './samples-record.ts';

/** Takes a definition: its UTF-8 is `bytes[start..end)` until the next is visited. */
export type Visit = (bytes: Buffer, start: number, end: number) => void;

const scratch = Buffer.allocUnsafeSlow(4 * 1024 * 1024);
const reader = new ColumnReader();
const words = new WordView();
const head = definitionLayout.head('definition');

/** What is wrong with the definitions of a record; null for nothing. */
export function definitionsFault(record: SamplesRecord): string | null {
  const { count, cut } = record;
  const frames = definitionsOf(record);
  return readChecked(
    count,
    () => readFrames(frames, scratch),
    (bytes) => {
      readWords(bytes, count);
      reader.end();
      return cut === null || isCutSo(frames, cut, words.keys) ? null : 'its definitions are not cut as its header has it';
    },
  );
}

function readWords(bytes: Buffer, count: number): void {
  reader.begin(bytes, count);
  reader.head(head);
  reader.version();
  reader.words(words);
}

/** Whether each page has whole definitions, and as many follow as the header says. */
function isCutSo(frames: Buffer, { pages, loose }: DefinitionCut, keys: StringView): boolean {
  const { ends, count, from } = keys;
  const startOf = (key: number): number => (key === 0 ? from : (ends[key - 1] as number));
  let [at, content, key] = [0, 0, 0];
  for (let frame = 0; frame <= pages; frame++) {
    if (at >= frames.length) return false;
    content += frameSize(frames, at);
    at = frameEnd(frames, at);
    while (key < count && startOf(key) < content) key += 1;
    if (startOf(key) !== content) return false;
  }
  return at < frames.length && count - key === loose;
}

/**
 * Visits the definitions of a checked record, each once in a page. Pages of which `isKnown` is true of their frame are passed over without being
 * decompressed.
 */
export function eachDefinition(record: SamplesRecord, visit: Visit, isKnown: (frame: Buffer) => boolean = () => false): void {
  const { cut } = record;
  if (cut === null) {
    eachOfStream(record, visit);
    return;
  }
  const frames = definitionsOf(record);
  let at = frameEnd(frames, 0);
  for (let page = 0; page < cut.pages; page++) {
    const end = frameEnd(frames, at);
    const frame = frames.subarray(at, end);
    if (!isKnown(frame)) eachString(readFrames(frame, scratch), Infinity, visit);
    at = end;
  }
  if (cut.loose > 0) eachString(readFrames(frames.subarray(at), scratch), cut.loose, visit);
}

/** Strings as Native has them. */
function eachString(bytes: Buffer | null, most: number, visit: Visit): void {
  if (bytes === null) throw new Error('BUG: a checked record cannot be decompressed.');
  for (let [at, left] = [0, most]; at < bytes.length && left > 0; left--) {
    let [length, factor] = [0, 1];
    for (;;) {
      const byte = bytes[at++] as number;
      length += (byte & 127) * factor;
      if (byte < 128) break;
      factor *= 128;
    }
    visit(bytes, at, at + length);
    at += length;
  }
}

/** Those of a record that has them in one stream. */
function eachOfStream(record: SamplesRecord, visit: Visit): void {
  const fault = readChecked(
    record.count,
    () => readFrames(definitionsOf(record), scratch),
    (bytes) => {
      readWords(bytes, record.count);
      const { starts, ends, count } = words.keys;
      for (let key = 0; key < count; key++) visit(bytes, starts[key] as number, ends[key] as number);
      return null;
    },
  );
  if (fault !== null) throw new Error(`BUG: a checked record cannot be read: ${fault}.`);
}
