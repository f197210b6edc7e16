import { ColumnReader, readChecked } from '../rows/column-reader.ts';
import { readFrames } from '../rows/frames.ts';
import { WordView } from '../rows/word-view.ts';
import { definitionLayout } from './sample.ts';
import { definitionsOf, type SamplesRecord } from './samples-signal.ts';

const scratch = Buffer.allocUnsafeSlow(4 * 1024 * 1024);
const reader = new ColumnReader();
const words = new WordView();
const head = definitionLayout.head('definition');

/** Visits the definitions of a checked record, each once: their UTF-8 is `bytes[start..end)` until the next is visited. */
export function eachDefinition(record: SamplesRecord, visit: (bytes: Buffer, start: number, end: number) => void): void {
  const fault = readChecked(
    record.count,
    () => readFrames(definitionsOf(record), scratch),
    (bytes) => {
      reader.begin(bytes, record.count);
      reader.head(head);
      reader.version();
      reader.words(words);
      const { starts, ends, count } = words.keys;
      for (let key = 0; key < count; key++) visit(bytes, starts[key] as number, ends[key] as number);
      return null;
    },
  );
  if (fault !== null) throw new Error(`BUG: a checked record cannot be read: ${fault}.`);
}
