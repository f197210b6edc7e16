import type { ProcessEvent } from './kept-process.ts';
import type { Stored } from './monitor.ts';

/** How long something took to come back, milliseconds; of several times: how many, the middle one and the longest. */
export type Recovery = { readonly what: string; readonly times: number; readonly median: number; readonly max: number };

type Ack = { readonly at: number };

/**
 * Recovery times of a run: each process from its end to its next start; and after an engine is up (or resumed), until the service's work
 * goes on: of Kafka the next acknowledgement, of ClickHouse the next rows in the table.
 */
export function recoveries(events: readonly ProcessEvent[], acks: readonly Ack[], stored: readonly Stored[]): Recovery[] {
  const found = new Map<string, number[]>();
  const note = (what: string, ms: number): void => {
    found.set(what, [...(found.get(what) ?? []), ms]);
  };
  const growth = stored.filter(({ rows }, index) => index > 0 && rows > (stored[index - 1]?.rows ?? 0));
  events.forEach((event, index) => {
    const { name, at, kind } = event;
    const kindOfProcess = isOneOfThree(name) ? 'a broker of three' : name.replace(/-\d+$/, '');
    if (kind === 'gone') {
      const up = events.slice(index).find((later) => later.name === name && later.kind === 'up');
      if (up !== undefined) note(`${kindOfProcess}: from its end to its start`, up.at - at);
    }
    if (kind === 'kill' && event.how === 'SIGTERM') {
      const end = events.slice(index).find((later) => later.name === name && later.kind === 'gone');
      if (end !== undefined) note(`${kindOfProcess}: from SIGTERM to its end`, end.at - at);
    }
    const isBack =
      kind === 'resume' || (kind === 'up' && events.slice(0, index).some((earlier) => earlier.name === name && earlier.kind === 'gone'));
    if (!isBack) return;
    // another fault of an engine in between begins its own count
    const until =
      events.slice(index + 1).find((later) => isEngine(later.name) && (later.kind === 'kill' || later.kind === 'pause'))?.at ?? Infinity;
    const next = (times: readonly Ack[], what: string): void => {
      const first = times.find((time) => time.at > at);
      if (first !== undefined && first.at < until) note(what, first.at - at);
    };
    if (name === 'kafka') next(acks, 'acknowledgements after Kafka is back');
    if (name === 'clickhouse') next(growth, 'rows in the table after ClickHouse is back');
  });
  return [...found].map(([what, times]) => {
    const sorted = times.sort((a, b) => a - b);
    return { what, times: sorted.length, median: sorted[sorted.length >> 1] ?? 0, max: sorted.at(-1) ?? 0 };
  });
}

const isOneOfThree = (name: string): boolean => name.startsWith('kafka-');
const isEngine = (name: string): boolean => name === 'kafka' || name === 'clickhouse' || isOneOfThree(name);
