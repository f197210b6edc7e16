/** The flags of a command line by name. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** One admin command: its flags, the request it stands for, and the columns of its table. */
export type AdminCommand = {
  readonly name: string;
  readonly help: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Flags without a value. */
  readonly switches?: readonly string[];
  /** The service answers with the newest first; a table has it last. */
  readonly isNewestFirst?: boolean;
  readonly columns: readonly string[];
  /** Of work that goes on: where its next state is asked for, and what to show meanwhile; null once it is over. Throws where it has failed. */
  follow?(answer: unknown): { readonly path: string; readonly progress: string } | null;
  /** What a table has of an answer; the answer itself without it. */
  shown?(answer: unknown): unknown;
  request(flags: Flags): { readonly method: string; readonly path: string; readonly body?: object };
};
