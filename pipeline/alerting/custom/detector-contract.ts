import { isDeepStrictEqual } from 'node:util';
import type { LookedSeries, SentPoint } from './detector-messages.ts';
import { DetectorProcess, type DetectorSource } from './detector-process.ts';
import { contractSeries, type ContractSeries } from './contract-series.ts';

/** What a detector promises, as it is held to it; `fault` is a sentence, null where it holds. */
export type HeldPromise = { readonly promise: string; readonly fault: string | null };

/** What is known of a detector behind its contract: characters of its largest state, and CPU of a minute in microseconds. */
export type DetectorCost = { readonly largestState: number; readonly microseconds: number };

/** A detector that was held to its contract. `cost` is null where the first promise does not hold. */
export type HeldDetector = { readonly name: string; readonly promises: readonly HeldPromise[]; readonly cost: DetectorCost | null };

/** The number of minutes in a call, as in the service. */
const WHOLE = 500;
/** Other pieces, over and over. */
const CUTS = [1, 2, 1, 7, 61, WHOLE] as const;
/** A process with another time and without randomness: a detector that reads either gives something else there. */
const ELSEWHERE = `data:text/javascript,${encodeURIComponent(`
const ago = 40_000_123_457;
const Real = Date;
globalThis.Date = class Date extends Real {
  constructor(...given) { if (given.length === 0) super(Real.now() - ago); else super(...given); }
  static now() { return Real.now() - ago; }
};
const now = performance.now.bind(performance);
performance.now = () => now() + ago;
const hrtime = process.hrtime;
process.hrtime = Object.assign((...given) => hrtime(...given).map((part) => part + 777), { bigint: () => hrtime.bigint() + 777_000_000_777n });
let at = 0.3;
Math.random = () => (at = (at * 7.1) % 1);
crypto.randomUUID = () => '00000000-0000-4000-8000-000000000000';
crypto.getRandomValues = (array) => array.fill(7);
`)}`;

/** Holds each detector of a file to what the service rests on. Rejects with a sentence where the file cannot be used. */
export async function holdDetectors(source: DetectorSource): Promise<readonly HeldDetector[]> {
  const child = new DetectorProcess();
  const detectors = await child.load(source).finally(() => child.kill());
  const held: HeldDetector[] = [];
  for (const { name } of detectors) held.push(await holdDetector(source, name));
  return held;
}

async function holdDetector(source: DetectorSource, name: string): Promise<HeldDetector> {
  const all = contractSeries();
  const whole: LookedSeries[] = [];
  let [cpuMs, points] = [0, 0];
  const child = await begun(source);
  try {
    const first = await holds('takes any series, and what it gives is what it may give', async () => {
      // what it takes until it is warm is not part of what a minute costs
      await lookAll(child, name, all[0] as ContractSeries, [WHOLE]);
      const before = child.cpuMs ?? 0;
      for (const series of all) whole.push(await lookAll(child, name, series, [WHOLE]));
      cpuMs = (child.cpuMs ?? 0) - before;
      points = all.reduce((sum, series) => sum + series.points.length, 0);
      return null;
    });
    if (first.fault !== null) return { name, promises: [first], cost: null };
    const promises = [
      first,
      await holds('gives the same in another process, at another time, whatever random numbers it gets', async () => {
        const other = await begun(source, [ELSEWHERE]);
        return compare(other, name, all, whole, [WHOLE]).finally(() => other.kill());
      }),
      await holds('gives the same however its minutes are cut, from its state as text', () => compare(child, name, all, whole, CUTS)),
      await holds('knows nothing of one series when it looks at another', () => compareMixed(child, name, all, whole)),
    ];
    const largestState = Math.max(...whole.map(({ state }) => state.length));
    return { name, promises, cost: { largestState, microseconds: (1000 * cpuMs) / points } };
  } finally {
    child.kill();
  }
}

async function holds(promise: string, check: () => Promise<string | null>): Promise<HeldPromise> {
  try {
    return { promise, fault: await check() };
  } catch (error) {
    return { promise, fault: error instanceof Error ? error.message : String(error) };
  }
}

async function begun(source: DetectorSource, imports: readonly string[] = []): Promise<DetectorProcess> {
  const child = new DetectorProcess(imports);
  await child.load(source);
  return child;
}

/** Looks at a series in pieces of these lengths, over and over, each from the JSON of the state before it. */
async function lookAll(
  child: DetectorProcess,
  name: string,
  { what, points }: ContractSeries,
  cuts: readonly number[],
): Promise<LookedSeries> {
  let state: string | null = null;
  const seen: LookedSeries['seen'][number][] = [];
  for (let [at, piece] = [0, 0]; at < points.length; piece++) {
    const next: readonly SentPoint[] = points.slice(at, at + (cuts[piece % cuts.length] ?? 1));
    const [looked]: readonly LookedSeries[] = await child.look(name, [{ state, points: next }]).catch((error: unknown) => {
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });
    if (looked === undefined) throw new Error(`${what}: it gave no answer.`);
    state = looked.state;
    for (const [index, one] of looked.seen) seen.push([at + index, one]);
    at += next.length;
  }
  return { state: state ?? '', seen };
}

/** Looks at each series again, in pieces of these lengths. */
async function compare(
  child: DetectorProcess,
  name: string,
  all: readonly ContractSeries[],
  whole: readonly LookedSeries[],
  cuts: readonly number[],
): Promise<string | null> {
  for (const [index, series] of all.entries()) {
    const fault = difference(series, whole[index], await lookAll(child, name, series, cuts));
    if (fault !== null) return fault;
  }
  return null;
}

/** Looks at all series again, at a piece of each after the other, as a service does with many streams. */
async function compareMixed(
  child: DetectorProcess,
  name: string,
  all: readonly ContractSeries[],
  whole: readonly LookedSeries[],
): Promise<string | null> {
  const again = all.map((series, index) => ({
    series,
    first: whole[index],
    state: null as string | null,
    seen: [] as LookedSeries['seen'][number][],
  }));
  const most = Math.max(...all.map(({ points }) => points.length));
  for (let at = 0; at < most; at += WHOLE) {
    const open = again.filter(({ series }) => at < series.points.length).reverse();
    const answers = await child.look(name, open.map(({ state, series }) => ({ state, points: series.points.slice(at, at + WHOLE) }))); // prettier-ignore
    for (const [index, one] of open.entries()) {
      one.state = answers[index]?.state ?? null;
      for (const [offset, seen] of answers[index]?.seen ?? []) one.seen.push([at + offset, seen]);
    }
  }
  return (
    again
      .map(({ series, first, state, seen }) => difference(series, first, { state: state ?? '', seen }))
      .find((fault) => fault !== null) ?? null
  );
}

/** Where two looks at a series differ, as a sentence; null where they do not. */
function difference({ what, points }: ContractSeries, first: LookedSeries | undefined, second: LookedSeries): string | null {
  if (first === undefined) return `${what}: it gave no answer.`;
  const length = Math.max(first.seen.length, second.seen.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [first.seen[index], second.seen[index]];
    if (isDeepStrictEqual(one, other)) continue;
    const at = Math.min(one?.[0] ?? Infinity, other?.[0] ?? Infinity);
    const minute = new Date((points[at]?.[0] ?? 0) * 60_000).toISOString().slice(0, 16);
    return `${what}, minute ${minute}Z: it found ${textOf(one, at)} first, and then ${textOf(other, at)}.`;
  }
  return first.state === second.state ? null : `${what}: its state was ${short(first.state)} first, and then ${short(second.state)}.`;
}

const textOf = (seen: LookedSeries['seen'][number] | undefined, at: number): string =>
  seen === undefined || seen[0] !== at ? 'nothing' : short(JSON.stringify(seen[1]));
const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
