import { FrameWriter, readFrames } from '../../pipeline/rows/frames.ts';
import { entriesIn } from '../../pipeline/logs/columns/row-reader.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { SHARED_COLUMNS } from '../../sinks/shared-columns.ts';

/** A row as an insert into `logs` has it: what the sink adds, by column, and the entry. */
export type InsertedRow = Readonly<Record<string, number>> & { readonly entry: LogEntry };

/** Reads the body of an insert as ClickHouse does: the rest of the statement, and the rows of all blocks. */
export function readInsert(body: readonly Buffer[]): { readonly statement: string; readonly rows: InsertedRow[] } {
  const content = Buffer.concat(body.map((frames) => Buffer.from(readFrames(frames, Buffer.alloc(0)) ?? 'a frame that cannot be read')));
  const [head] = body;
  const statement = readFrames(head ?? Buffer.alloc(0), Buffer.alloc(0))?.toString() ?? '';
  const rows: InsertedRow[] = [];
  const cursor = new Blocks(content, Buffer.byteLength(statement));
  while (!cursor.isAtEnd) rows.push(...cursor.block());
  return { statement, rows };
}

class Blocks {
  readonly #content: Buffer;
  #at: number;

  constructor(content: Buffer, at: number) {
    this.#content = content;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#content.length;
  }

  block(): InsertedRow[] {
    this.#varint();
    const count = this.#varint();
    const shared = Array.from({ length: count }, (): Record<string, number> => ({}));
    for (const { name: expected } of SHARED_COLUMNS) {
      const name = this.#string();
      const width = { UInt16: 2, UInt32: 4, UInt64: 8, "DateTime64(3, 'UTC')": 8 }[this.#string()] ?? NaN;
      if (name !== expected) throw new Error(`The column ${name} stands where ${expected} should.`);
      for (const row of shared) {
        row[name] = width === 8 ? Number(this.#content.readBigUInt64LE(this.#at)) : this.#content.readUIntLE(this.#at, width);
        this.#at += width;
      }
    }
    const entries = this.#entries(count);
    return shared.map((row, index) => ({ ...row, entry: entries[index] as LogEntry }) as unknown as InsertedRow);
  }

  /** The columns of the record end where a reader of the rest says that bytes follow, or with the body. */
  #entries(count: number): LogEntry[] {
    const read = (end: number): LogEntry[] => {
      const writer = new FrameWriter();
      writer.put(this.#content.subarray(this.#at, end));
      const entries = entriesIn(writer.finish(), count, (id) => id);
      this.#at = end;
      return entries;
    };
    try {
      return read(this.#content.length);
    } catch (error) {
      const left = Number(/: (\d+) bytes follow/.exec(String(error))?.[1] ?? NaN);
      return read(this.#content.length - left);
    }
  }

  #varint(): number {
    let [number, factor] = [0, 1];
    for (;;) {
      const byte = this.#content[this.#at++] ?? NaN;
      number += (byte & 127) * factor;
      if (byte < 128) return number;
      factor *= 128;
    }
  }

  #string(): string {
    const length = this.#varint();
    this.#at += length;
    return this.#content.toString('utf8', this.#at - length, this.#at);
  }
}
