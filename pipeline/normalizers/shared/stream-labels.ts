import { labelValue } from '../../core/labels.ts';
import { ABSENT, type Draft } from '../../logs/draft.ts';
import type { Name } from '../../logs/names.ts';
import type { EntryWriter } from '../../logs/writer.ts';

/** Most labels of a stream; what is beyond is a field and no label. */
const MAX_LABELS = 64;
/** Fields with a meaning of their own, which are not labels. */
const OWN = new Set(['_time', '_msg', '_stream', '_stream_id']);

/**
 * Makes the fields that the draft has the labels of the stream of this entry and of its group, unless the request names its own
 * stream fields (which then are looked for in each entry).
 */
export function labelsAreStream(draft: Draft, out: EntryWriter): void {
  if (out.options.streamFields !== null) return;
  const labels: [string, string][] = [];
  for (let i = 0; i < draft.count; i++) {
    const name = draft.fieldNames[i] as Name;
    if (draft.kinds[i] === ABSENT || OWN.has(name.text) || name.tooLong) continue;
    labels.push([name.text, labelValue(draft.text(i))]);
  }
  if (labels.length > MAX_LABELS) labels.sort(([a], [b]) => (a < b ? -1 : 1));
  out.streamIs(labels.slice(0, MAX_LABELS));
}
