/**
 * A further port of the broker on 127.0.0.1. Who asks there is sent to the advertised port for everything else, so all of its
 * traffic goes through what listens on that one: a proxy of the fault tests.
 */
export type ExtraListener = { readonly port: number; readonly advertisedPort: number };

/** What an embedded Kafka needs to start. */
export type KafkaOptions = {
  /** The instance's data directory; everything of the broker is in its folder `kafka`. */
  readonly dataDir: string;
  /** Takes progress lines. */
  readonly log?: ((line: string) => void) | undefined;
  /** The ports of the broker and of its controller; without them free ones are taken. */
  readonly ports?: readonly [number, number] | undefined;
  /** Writes every batch to the disk itself before it is acknowledged, so that a power loss takes nothing. */
  readonly survivesPowerLoss?: boolean | undefined;
  /** Beside the one that `brokers` names; none without it. */
  readonly extraListeners?: readonly ExtraListener[] | undefined;
  /** Further settings by their names, for tests; they come last and win. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Of the cluster that the node belongs to, where others do too; `settings` name them. A new one without it. */
  readonly clusterId?: string | undefined;
  /** Further options of Java, for tests. */
  readonly jvmArgs?: readonly string[] | undefined;
  /** Told the process id as soon as there is one, long before the broker is ready. */
  readonly onSpawn?: ((pid: number) => void) | undefined;
  /** Aborted: the broker that is starting is killed, and the start fails. */
  readonly signal?: AbortSignal | undefined;
};

/** A running Kafka. */
export type Kafka = {
  /** What clients connect to: `127.0.0.1:PORT`. */
  readonly brokers: string;
  readonly ports: readonly [number, number];
  readonly pid: number;
  /** Resolves when the process has ended, with how it ended (`signal SIGKILL`). */
  readonly exited: Promise<string>;
  /** Ends it cleanly, within 15 s. Safe to call twice. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
};

/** Starts one Kafka node as a child process that dies with this one, and waits until it takes requests. */
export function startKafka(options: KafkaOptions): Promise<Kafka>;

/** An id for a new cluster. */
export function newClusterId(): string;
