import type { Load } from '../load.ts';

/** What the load was answered since the watch began: times in milliseconds since the epoch. */
export type Watched = {
  readonly refusals: readonly { readonly at: number; readonly slug: string; readonly tookMs: number }[];
  /** When a refusal of that slug came first. */
  first(slug: string): number | undefined;
  /** When an acknowledgement came first after a time. */
  firstAckAfter(at: number): number | undefined;
  acksBetween(from: number, to: number): number;
  end(): void;
};

const SLUGS = ['wal_full', 'backpressure', 'rate_limited'] as const;

/** Watches refusals (429) and acknowledgements of a load. */
export function watchAnswers(load: Load): Watched {
  const refusals: { at: number; slug: string; tookMs: number }[] = [];
  const end = load.watch(({ at, status, tookMs, why }) => {
    if (status === 429) refusals.push({ at, slug: SLUGS.find((name) => why.includes(name)) ?? 'other', tookMs });
  });
  return {
    refusals,
    first: (slug) => refusals.find((refusal) => refusal.slug === slug)?.at,
    firstAckAfter: (time) => load.acks.find(({ at }) => at > time)?.at,
    acksBetween: (from, to) => load.acks.filter(({ at }) => at >= from && at < to).length,
    end,
  };
}
