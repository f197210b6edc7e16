/** What an embedded ClickHouse needs to start. */
export type ClickHouseOptions = {
  /** The instance's data directory; everything of the engine is in its folder `clickhouse`. */
  readonly dataDir: string;
  /** Takes progress lines. */
  readonly log?: ((line: string) => void) | undefined;
  /** The port of the HTTP interface; without it a free one is taken. */
  readonly port?: number | undefined;
  /** Writes every part to the disk itself before an insert or a merge is done, so that a power loss takes nothing. */
  readonly survivesPowerLoss?: boolean | undefined;
  /** Told the process id as soon as there is one, long before the engine is ready. */
  readonly onSpawn?: ((pid: number) => void) | undefined;
  /** Aborted: the engine that is starting is killed, and the start fails. */
  readonly signal?: AbortSignal | undefined;
};

/** A running ClickHouse. */
export type ClickHouse = {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The name of the product's database, which the engine's `reader` is confined to; migrations create it. */
  readonly database: 'logweir';
  readonly readerUser: string;
  readonly readerPassword: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process has ended, with how it ended (`signal SIGKILL`). */
  readonly exited: Promise<string>;
  /** Ends it cleanly, within 15 s. Safe to call twice. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
};

/** Starts the ClickHouse engine as a child process that dies with this one, and waits until it answers. */
export function startClickHouse(options: ClickHouseOptions): Promise<ClickHouse>;
