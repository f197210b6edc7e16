import type { StoredSignal } from '../../../main/signals.ts';
import { layoutIntake } from '../../../pipeline/intake/layout-writer.ts';
import { markLayout, marksSignal } from './mark.ts';
import { marksJson } from './marks-json.ts';
import { MARKS_SCHEMA, marksSink } from './marks-table.ts';

/** A signal that only tests have: what every signal gets by being one (docs/adr/0041-a-spine-for-any-signal.md). */
const marks: StoredSignal = {
  signal: marksSignal,
  sinks: [marksSink],
  source: { open: () => layoutIntake(marksSignal, markLayout, 'marks'), normalizers: [marksJson], usage: 'usage-marks' },
  schema: MARKS_SCHEMA,
};

export default marks;
