/** Where an input lies, and when it was appended. */
export type Position = {
  readonly partition: number;
  readonly offset: number;
  /** When the broker appended the record, milliseconds; it may be less than that of the record before, where a broker's clock was set back. */
  readonly appendedAt: number;
};
