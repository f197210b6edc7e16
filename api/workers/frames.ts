import { readJson } from '../../pipeline/core/read-json.ts';
/** The protocol between the app process and its query workers: frames of a type, the number of a job, and bytes. */

/** To a worker: its settings; a query; the query is aborted; more of its answer is wanted; a ping. */
export const SETTINGS = 1;
export const RUN = 2;
export const ABORT = 3;
export const MORE = 4;
export const PING = 7;

/** From a worker: it is ready; it works on this job from now on; the head of an answer, its bytes, its end; an error; it is there. */
export const READY = 20;
export const NOTE = 21;
export const HEAD = 22;
export const DATA = 23;
export const END = 24;
export const ERROR = 25;
export const PONG = 27;
/** The names of the pipes that the rows of a job go through. */
export const PIPES = 28;
/** A job that has ended, failed or was aborted no longer runs, in ClickHouse neither. */
export const STOPPED = 29;

/** Type (1 byte), job (4), length of the bytes (4); numbers big-endian. */
const HEAD_BYTES = 9;

export type Frame = { readonly type: number; readonly job: number; readonly bytes: Buffer };

const NOTHING = Buffer.alloc(0);

/** A frame's head, and its bytes as they are: two writes, and nothing is copied. */
export function frameOf(type: number, job = 0, bytes: Uint8Array = NOTHING): readonly Uint8Array[] {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head[0] = type;
  head.writeUInt32BE(job, 1);
  head.writeUInt32BE(bytes.length, 5);
  return bytes.length === 0 ? [head] : [head, bytes];
}

export const jsonFrame = (type: number, job: number, value: unknown): readonly Uint8Array[] =>
  frameOf(type, job, Buffer.from(JSON.stringify(value)));

export const jsonOf = ({ bytes }: Frame): unknown => readJson(bytes.toString('utf8'));

/** Puts frames together again. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  take(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    for (;;) {
      if (this.#length < HEAD_BYTES) return;
      let first = this.#parts[0] as Buffer;
      if (first.length < HEAD_BYTES) first = this.#join();
      const end = HEAD_BYTES + first.readUInt32BE(5);
      if (this.#length < end) return;
      if (first.length < end) first = this.#join();
      this.#parts[0] = first.subarray(end);
      if (first.length === end) this.#parts.shift();
      this.#length -= end;
      this.#onFrame({ type: first[0] as number, job: first.readUInt32BE(1), bytes: first.subarray(HEAD_BYTES, end) });
    }
  }

  #join(): Buffer {
    const joined = Buffer.concat(this.#parts);
    this.#parts = [joined];
    return joined;
  }
}
