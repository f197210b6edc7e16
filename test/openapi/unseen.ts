/** Statuses that are described, and that no end-to-end test has of each operation, with the reason. */
export type Unseen = {
  readonly statuses: readonly number[];
  /** Of these operations; of all without it. */
  readonly operations?: RegExp;
  readonly why: string;
};

export const UNSEEN: readonly Unseen[] = [
  {
    statuses: [500],
    why: 'A fault of the service: there is no known way to it. test/api/http/every-error.test.ts has its form in each style.',
  },
  { statuses: [408], why: 'The HTTP server itself answers it, before any operation: test/api/http/http-server.test.ts.' },
  {
    statuses: [503],
    why: 'A service that starts, stops or is overloaded: test/e2e/failures, and test/api/http/every-error.test.ts for each style.',
  },
  {
    statuses: [504],
    why: 'A query that takes too long or too much memory: test/e2e/store/reader-limits.e2e.test.ts has it of the engine that all use.',
  },
];
