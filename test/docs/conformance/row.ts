/** A test: its file, and a part of its title as it is written there. */
export type Held = { readonly file: string; readonly title: string };

/** A statement of the contract that a client can check. */
export type Row = {
  /** Words of the line of the specification where it stands: at most 60 characters, of one line of its section alone. */
  readonly line: string;
  readonly statement: string;
  readonly tests: readonly Held[];
  /** Why no test holds it yet: the number of the issue that builds it. */
  readonly pending?: number;
};

/** A line that promises nothing that could be checked, and why that is so. */
export type Remark = { readonly line: string; readonly reason: string };

/** A heading of the specification with all that stands under it. */
export type Section = {
  readonly document: 'interface.md' | 'decisions.md';
  readonly heading: string;
  readonly rows: readonly Row[];
  readonly remarks?: readonly Remark[];
};

/** The tests of a file, by their titles. */
export const of =
  (file: string) =>
  (title: string): Held => ({ file: `test/${file}`, title });

/** A statement, and the tests that hold it. */
export const row = (line: string, statement: string, ...tests: readonly Held[]): Row => ({ line, statement, tests });
