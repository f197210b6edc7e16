import type { LoadTotals } from '../load.ts';
import type { Violation } from '../verdict.ts';

/** A refusal (429, 503) comes within 5 s of the request; this leaves room for a machine that is busy with the trial itself. */
const MAX_REFUSAL_MS = 7500;

/** While Kafka is away or stopped, clients are told so in time. */
export const slowRefusals = ({ slowestRefusalMs }: LoadTotals): Violation[] =>
  slowestRefusalMs <= MAX_REFUSAL_MS
    ? []
    : [{ check: `a refusal took more than ${String(MAX_REFUSAL_MS)} ms`, count: 1, examples: [slowestRefusalMs] }];

/** No request was cut under way: a client that repeats after 429, 503 and a refused connection gets everything through. */
export const noCutRequests = ({ cutRequests: cut }: LoadTotals): Violation[] =>
  cut === 0 ? [] : [{ check: 'a request was cut under way', count: cut, examples: [] }];

/** Where Kafka and one API stay, a client gets its requests through, repeats included. */
export const delivered = (totals: LoadTotals): Violation[] =>
  totals.delivered >= (totals.requests - totals.refused) * 0.99
    ? []
    : [{ check: 'fewer than 99 % of the requests were acknowledged, repeats included', count: 1, examples: [totals] }];

type Check = (totals: LoadTotals) => readonly Violation[];

export const allChecks =
  (...checks: readonly Check[]): Check =>
  (totals) =>
    checks.flatMap((check) => check(totals));
