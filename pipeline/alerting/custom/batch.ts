import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { Side } from '../../detectors/detector.ts';
import type { FinalMinute } from './final-minutes.ts';

/** Values of a rule: the only detector that they are for, the side that the rule is about (null: both), and the minutes of a window. */
export type OfRule = { readonly detector: string; readonly side: Side | null; readonly step: number };

/** Minutes of a tenant's streams, for every detector, or a window of a rule. */
export type Batch = { readonly tenantId: number; readonly minutes: readonly FinalMinute[]; readonly rule: OfRule | null };

const SIDES = [null, 'up', 'down'] as const;
/** A week. */
const MOST_STEP = 10_080;

export function writeBatch(to: ByteWriter, { tenantId, minutes, rule }: Batch): void {
  for (const number of [tenantId, minutes.length, rule?.step ?? 0]) to.count(number);
  if (rule !== null) {
    to.text(rule.detector);
    to.count(SIDES.indexOf(rule.side));
  }
  for (const { id, minute, entries, errors, isLate, value = null } of minutes) {
    to.text(id);
    for (const number of [minute, entries, errors, isLate ? 1 : 0]) to.count(number);
    if (rule !== null) to.text(JSON.stringify(value));
  }
}

/** What `writeBatch` wrote, or an older release, which had no rules; throws where it is anything else. */
export function readBatch(from: ByteReader, hasRules = true): Batch {
  const tenantId = from.count(0xffff_ffff);
  let left = from.count(0xffff_ffff);
  const step = hasRules ? from.count(MOST_STEP) : 0;
  const rule = step === 0 ? null : { detector: from.text(), side: SIDES[from.count(SIDES.length - 1)] ?? null, step };
  const minutes: FinalMinute[] = [];
  for (; left > 0; left--) {
    const minute = { id: from.text(), minute: from.count(), entries: from.count(), errors: from.count(), isLate: from.count(1) === 1 };
    minutes.push(rule === null ? minute : { ...minute, value: JSON.parse(from.text()) as number | null });
  }
  return { tenantId, minutes, rule };
}
