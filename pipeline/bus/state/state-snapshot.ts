import { promisify } from 'node:util';
import { crc32, gunzip, gzip } from 'node:zlib';

/** A state of a partition: that of all records before the offset `next`. */
export type Snapshot = { readonly next: number; readonly bytes: Buffer };

/** A record of a topic of states; without a value, the one before of the same key is to be forgotten. */
export type StateRecord = { readonly key: string; readonly value: Buffer | null };

/** Of one record. */
export const CHUNK_BYTES = 512 * 1024;
const VERSION = 1;
const MANIFEST = 'manifest';
const KEY = /^([\w-]{1,64})\/(\d{1,6}|manifest)$/;
/** What gzip may add to what it cannot compress. */
const GZIP_SLACK = 64 * 1024;
/** Whole snapshots that are kept while a topic is read: the furthest, and others in case that it turns out to be broken. */
const CANDIDATES = 3;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** The description of a snapshot: its last record. */
type Manifest = {
  readonly version: typeof VERSION;
  readonly next: number;
  /** How many chunks there are, how many bytes they have together, and their CRC-32. */
  readonly chunks: number;
  readonly packed: number;
  readonly crc: number;
  /** Bytes of the state. */
  readonly size: number;
};

/** The records of a snapshot: chunks, whose keys name the snapshot, and the manifest, which must be written last. */
export async function encodeSnapshot(id: string, { next, bytes }: Snapshot): Promise<{ chunks: StateRecord[]; manifest: StateRecord }> {
  const packed = await pack(bytes, { level: 1 });
  const chunks: StateRecord[] = [];
  for (let at = 0; at < packed.length; at += CHUNK_BYTES)
    chunks.push({ key: `${id}/${String(chunks.length)}`, value: packed.subarray(at, at + CHUNK_BYTES) });
  const manifest: Manifest = {
    ...{ version: VERSION, next },
    ...{ chunks: chunks.length, packed: packed.length, crc: crc32(packed), size: bytes.length },
  };
  return { chunks, manifest: { key: `${id}/${MANIFEST}`, value: Buffer.from(JSON.stringify(manifest)) } };
}

/** Records of a snapshot that are on the topic, and how far it is; null where its manifest is not there. */
export type Remains = { readonly next: number | null; readonly keys: ReadonlySet<string> };

type Part = { next: number | null; keys: Set<string>; readonly chunks: Map<number, Buffer> };
type Candidate = { readonly id: string; readonly manifest: Manifest; readonly chunks: readonly Buffer[] };

/** Finds the furthest whole snapshot among the records of a partition of a topic of states, whichever process wrote them. */
export class SnapshotReader {
  readonly #maxBytes: number;
  /** By the id of the snapshot, in the order in which they begin. */
  readonly #parts = new Map<string, Part>();
  #candidates: Candidate[] = [];
  /** Of chunks that no manifest was found for. */
  #openBytes = 0;

  /** `maxBytes`: of a state. One that claims more is none. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes a record, in the order of the topic. Foreign records are passed over. */
  take({ key, value }: StateRecord): void {
    const [, id = '', name = ''] = KEY.exec(key) ?? [];
    if (id === '') return;
    if (value === null) {
      this.#forget(id, key, name);
      return;
    }
    const part = this.#parts.get(id) ?? { next: null, keys: new Set<string>(), chunks: new Map<number, Buffer>() };
    this.#parts.set(id, part);
    part.keys.add(key);
    if (name === MANIFEST) this.#close(id, part, value);
    else if (value.length <= CHUNK_BYTES) this.#addChunk(part, Number(name), value);
  }

  /** The furthest snapshot that is whole; null where there is none. */
  async furthest(): Promise<Snapshot | null> {
    for (const candidate of this.#candidates) {
      const snapshot = await unpacked(candidate);
      if (snapshot !== null) return snapshot;
    }
    return null;
  }

  /** Bytes of chunks that no manifest was found for. */
  get openBytes(): number {
    return this.#openBytes;
  }

  /** What lies on the topic, by the id of the snapshot. */
  get remains(): ReadonlyMap<string, Remains> {
    return this.#parts;
  }

  #addChunk(part: Part, index: number, value: Buffer): void {
    this.#openBytes += value.length - (part.chunks.get(index)?.length ?? 0);
    part.chunks.set(index, value);
    // what owners that were killed left behind may be much; it goes, those that began first first
    for (const one of this.#parts.values()) {
      if (this.#openBytes <= 2 * this.#mostPacked) break;
      // one that has more than that alone is not a snapshot
      this.#drop(one);
    }
  }

  get #mostPacked(): number {
    return this.#maxBytes + GZIP_SLACK;
  }

  #drop(part: Part): void {
    for (const chunk of part.chunks.values()) this.#openBytes -= chunk.length;
    part.chunks.clear();
  }

  /** The manifest has come: all that belongs to it must be there. */
  #close(id: string, part: Part, value: Buffer): void {
    const manifest = readManifest(value, this.#maxBytes);
    part.next = manifest?.next ?? null;
    const chunks = manifest === null ? null : chunksOf(part.chunks, manifest);
    this.#drop(part);
    if (manifest === null || chunks === null) return;
    const others = this.#candidates.filter((one) => one.id !== id);
    // of two that are as far, the later one
    this.#candidates = [{ id, manifest, chunks }, ...others]
      .sort((one, other) => other.manifest.next - one.manifest.next)
      .slice(0, CANDIDATES);
  }

  #forget(id: string, key: string, name: string): void {
    const part = this.#parts.get(id);
    if (part === undefined) return;
    part.keys.delete(key);
    this.#openBytes -= part.chunks.get(Number(name))?.length ?? 0;
    part.chunks.delete(Number(name));
    if (part.keys.size === 0) this.#parts.delete(id);
    this.#candidates = this.#candidates.filter((one) => one.id !== id);
  }
}

/** The chunks that a manifest speaks of; null where they are not. */
function chunksOf(found: ReadonlyMap<number, Buffer>, { chunks, packed, crc }: Manifest): Buffer[] | null {
  const all: Buffer[] = [];
  let [size, sum] = [0, 0];
  for (let index = 0; index < chunks; index++) {
    const chunk = found.get(index);
    if (chunk === undefined) return null;
    all.push(chunk);
    size += chunk.length;
    sum = crc32(chunk, sum);
  }
  return found.size === chunks && size === packed && sum === crc ? all : null;
}

async function unpacked({ manifest: { next, size }, chunks }: Candidate): Promise<Snapshot | null> {
  try {
    const bytes = await unpack(Buffer.concat(chunks), { maxOutputLength: Math.max(size, 1) });
    return bytes.length === size ? { next, bytes } : null;
  } catch {
    return null;
  }
}

/** Null for what is not a manifest, or claims more than is allowed. */
function readManifest(value: Buffer, maxBytes: number): Manifest | null {
  if (value.length > 1000) return null;
  try {
    const found = JSON.parse(value.toString()) as Partial<Record<keyof Manifest, unknown>> | null;
    const numbers = [found?.next, found?.chunks, found?.packed, found?.crc, found?.size];
    const isOwnRecord = found?.version === VERSION && numbers.every((one) => Number.isSafeInteger(one) && (one as number) >= 0);
    const manifest = found as Manifest;
    const isSmall = isOwnRecord && manifest.size <= maxBytes && manifest.packed <= maxBytes + GZIP_SLACK;
    return isSmall && manifest.chunks === Math.ceil(manifest.packed / CHUNK_BYTES) ? manifest : null;
  } catch {
    return null;
  }
}
