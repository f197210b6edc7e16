/** The place of an entry among all: its time in nanoseconds and what breaks ties, all as decimal strings. */
export type Position = {
  readonly time: string;
  readonly arrived: string;
  readonly part: string;
  readonly offset: string;
  readonly index: string;
};
