/** What is found of requests by a detector of another list, or of values: its name in alerts, and when it fires, for those who set how easily. */
export type SpanDetector = { readonly name: string; readonly description: string };

/** What `log_rate` is of entries. */
export const requestRate: SpanDetector = {
  name: 'request_rate',
  description: 'The requests of a service or operation rise above or fall below their baseline.',
};

/** The 95 % quantile of a minute's durations, compared with its own past as values of rules are. */
export const durationP95: SpanDetector = {
  name: 'duration_p95',
  description: 'Requests of a service or operation take longer than usual: the 95 % quantile of their durations.',
};
