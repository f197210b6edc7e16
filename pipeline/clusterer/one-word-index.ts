const START = 1024;
const EMPTY = -1;

/**
 * Which keys are equal but for one token, in arrays that grow: for each hash of a key without one of its tokens, the nodes that have it, until
 * they are one cluster. A key of ten tokens costs some 200 bytes.
 */
export class OneWordIndex {
  /** The hashes, of 53 bits, and the newest member or, below -1, the node that stands for a group that is one. */
  #hashes = new Float64Array(START);
  #heads = new Int32Array(START).fill(EMPTY);
  #nodes = new Int32Array(START);
  #nexts = new Int32Array(START);
  #groups = 0;
  #members = 0;

  /** Bytes that it takes. */
  get bytes(): number {
    return this.#hashes.byteLength + this.#heads.byteLength + this.#nodes.byteLength + this.#nexts.byteLength;
  }

  /** The slot of a group; a new one is empty. It is good until the next `slot`. */
  slot(hash: number): number {
    if (this.#groups * 2 >= this.#hashes.length) this.#grow();
    const slot = this.#find(this.#hashes, this.#heads, hash);
    if (this.#heads[slot] === EMPTY) {
      this.#hashes[slot] = hash;
      this.#groups += 1;
    }
    return slot;
  }

  /** The node that stands for a group which is one cluster, -1 where it is none yet. */
  joined(slot: number): number {
    const head = this.#heads[slot] as number;
    return head < EMPTY ? -head - 2 : -1;
  }

  /** Whether the group of a hash is one cluster. */
  isJoined(hash: number): boolean {
    return (this.#heads[this.#find(this.#hashes, this.#heads, hash)] as number) < EMPTY;
  }

  /** From now on the group is one cluster, which a node stands for: its members are forgotten. */
  join(slot: number, node: number): void {
    this.#heads[slot] = -node - 2;
  }

  /** The nodes of a group that is not a cluster yet, the newest first. */
  members(slot: number): number[] {
    const nodes: number[] = [];
    for (let member = this.#heads[slot] as number; member > EMPTY; member = this.#nexts[member] as number)
      nodes.push(this.#nodes[member] as number);
    return nodes;
  }

  add(slot: number, node: number): void {
    if (this.#members === this.#nodes.length) {
      this.#nodes = longer(this.#nodes);
      this.#nexts = longer(this.#nexts);
    }
    this.#nodes[this.#members] = node;
    this.#nexts[this.#members] = this.#heads[slot] as number;
    this.#heads[slot] = this.#members;
    this.#members += 1;
  }

  #find(hashes: Float64Array, heads: Int32Array, hash: number): number {
    const mask = hashes.length - 1;
    let slot = hash & mask;
    while (heads[slot] !== EMPTY && hashes[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const hashes = new Float64Array(this.#hashes.length * 2);
    const heads = new Int32Array(this.#heads.length * 2).fill(EMPTY);
    for (let old = 0; old < this.#heads.length; old += 1) {
      if (this.#heads[old] === EMPTY) continue;
      const slot = this.#find(hashes, heads, this.#hashes[old] as number);
      hashes[slot] = this.#hashes[old] as number;
      heads[slot] = this.#heads[old] as number;
    }
    this.#hashes = hashes;
    this.#heads = heads;
  }
}

function longer(array: Int32Array): Int32Array<ArrayBuffer> {
  const next = new Int32Array(array.length * 2);
  next.set(array);
  return next;
}

/** A hash of 53 bits of a key's tokens, of which the one at `index` is `instead`. The same in every process. */
export function hashWithout(tokens: readonly string[], index: number, instead: string): number {
  let [a, b] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = at === index ? instead : (tokens[at] as string);
    for (let char = 0; char < token.length; char += 1) {
      const code = token.charCodeAt(char);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ code, 0x5bd1e995);
      b ^= b >>> 15;
    }
    a = Math.imul(a ^ 0x20, 0x01000193);
    b = Math.imul(b ^ 0x20, 0x5bd1e995);
  }
  return (a >>> 0) * 0x200000 + ((b ^ (b >>> 16)) & 0x1fffff);
}
