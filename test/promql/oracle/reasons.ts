/** Differences that are known, and are to stay: each with its reason. */
const REASONS: readonly (readonly [query: RegExp, reason: string])[] = [
  [/\bln\(.*odd_values/, "Go's Log on amd64 does not know denormal numbers"],
  [/timestamp\(\w+(?:\{[^}]*\})? (?:@.*offset|offset.*@)/, 'Prometheus forgets the offset of a selector with @ in timestamp()'],
  [/std(?:dev|var).*timestamp\(/, 'the variance of numbers that are alike in their first ten digits depends on the order of the sums'],
];

/** Why the answer to a query may differ; null where it must not. */
export const reasonOf = (query: string): string | null => REASONS.find(([pattern]) => pattern.test(query))?.[1] ?? null;
