/** An address that a role opens, and the variables that set it. */
export type Listener = { readonly host: string; readonly hostVariable: string; readonly port: number; readonly portVariable: string };

/** The few settings that the supervisor needs itself. */
export type Settings = {
  /** The addresses that the chosen roles open. */
  readonly listeners: readonly Listener[];
  readonly appUrl: string;
  readonly ingestUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  readonly isKafkaEmbedded: boolean;
  readonly isClickHouseEmbedded: boolean;
  /** The embedded engines write to the disk itself before they acknowledge. */
  readonly survivesPowerLoss: boolean;
  /** In the order in which they are stopped. */
  readonly roles: readonly string[];
};

/** Reads environment and command line. */
export function readSettings(env: Readonly<Record<string, string | undefined>>, argv: readonly string[]): Settings;

/** The data directory of the instance, as an absolute path. */
export function readDataDir(env: Readonly<Record<string, string | undefined>>): string;
