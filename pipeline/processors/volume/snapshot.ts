import { kindOf, Segment } from './segment.ts';
import { ByteReader, ByteWriter, CutOff } from '../snapshot-bytes.ts';
import { SPAN_MINUTES } from './spans.ts';

const VERSION = 1;
/** What a segment is. */
const [CLOSED, OPEN, WITHOUT_STREAMS] = [0, 1, 2] as const;
const MAX_KIND = kindOf(0xffff, 1);
/** Times are signed words, of which a record has few. */
const MAX_WORD = 0xffff_ffff;

/** The segments in some 20 bytes a group: version, and for each span whether it is open, where it begins, its levels and its groups, in their order. */
export function snapshotSegments(segments: readonly (Segment | null)[]): Buffer {
  const to = new ByteWriter();
  to.count(VERSION);
  for (const segment of segments) {
    to.count(segment === null ? CLOSED : segment.hasStreams ? OPEN : WITHOUT_STREAMS);
    if (segment !== null) putSegment(to, segment);
  }
  return to.finish();
}

function putSegment(to: ByteWriter, { from, since, levels, groups }: Segment): void {
  to.count(from);
  to.count(since);
  to.count(levels.texts.length);
  for (const text of levels.texts) to.text(text);
  to.count(groups.size);
  for (let group = 0; group < groups.size; group++) {
    to.count(groups.tenant(group));
    to.count(groups.kind(group));
    if (hasStream(groups.kind(group))) {
      to.word(groups.high(group));
      to.word(groups.low(group));
    }
    to.signed(groups.time(group));
    to.count(groups.level(group));
    to.count(groups.entries(group));
    to.count(groups.bytes(group));
  }
}

/** What `snapshotSegments` made; null where the bytes are anything else. */
export function restoreSegments(bytes: Buffer): (Segment | null)[] | null {
  const from = new ByteReader(bytes);
  try {
    if (from.count() !== VERSION) return null;
    const segments = SPAN_MINUTES.map(() => {
      const kind = from.count(WITHOUT_STREAMS);
      return kind === CLOSED ? null : readSegment(from, kind === OPEN);
    });
    return from.isAtEnd ? segments : null;
  } catch (error) {
    if (error instanceof CutOff) return null;
    throw error;
  }
}

function readSegment(from: ByteReader, hasStreams: boolean): Segment {
  const segment = new Segment(from.count(), from.count());
  segment.hasStreams = hasStreams;
  const { levels, groups } = segment;
  const levelCount = from.count(MAX_WORD);
  for (let level = 0; level < levelCount; level++) if (levels.number(from.text()) !== level) throw new CutOff();
  const groupCount = from.count(MAX_WORD);
  for (let group = 0; group < groupCount; group++) {
    const tenant = from.count(MAX_WORD);
    const kind = from.count(MAX_KIND);
    const [high, low] = hasStream(kind) ? [from.word(), from.word()] : [0, 0];
    const found = groups.at(tenant, kind, high, low, from.signed(), from.count(levelCount - 1));
    const [entries, size] = [from.count(), from.count()];
    // each group stands there once, and has entries
    if (found !== group || tenant === 0 || entries === 0 || (!hasStreams && hasStream(kind))) throw new CutOff();
    groups.add(found, entries, size);
  }
  if (groupCount === 0) throw new CutOff();
  return segment;
}

const hasStream = (kind: number): boolean => kind >= kindOf(0, 1);
