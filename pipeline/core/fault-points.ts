/**
 * Where tests may break the program: points that it passes, safety parts that they switch off, and periods that they shorten. Only code
 * that is loaded before the program (`--import` of test/faults) can do so, by a hook that is read once, as this module loads; there is
 * no variable and no setting for it. Without a hook a point is a call that returns, and a part is a constant.
 */

/** The points, and how far the work is there. */
export const FAULT_POINTS = {
  'after-intent': 'The intent of a range is committed, and nothing of the range is sent yet.',
  'mid-insert': 'Half of the body of an insert is on its way.',
  'after-insert': 'A range is stored, and not committed.',
  'after-commit': 'A range is committed.',
  'before-outputs': 'What processors have found is about to be written.',
  'after-outputs': 'What processors have found is written, and no snapshot has it yet.',
  'after-snapshot': 'A snapshot of a processor is saved.',
} as const;

/** The parts that make "acknowledged" mean "stored exactly once" and "counted exactly once", and what each does. */
export const SAFETY_PARTS = {
  idempotence: 'A batch has a producer id and sequence numbers, by which Kafka knows what is sent again.',
  'all-replicas': 'A batch is acknowledged by all replicas (acks=all).',
  usage: 'API nodes count what they have sent and what is not in the volume yet.',
  intent: 'The end of a range is committed before the range is stored.',
  recall: 'Who takes a partition over looks for rows beyond its commits.',
  'joint-insert': 'Ranges of several partitions share an insert, which their fence guards.',
  token: 'An insert of the same range has the same token.',
  deduplication: 'ClickHouse remembers the tokens of inserts.',
  'one-block': 'An insert makes its blocks one after the other, the same for the same rows.',
  fence: 'An insert writes nothing once one of its ranges is repeated.',
  'read-back': 'A range that may be stored is looked up before it is stored again, and its insert leaves out what is there.',
  positions: 'A row has its offset and its place in the record.',
  'state-order': 'A snapshot is saved after what was found until then is written.',
  'state-clock': 'A segment of the volume ends by append time, not by the clock of the process that folds.',
  'state-once': 'A processor takes no record twice.',
  'state-taken': 'A merger takes no partial twice.',
} as const;

/** Periods that a test may shorten, so that there is enough of either in a minute. */
export const FAULT_PERIODS = {
  snapshot: 'After so much time a snapshot is due.',
  'volume-minute': 'A segment of the volume is open for so long, for each minute of its span.',
  'span-step': 'A step of append time, by which calls between services wait for their other side.',
} as const;

export type FaultPoint = keyof typeof FAULT_POINTS;
export type SafetyPart = keyof typeof SAFETY_PARTS;
export type FaultPeriod = keyof typeof FAULT_PERIODS;

/** What the tests' preload puts on `globalThis` under `FAULT_HOOK`. */
export type FaultHook = {
  /** `about`: what the program is at work on. A promise holds it up. */
  readonly reach: (point: FaultPoint, about: unknown) => Promise<void> | undefined;
  /** A body in which a point lies, of a statement that begins like this. */
  readonly within: (point: FaultPoint, head: string, body: readonly Buffer[]) => Iterable<Buffer> | AsyncIterable<Buffer>;
  readonly off: readonly SafetyPart[];
  readonly periodsMs: Readonly<Partial<Record<FaultPeriod, number>>>;
};

/** @public read by programs that tests write as strings */
export const FAULT_HOOK = Symbol.for('logweir.fault-hook');

const hook = (globalThis as { readonly [FAULT_HOOK]?: FaultHook })[FAULT_HOOK];

/** The program passes a point; what it returns is to be awaited where the point can be held up. */
export const reach = (point: FaultPoint, about?: unknown): Promise<void> | undefined => hook?.reach(point, about);

/** A body with a point in its middle. */
export const bodyWith = (point: FaultPoint, head: string, body: readonly Buffer[]): Iterable<Buffer> | AsyncIterable<Buffer> =>
  hook === undefined ? body : hook.within(point, head, body);

/** Whether a safety part is on. Its value never changes: read it once, as a module loads. */
export const isOn = (part: SafetyPart): boolean => hook?.off.includes(part) !== true;

/** A period, milliseconds. It never changes either. */
export const periodMs = (period: FaultPeriod, usualMs: number): number => hook?.periodsMs[period] ?? usualMs;
