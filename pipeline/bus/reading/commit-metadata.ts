import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** A range that an earlier owner of the partition meant to store, and perhaps did. Offsets, inclusive. */
export type Intent = { readonly start: number; readonly end: number };

/** The content of a commit's metadata. */
export type Progress = {
  /** The committed offset: records before it are stored already, even if they are read. */
  readonly from: number;
  /** A range that is under way. */
  readonly intent: Intent | null;
  /** Which of the last offsets are dead letters. */
  readonly dead: ReadonlySet<number>;
  /** No record up to the end of the intent, or before `from`, was appended later than this, milliseconds; null where it is not known. */
  readonly appendedBy: number | null;
  /** Records up to this offset may be stored already, by ranges with other bounds; -1: none. */
  readonly inDoubtTo: number;
  /** The insert of several ranges that the intent's range was to be part of; it may still come, until it is fenced. */
  readonly insert: string | null;
};

/** How many of the last offsets are remembered. No range is wider, so that its own dead letters are always among them. */
export const WINDOW = 10_000;

const NOTHING_KNOWN = { appendedBy: null, inDoubtTo: -1, insert: null };
const INSERT_ID = /^[\w-]{1,64}$/;

type Metadata = { readonly e?: number; readonly v: 1; readonly d?: string; readonly t?: number; readonly m?: number; readonly j?: string };

/**
 * The metadata of a commit at `offset`: `e` is the end of the intent that begins there, if there is one, and `d` a bit for each offset of
 * the last 10,000 up to it that is a dead letter (deflated, base64); `t` is `appendedBy`, `m` `inDoubtTo` where it still matters, and `j` the
 * insert of several ranges that the intent's range is part of. At most 1,800 bytes; Kafka takes 4,096.
 */
export function encodeMetadata(
  offset: number,
  intentEnd: number | null,
  dead: Iterable<number>,
  {
    appendedBy,
    inDoubtTo,
    insert = null,
  }: Pick<Progress, 'appendedBy' | 'inDoubtTo'> & { readonly insert?: string | null } = NOTHING_KNOWN,
): string {
  const last = intentEnd ?? offset - 1;
  const isInDoubt = inDoubtTo >= offset;
  const bits = Buffer.alloc(WINDOW / 8);
  let any = false;
  for (const at of dead) {
    const back = last - at;
    if (back < 0 || back >= WINDOW) continue;
    any = true;
    bits[back >> 3] = (bits[back >> 3] as number) | (1 << (back & 7));
  }
  if (intentEnd === null && !any && appendedBy === null && !isInDoubt) return '';
  const metadata: Metadata = {
    ...(intentEnd === null ? {} : { e: intentEnd }),
    v: 1,
    ...(any ? { d: deflateRawSync(bits).toString('base64') } : {}),
    ...(appendedBy === null ? {} : { t: appendedBy }),
    ...(isInDoubt ? { m: inDoubtTo } : {}),
    ...(insert === null ? {} : { j: insert }),
  };
  return JSON.stringify(metadata);
}

/** Reads what `encodeMetadata` wrote. Throws on any other text: what is under way is then not known. */
export function decodeMetadata(offset: number, text: string): Progress {
  if (text === '') return { from: offset, intent: null, dead: new Set(), ...NOTHING_KNOWN };
  const { e, v, d, t, m, j } = JSON.parse(text) as Partial<Metadata>;
  const isOwnRecord = [e, t, m].every((value) => value === undefined || Number.isSafeInteger(value));
  if (v !== 1 || !isOwnRecord || (j !== undefined && !(typeof j === 'string' && INSERT_ID.test(j))))
    throw new Error(`The metadata of offset ${String(offset)} was not written by Logweir.`);
  const last = e ?? offset - 1;
  const dead = new Set<number>();
  const bits = d === undefined ? Buffer.alloc(0) : inflateRawSync(Buffer.from(d, 'base64'), { maxOutputLength: WINDOW / 8 });
  for (let back = 0; back < bits.length * 8; back++) if (((bits[back >> 3] as number) & (1 << (back & 7))) !== 0) dead.add(last - back);
  const intent = e === undefined ? null : { start: offset, end: e };
  return { from: offset, intent, dead, appendedBy: t ?? null, inDoubtTo: m ?? -1, insert: j ?? null };
}
