import { wasm, type WasmModule } from './module.ts';

/** Tokens in addition to ABSENT, STRING and LITERAL of the draft: a string with `\u` escapes; an array, or an object kept whole. */
export const UNICODE_STRING = 3;
export const JSON_TEXT = 4;

/** Numbers of a field on the tape: its name's number, what its token is, and where that begins and ends, from `base` on. */
export const TAPE_WIDTH = 4;

/** The longest token of a name that is learnt. */
const MAX_TOKEN = 1024;

/**
 * Scans JSON objects in WebAssembly: one pass over their bytes gives their fields, flattened, on a tape. Names are known by numbers, which
 * are learnt. What it does not know for certain it leaves to the draft, which is its oracle. One for a process, for one owner at a time.
 */
export class ObjectScanner {
  readonly tape: Int32Array;
  /** Fields on the tape. */
  count = 0;
  /** Where in the body the piece begins that lies in the module's memory. */
  base = 0;
  /** Grows when all that was learnt is forgotten. */
  epoch = 0;
  readonly #module: WasmModule;
  readonly #piece: Uint8Array;
  readonly #token: Uint8Array;
  #body: Buffer | null = null;
  /** Where the piece ends in the body. */
  #end = 0;

  constructor(module: WasmModule) {
    const { memory, PIECE, PIECE_ROOM, TAPE, TAPE_FIELDS } = module;
    this.#module = module;
    this.tape = new Int32Array(memory.buffer, TAPE.value, TAPE_FIELDS.value * TAPE_WIDTH);
    this.#piece = new Uint8Array(memory.buffer, PIECE.value, PIECE_ROOM.value);
    this.#token = new Uint8Array(memory.buffer, TAPE.value, MAX_TOKEN);
  }

  /** Forgets all names, and that other owner's body. */
  forget(): void {
    this.epoch += 1;
    this.#module.forgetSpellings(Math.floor(Math.random() * 0x7fffffff));
    this.release();
  }

  /** Must be called where a body may have changed that was scanned. */
  release(): void {
    this.#body = null;
  }

  /** Sets by its number which field keeps its objects as JSON. */
  keepWhole(name: number): void {
    this.#module.keepWhole(name);
  }

  /** Learns the token of a name with this number, in an object below the name `parent` (-1: at the top). */
  learn(parent: number, token: Uint8Array, name: number): void {
    if (token.length > MAX_TOKEN) return;
    this.#token.set(token);
    this.#module.learnSpelling(parent + 1, token.length, name);
  }

  /** Scans the object that begins at `at`; gives the offset after it, -1 where it is not known for certain that there is one before `end`. */
  scan(body: Buffer, at: number, end: number): number {
    if (body !== this.#body || at < this.base || at >= this.#end) this.#load(body, at);
    let after = this.#scanPiece(at, end);
    if (after === 0 && this.#end < end && at > this.base && this.#module.isCutOff() !== 0) {
      this.#load(body, at);
      after = this.#scanPiece(at, end);
    }
    return after === 0 ? -1 : after + this.base;
  }

  #scanPiece(at: number, end: number): number {
    const after = this.#module.scanObject(at - this.base, Math.min(end, this.#end) - this.base);
    this.count = this.#module.fieldCount();
    return after;
  }

  #load(body: Buffer, at: number): void {
    this.#body = body;
    this.base = at;
    this.#end = Math.min(body.length, at + this.#piece.length);
    this.#piece.set(body.subarray(at, this.#end));
  }
}

/** The scanner of this process; null where it has no WebAssembly. */
export const objectScanner = wasm === undefined ? null : new ObjectScanner(wasm);
