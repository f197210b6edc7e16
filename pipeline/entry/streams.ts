import xxhash from 'xxhash-wasm';
import { renderStream } from '../core/labels.ts';
import { ByteMap } from './byte-map.ts';
import { ownBytes } from './own-bytes.ts';
import { ABSENT, type Draft } from './draft.ts';
import type { Name, Names } from './names.ts';

/** A stream: one full label set, its text, and its id (XXH64 of the text). */
export type Stream = {
  readonly text: string;
  readonly id: string;
  /** `"_stream_id":"…",` as it is written into a row. */
  readonly json: Uint8Array;
  /** 32 bits of the id, by which its place in a tenant's shard is chosen. */
  readonly hash: number;
  /** The chunk (by its running number) that has the stream in its header already. */
  chunk: number;
};

type Seen = { readonly token: Uint8Array; readonly stream: Stream };

/** How many combinations of label tokens are remembered before the table starts afresh. */
const MAX_SEEN = 100_000;
const MAX_SEEN_BYTES = 32 * 1024 * 1024;

const { h64 } = await xxhash();

/** The id of a stream: XXH64 (seed 0) of its label text, as an unsigned decimal. */
export const streamIdOf = (text: string): string => h64(text).toString();

/** Finds the stream of a draft by a given set of label names, without making strings for label values seen before. */
export class StreamTable {
  readonly #labels: readonly Name[];
  #seen = new ByteMap<Seen>(256);
  readonly #byText = new Map<string, Stream>();
  #bytes = 0;
  #scratch: Buffer = Buffer.allocUnsafeSlow(4096);

  constructor(names: Names, labels: readonly string[]) {
    this.#labels = [...new Set(labels)].sort().map((label) => names.pin(label));
  }

  /** The stream of the current entry of the draft; `{}` where it has none of the labels. */
  of(draft: Draft): Stream {
    const labels = this.#labels;
    let scratch = this.#scratch;
    let length = 0;
    for (let label = 0; label < labels.length; label++) {
      const name = labels[label] as Name;
      if (name.seen !== draft.entry) continue;
      const index = name.index;
      if (draft.kinds[index] === ABSENT) continue;
      const start = draft.starts[index] as number;
      const end = draft.ends[index] as number;
      if (length + end - start + 2 > scratch.length) scratch = this.#grow(length, end - start);
      const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
      scratch[length++] = label;
      for (let at = start; at < end; at++) scratch[length++] = source[at] as number;
      // no token holds a raw line feed, so the key is unambiguous
      scratch[length++] = 0x0a;
    }
    const seen = this.#seen.find(scratch, 0, length);
    return seen === undefined ? this.#learn(draft, length) : seen.stream;
  }

  #grow(length: number, more: number): Buffer {
    const larger = Buffer.allocUnsafeSlow((length + more + 2) * 2);
    this.#scratch.copy(larger, 0, 0, length);
    this.#scratch = larger;
    return larger;
  }

  #learn(draft: Draft, length: number): Stream {
    this.#count(length);
    const pairs: [string, string][] = [];
    for (const name of this.#labels) {
      const index = draft.find(name);
      if (index >= 0) pairs.push([name.text, draft.text(index)]);
    }
    const stream = this.#named(renderStream(pairs));
    this.#seen.add({ token: Uint8Array.prototype.slice.call(this.#scratch, 0, length), stream });
    return stream;
  }

  /** The stream of a label set that a protocol gives as a whole. */
  ofPairs(pairs: Iterable<readonly [string, string]>): Stream {
    const text = renderStream(pairs);
    if (!this.#byText.has(text)) this.#count(text.length);
    return this.#named(text);
  }

  #named(text: string): Stream {
    let stream = this.#byText.get(text);
    if (stream === undefined) {
      const id = h64(text);
      stream = {
        text,
        id: id.toString(),
        json: ownBytes(`"_stream_id":"${id.toString()}",`),
        hash: Number(BigInt.asIntN(32, id)),
        chunk: 0,
      };
      this.#byText.set(text, stream);
    }
    return stream;
  }

  /** Starts the tables afresh when too much is remembered. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#byText.size < MAX_SEEN && this.#seen.size < MAX_SEEN && this.#bytes <= MAX_SEEN_BYTES) return;
    this.#bytes = bytes;
    this.#seen = new ByteMap<Seen>(256);
    this.#byText.clear();
  }
}
