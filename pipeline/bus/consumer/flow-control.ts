/** What is held of a partition: read, and not stored yet. Bytes. */
export type Holding = {
  /** Waits to become a range. */
  readonly gathered: number;
  /** The range that is being stored. */
  readonly storing: number;
  /** As much is gathered as one range may have. */
  readonly isFull: boolean;
  /** The range of an intent is not whole yet: nothing of it can be stored before it is. */
  readonly isOwed: boolean;
  /** It is halted until an operator acts: its records are not counted, since the others could not go on. */
  readonly isHalted: boolean;
  /** The log had more of it when it was read last. */
  readonly isBehind: boolean;
  /** When its last range was begun, and when one was stored last, by `performance.now()`; 0: none was. */
  readonly begunAt: number;
  readonly storedAt: number;
};

/** Of a partition of which nothing has come yet. Perhaps nothing will: it must not wait for its turn, nor keep it. */
const NOTHING: Holding = {
  gathered: 0,
  storing: 0,
  isFull: false,
  isOwed: false,
  isHalted: false,
  isBehind: false,
  begunAt: 0,
  storedAt: 0,
};

export type FlowControlOptions = {
  /** Most bytes that are held of all partitions together; one range and one fetch may come on top of it. */
  readonly budget: number;
  readonly pause: (partitions: number[]) => void;
  readonly resume: (partitions: number[]) => void;
  /** Called when the partitions are read to their ends, and little is held, after more than a quarter of the budget was. */
  readonly onDrained: () => void;
};

/** A range that is still being stored this long after its begin, when another partition stores one, has its own failure. Milliseconds. */
const STUCK_MS = 30_000;

/** What counts as much, and what as little. */
const [MUCH_SHARE, LITTLE_SHARE] = [1 / 4, 1 / 8];

/**
 * Which partitions are read on. Below half of the budget: every one that is not full. From there on, of those that have a backlog, only
 * one at a time, so that large ranges are finished one after the other rather than small ones of all; and at the budget none. An intent's
 * range is always read to its end, since nothing of it can be discarded before.
 */
export function readOn(holdings: ReadonlyMap<number, Holding>, held: number, budget: number): Set<number> {
  const open = [...holdings].filter(([, { isFull, isHalted }]) => !isFull && !isHalted);
  if (held < budget / 2) return new Set(open.map(([partition]) => partition));
  const [next] = open.filter(([, { isBehind, isOwed }]) => isBehind || isOwed).sort(([, one], [, other]) => precedence(one, other));
  if (held >= budget) return new Set(next?.[1].isOwed === true ? [next[0]] : []);
  const current = open.filter(([, { isBehind, isOwed }]) => !isBehind && !isOwed);
  return new Set([...current, ...(next === undefined ? [] : [next])].map(([partition]) => partition));
}

/**
 * The partitions with a stuck range, while those of others are stored: they count as little as halted ones, since the others could not
 * go on. Where nothing is stored at all, as when the table is unavailable, none is stuck.
 */
export function stuck(holdings: ReadonlyMap<number, Holding>): Set<number> {
  const last = Math.max(0, ...[...holdings.values()].map(({ storedAt }) => storedAt));
  const isStuck = ({ storing, begunAt }: Holding): boolean => storing > 0 && last - begunAt >= STUCK_MS;
  return new Set([...holdings].filter(([, holding]) => isStuck(holding)).map(([partition]) => partition));
}

/** Of ranges of intents, the one that is nearest to its end; then what has waited longest, so that each partition has its turn. */
function precedence(one: Holding, other: Holding): number {
  if (one.isOwed !== other.isOwed) return one.isOwed ? -1 : 1;
  return (one.isOwed ? 0 : one.begunAt - other.begunAt) || other.gathered - one.gathered;
}

/** Pauses and resumes the partitions of a consumer, so that what it holds stays within a budget. */
export class FlowControl {
  readonly #options: FlowControlOptions;
  readonly #holdings = new Map<number, () => Holding>();
  /** Readers that were given up while a range of theirs was being stored: it is held until that ends. */
  readonly #leaving = new Set<() => Holding>();
  readonly #paused = new Set<number>();
  #heldMuch = false;
  #stopped = false;

  constructor(options: FlowControlOptions) {
    this.#options = options;
  }

  /** These are the partitions now, and nothing is held of them. */
  assign(partitions: readonly number[]): void {
    for (const holding of this.#holdings.values()) this.#leaving.add(holding);
    this.#holdings.clear();
    for (const partition of partitions) this.#holdings.set(partition, () => NOTHING);
    if (this.#paused.size > 0) this.#options.resume([...this.#paused]);
    this.#paused.clear();
    this.update();
  }

  /** Registers the function that returns what is buffered of a partition. */
  watch(partition: number, holding: () => Holding): void {
    const before = this.#holdings.get(partition);
    if (before === undefined) return;
    this.#leaving.add(before);
    this.#holdings.set(partition, holding);
    this.update();
  }

  /** Leaves the partitions as they are from now on. */
  stop(): void {
    this.#stopped = true;
  }

  /** To be called when a holding has changed. */
  update(): void {
    if (this.#stopped) return;
    const reported = new Map([...this.#holdings].map(([partition, holding]) => [partition, holding()]));
    const halted = stuck(reported);
    const holdings = new Map(
      [...reported].map(([partition, holding]) => [partition, halted.has(partition) ? { ...holding, isHalted: true } : holding]),
    );
    let held = 0;
    for (const { gathered, storing, isHalted } of holdings.values()) held += isHalted ? 0 : gathered + storing;
    for (const leaving of this.#leaving) {
      const { storing } = leaving();
      if (storing === 0) this.#leaving.delete(leaving);
      held += storing;
    }
    this.#lookWhetherDrained(holdings, held);
    const reads = readOn(holdings, held, this.#options.budget);
    const pause = [...holdings.keys()].filter((partition) => !reads.has(partition) && !this.#paused.has(partition));
    const resume = [...this.#paused].filter((partition) => reads.has(partition));
    for (const partition of pause) this.#paused.add(partition);
    for (const partition of resume) this.#paused.delete(partition);
    if (pause.length > 0) this.#options.pause(pause);
    if (resume.length > 0) this.#options.resume(resume);
  }

  #lookWhetherDrained(holdings: ReadonlyMap<number, Holding>, held: number): void {
    const { budget, onDrained } = this.#options;
    if (held >= budget * MUCH_SHARE) this.#heldMuch = true;
    if (!this.#heldMuch || held > budget * LITTLE_SHARE) return;
    if ([...holdings.values()].some(({ isBehind, isHalted }) => isBehind && !isHalted)) return;
    this.#heldMuch = false;
    onDrained();
  }
}
