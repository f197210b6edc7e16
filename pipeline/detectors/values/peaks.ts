import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';

/** Numbers of a block, and blocks that are kept. */
const BLOCK = 375;
const BLOCKS = 8;

type Block = { first: number; second: number };

/** How far the last 3,000 numbers of a kind went: in single precision, by blocks of 375. */
export class Peaks {
  #blocks: Block[] = [];
  #total = 0;

  push(number: number): void {
    const value = Math.fround(number);
    if (this.#total % BLOCK === 0) this.#blocks = [...this.#blocks.slice(1 - BLOCKS), { first: 0, second: 0 }];
    this.#total += 1;
    const block = this.#blocks[this.#blocks.length - 1] as Block;
    if (value > block.first) [block.first, block.second] = [value, block.first];
    else if (value > block.second) block.second = value;
  }

  /** How many numbers were pushed. */
  get total(): number {
    return this.#total;
  }

  /** What 99.9 % of them do not exceed: the largest of fewer than a thousand, the second largest of more. */
  get high(): number {
    let [first, second] = [0, 0];
    for (const block of this.#blocks) {
      if (block.first > first) [first, second] = [block.first, Math.max(first, block.second)];
      else second = Math.max(second, block.first);
    }
    return this.#total < 1000 ? first : second;
  }

  write(to: ByteWriter): void {
    to.count(this.#total);
    to.count(this.#blocks.length);
    const bytes = Buffer.alloc(4);
    for (const { first, second } of this.#blocks)
      for (const value of [first, second]) {
        bytes.writeFloatLE(value);
        to.word(bytes.readUInt32LE());
      }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): Peaks {
    const read = new Peaks();
    read.#total = from.count();
    const bytes = Buffer.alloc(4);
    const value = (): number => {
      bytes.writeUInt32LE(from.word());
      return bytes.readFloatLE();
    };
    for (let left = from.count(BLOCKS); left > 0; left--) read.#blocks.push({ first: value(), second: value() });
    return read;
  }
}
