import { SCOPE_STREAM } from '../../counters/volume-row.ts';
import { kindOf, Segment } from './segment.ts';
import { ByteReader, ByteWriter, CutOff, unlessCutOff } from '../../core/snapshot-bytes.ts';
import { VolumeState } from './volume-state.ts';

const VERSION = 3;
/** What a segment is. */
const [CLOSED, OPEN] = [0, 1] as const;
const MAX_KIND = kindOf(0xffff, SCOPE_STREAM);
/** Times are signed words, of which a record has few. */
const MAX_WORD = 0xffff_ffff;

/**
 * The state in some 20 bytes a group: version, next offset, where the counting began, when it was reported. For each span whether it is
 * open, where it begins, which tenants have no single streams, and which are not counted, its levels and its groups, in their order.
 */
export function snapshotVolume({ next, lastAt, base, run, publishedAt, segments }: VolumeState): Buffer {
  const to = new ByteWriter();
  for (const number of [VERSION, next, lastAt, base, run, publishedAt]) to.count(number);
  for (const segment of segments) {
    to.count(segment === null ? CLOSED : OPEN);
    if (segment !== null) putSegment(to, segment);
  }
  return to.finish();
}

function putSegment(to: ByteWriter, { from, since, alone, unpublished, levels, groups }: Segment): void {
  for (const number of [from, since, alone.size, ...alone, unpublished.size]) to.count(number);
  for (const [tenant, { first, last, retentionDays }] of unpublished) {
    to.count(tenant);
    to.signed(first);
    to.signed(last);
    to.count(retentionDays);
  }
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

/** What `snapshotVolume` made; null where the bytes are anything else. */
export function restoreVolume(bytes: Buffer): VolumeState | null {
  const from = new ByteReader(bytes);
  return unlessCutOff(() => {
    if (from.count() !== VERSION) return null;
    const state = new VolumeState();
    [state.next, state.lastAt, state.base, state.run, state.publishedAt] = [
      from.count(),
      from.count(),
      from.count(),
      from.count(),
      from.count(),
    ];
    for (let span = 0; span < state.segments.length; span++) state.segments[span] = from.count(OPEN) === CLOSED ? null : readSegment(from);
    return from.isAtEnd ? state : null;
  });
}

function readSegment(from: ByteReader): Segment {
  const segment = new Segment(from.count(), from.count());
  const { alone, unpublished, levels, groups } = segment;
  const tenants = from.count(MAX_WORD);
  for (let at = 0; at < tenants; at++) {
    alone.add(from.count(MAX_WORD));
    if (alone.size !== at + 1) throw new CutOff();
  }
  const unpublishedCount = from.count(MAX_WORD);
  for (let at = 0; at < unpublishedCount; at++) {
    const [tenant, first, last, retentionDays] = [from.count(MAX_WORD), from.signed(), from.signed(), from.count(0xffff)];
    unpublished.set(tenant, { first, last, retentionDays });
    if (tenant === 0 || first > last || unpublished.size !== at + 1) throw new CutOff();
  }
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
    if (found !== group || tenant === 0 || entries === 0 || unpublished.has(tenant) || (hasStream(kind) && alone.has(tenant)))
      throw new CutOff();
    groups.add(found, entries, size);
  }
  if (groupCount + unpublishedCount === 0) throw new CutOff();
  return segment;
}

const hasStream = (kind: number): boolean => kind >= kindOf(0, SCOPE_STREAM);
