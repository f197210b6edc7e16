import Joi from 'joi';
import { contradictions, type Environment } from './config-contradictions.ts';
import { backupRows, backupsOf, type Backups } from './config-backups.ts';
import { coldOf, coldRows } from './config-cold.ts';
import { listenerTls, PemFiles, secretFileRows, withSecretFiles, type Tls } from './config-files.ts';
import { readSets, type ClickHouseAccess, type StoreSet } from './config-sets.ts';
import { networkOf } from './network.ts';

export type { Tls } from './config-files.ts';

/** How a client authenticates to Kafka: with a password, or with a token that a file holds or a command prints. */
export type Sasl =
  | { readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; readonly username: string; readonly password: string }
  | { readonly mechanism: 'oauthbearer'; readonly tokenFile: string }
  | { readonly mechanism: 'oauthbearer'; readonly tokenCommand: string };

/** An OpenAI-compatible API. `key`: empty where it needs none. */
export type ModelAccess = { readonly url: string; readonly key: string; readonly model: string };

/** Everything an operator can set, checked at start, frozen. The only reader of the environment. */
export type Config = {
  readonly http: {
    readonly host: string;
    /** PEM files of both public listeners; null: they speak HTTP. */
    readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
    readonly appPort: number;
    readonly ingestPort: number;
    readonly adminHost: string;
    readonly adminPort: number;
    /** Whether an instance without the role app opens it too. */
    readonly isAdminEverywhere: boolean;
    readonly maxBodyBytes: number;
    readonly corsOrigins: readonly string[];
    /** Milliseconds from a SIGTERM to the end of the public listeners. */
    readonly drainMs: number;
  };
  readonly kafka: {
    readonly brokers: readonly string[];
    /** Absent: connections are not encrypted. */
    readonly tls?: Tls;
    readonly sasl?: Sasl;
    readonly logPartitions: number;
    /** Replicas of the topics that are created; 0: as many as there are brokers, up to three. */
    readonly replication: number;
    /** Of them, those that must have a record before it is acknowledged; 0: one less than there are replicas, up to two. */
    readonly minInSync: number;
    /** Folder of its log; empty where it is not on this machine. */
    readonly dir: string;
    /** 0: the disk is not watched. */
    readonly minFreeDiskPercent: number;
  };
  /** That of the first set. */
  readonly clickhouse: ClickHouseAccess;
  /** The sets that are not out, the first one first. */
  readonly sets: readonly StoreSet[];
  /** Those that are out too. */
  readonly knownSets: readonly StoreSet[];
  /** Of the embedded engines. */
  readonly engines: { readonly survivesPowerLoss: boolean; readonly mayInstall: boolean };
  readonly limits: {
    readonly platformEntriesPerSecond: number;
    readonly queryTimeoutSeconds: number;
    readonly maxFacetFields: number;
    readonly queryWorkers: number;
  };
  readonly sinks: {
    readonly deadLetterLimit: number;
    /** Names of the sets that sinks of this process write. */
    readonly sets: readonly string[];
  };
  /** Files of processors in addition to the built-in ones. */
  readonly processors: { readonly files: readonly string[] };
  /** Files of signals in addition to the built-in ones. */
  readonly signals: { readonly files: readonly string[] };
  /** Files, folders and packages of detectors in addition to the built-in ones. */
  readonly detectors: { readonly sources: readonly string[] };
  /** Where alerts are sent. */
  readonly alerts: {
    /** Each gets every alert, as the members of a cluster do. */
    readonly alertmanagers: readonly string[];
    /** Private networks that webhooks may reach, such as `10.0.0.0/8`. */
    readonly webhookNetworks: readonly string[];
  };
  /** The model behind AI features; null: none. */
  readonly ai: ModelAccess | null;
  /** The file of doors other than HTTP; empty: none. */
  readonly doors: { readonly file: string };
  readonly keys: { readonly pepper: string; readonly bootstrapKey: string; readonly adminToken: string };
  readonly cold: ReturnType<typeof coldOf>;
  readonly backups: Backups;
  readonly dataDir: string;
  readonly logLevel: string;
  readonly embedded: boolean;
};

/** Characters that a secret of an operator must have. */
const MIN_SECRET = 16;

const port = Joi.number().port();

/** The parts of a comma-separated string. */
const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
const pem = (meaning: string): Joi.StringSchema => Joi.string().description(`PEM file: ${meaning}`);

/** One row for each variable: the schema of its value and what it means; `docs/config.md` is made from it. */
export const environment = Joi.object({
  LOGWEIR_HOST: Joi.string().hostname().default('127.0.0.1').description('Address of the two public listeners.'),
  LOGWEIR_TLS_CERT_FILE: pem('certificate of the two public listeners, which then speak HTTPS; read again when it changes.'),
  LOGWEIR_TLS_KEY_FILE: pem('its private key.'),
  LOGWEIR_APP_PORT: port.default(8080).description('App host: queries, WebSockets, UI; takes ingest too.'),
  LOGWEIR_INGEST_PORT: port.default(8081).description('Ingest host.'),
  LOGWEIR_ADMIN_HOST: Joi.string().hostname().default('127.0.0.1').description('Address of the internal listener.'),
  LOGWEIR_ADMIN_PORT: port.default(8082).description('Internal listener: `/ready`, `/metrics` and the admin routes.'),
  LOGWEIR_ADMIN_LISTENER: Joi.string()
    .valid('app', 'instance')
    .default('app')
    .description('Which instances open the internal listener on its port: those with the role app, or each (one role in a container).'),
  LOGWEIR_ADMIN_TOKEN: Joi.string().min(MIN_SECRET).description('Token of the admin routes; made in the data directory when not given.'),
  LOGWEIR_AI_URL: Joi.string()
    .custom((text: string, helpers) => (isHttpUrl(text) && !text.includes('@') ? text : helpers.error('any.custom')))
    .messages({ 'any.custom': '{{#label}} must be a URL that begins with http:// or https://, without a user' })
    .description(
      'Base of an OpenAI-compatible API, to which `/chat/completions` is added (`https://host/v1`): docs/ai.md. Without it: no AI.',
    ),
  LOGWEIR_AI_KEY: Joi.string().description('Its key; sent as a bearer token.'),
  LOGWEIR_AI_MODEL: Joi.string().max(200).description('The name of the model there.'),
  LOGWEIR_DATA_DIR: Joi.string().default('./data').description('Where the embedded engines, keys and logs live.'),
  ...backupRows,
  LOGWEIR_LOG_LEVEL: Joi.string()
    .valid('trace', 'debug', 'info', 'warn', 'error', 'fatal')
    .default('info')
    .description("Level of the service's own logs."),
  LOGWEIR_KAFKA_BROKERS: Joi.string().description('`host:port,…` of a real Kafka; switches the embedded one off.'),
  LOGWEIR_KAFKA_TLS: Joi.boolean().truthy('1').falsy('0').default(false).description('Connections to the brokers are encrypted (TLS).'),
  LOGWEIR_KAFKA_CA_FILE: pem("authority that signed the brokers' certificates; the system's without it."),
  LOGWEIR_KAFKA_CERT_FILE: pem('certificate of this client, where brokers request one.'),
  LOGWEIR_KAFKA_KEY_FILE: pem('its private key.'),
  LOGWEIR_KAFKA_SASL_MECHANISM: Joi.string()
    .valid('plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer')
    .description('SASL mechanism of this client. `plain` sends the password itself, `oauthbearer` the token: with TLS only.'),
  LOGWEIR_KAFKA_SASL_USERNAME: Joi.string().description('User of the brokers.'),
  LOGWEIR_KAFKA_SASL_PASSWORD: Joi.string().description('Its password.'),
  LOGWEIR_KAFKA_SASL_TOKEN_FILE: Joi.string().description('File with the token of `oauthbearer`, read for each new connection.'),
  LOGWEIR_KAFKA_SASL_TOKEN_COMMAND: Joi.string().description(
    'Command of the shell that prints the token of `oauthbearer`; run again when four fifths of its time have passed (`exp` of a JWT; 60 s without).',
  ),
  LOGWEIR_KAFKA_DIR: Joi.string().description(
    "Folder of Kafka's log, where it is on this machine: its disk is watched. Set by the supervisor for the embedded one.",
  ),
  LOGWEIR_MIN_FREE_DISK_PERCENT: Joi.number()
    .min(0)
    .max(100)
    .default(10)
    .description("Share of the disk of Kafka's log that must be free, else ingest is 429 `wal_full`; 0 is off."),
  LOGWEIR_LOG_PARTITIONS: Joi.number()
    .integer()
    .min(1)
    .max(2048)
    .default(2)
    .description('Partitions of `logs.v1` when the topic is created.'),
  LOGWEIR_KAFKA_REPLICATION: Joi.number()
    .integer()
    .min(1)
    .max(9)
    .description('Replicas of topics when they are created (default: as many as there are brokers, up to 3). 3 for a cluster.'),
  LOGWEIR_KAFKA_MIN_IN_SYNC: Joi.number()
    .integer()
    .min(1)
    .max(9)
    .description('`min.insync.replicas` of topics when they are created (default: one less than replicas, from 1 to 2).'),
  LOGWEIR_CLICKHOUSE_URL: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .description('URL of a real ClickHouse; switches the embedded one off.'),
  LOGWEIR_CLICKHOUSE_CA_FILE: pem("authority that signed the server's certificate, for an https URL; the system's without it."),
  LOGWEIR_CLICKHOUSE_CERT_FILE: pem('certificate of this client, where the server requests one.'),
  LOGWEIR_CLICKHOUSE_KEY_FILE: pem('its private key.'),
  LOGWEIR_CLICKHOUSE_USER: Joi.string().default('default').description('User that owns the tables.'),
  LOGWEIR_CLICKHOUSE_PASSWORD: Joi.string().allow('').default('').description('Its password.'),
  LOGWEIR_CLICKHOUSE_DATABASE: Joi.string()
    .pattern(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .default('logweir')
    .description('Database; created when missing.'),
  LOGWEIR_CLICKHOUSE_READER_USER: Joi.string().description(
    'User of the queries (default: the owner). Give it a row policy: docs/operations.md.',
  ),
  LOGWEIR_CLICKHOUSE_READER_PASSWORD: Joi.string().allow('').description('Its password.'),
  LOGWEIR_CLICKHOUSE_SETS_FILE: Joi.string().description(
    'JSON file of further sets, whole copies of the data: docs/sets.md. None without it.',
  ),
  LOGWEIR_CLICKHOUSE_SETS_OUT: Joi.string().description(
    'Names of sets that are out, comma-separated: they are neither written nor read, and the log does not wait for them.',
  ),
  LOGWEIR_SINK_SETS: Joi.string().description('Names of the sets that sinks of this process write, comma-separated. All without it.'),
  LOGWEIR_KEY_PEPPER: Joi.string().min(MIN_SECRET).description('Secret under which keys are hashed; the same on every node.'),
  LOGWEIR_BOOTSTRAP_KEY: Joi.string()
    .pattern(/^[A-Za-z0-9_-]{16,}$/)
    // the usual message has the value in it
    .messages({ 'string.pattern.base': '{{#label}} must have 16 characters or more of A-Z, a-z, 0-9, "_" and "-"' })
    .description('Value of the first key of tenant 1.'),
  LOGWEIR_DOORS: Joi.string()
    .allow('')
    .default('')
    .description(
      'JSON file of further doors: syslog over TCP, TLS and UDP, OTLP over gRPC, topics of another Kafka (docs/doors.md). None without it.',
    ),
  LOGWEIR_MAX_BODY_SIZE_MB: Joi.number()
    .positive()
    .max(64)
    .default(2)
    .description('Cap of a body on the logs and traces paths, in MiB, both as received and decompressed.'),
  LOGWEIR_PLATFORM_ENTRIES_PER_SECOND: Joi.number()
    .integer()
    .min(0)
    .default(50_000)
    .description('Platform-wide limit over all tenants; 0 is off.'),
  LOGWEIR_QUERY_WORKERS: Joi.number()
    .integer()
    .min(2)
    .max(64)
    .default(3)
    .description('Processes that run queries, with at most 100 MB for each of them; a tenant is in half of them at most.'),
  LOGWEIR_QUERY_TIMEOUT_SECONDS: Joi.number().positive().max(600).default(30).description('A query that runs longer is ended with 504.'),
  LOGWEIR_MAX_FACET_FIELDS: Joi.number().integer().min(1).max(1000).default(50).description('Most fields in one answer of `/facets`.'),
  LOGWEIR_DEAD_LETTER_LIMIT: Joi.number()
    .integer()
    .min(0)
    .max(10_000)
    .default(100)
    .description('Most dead letters among the last 10,000 records of a partition; one more halts it. 10000: never.'),
  LOGWEIR_PROCESSORS: Joi.string()
    .allow('')
    .default('')
    .description('Files of further processors, comma-separated: docs/extending/processors.md.'),
  LOGWEIR_SIGNALS: Joi.string().allow('').default('').description('Files of further signals, comma-separated: docs/extending/signals.md.'),
  LOGWEIR_DETECTORS: Joi.string()
    .allow('')
    .default('')
    .description('Detectors of your own, comma-separated: files, folders, or names of npm packages: docs/extending/detectors.md.'),
  LOGWEIR_ALERTMANAGER_URL: Joi.string()
    .allow('')
    .default('')
    .custom((text: string, helpers) => (listOf(text).every(isHttpUrl) ? text : helpers.error('any.custom')))
    .messages({ 'any.custom': '{{#label}} must have URLs that begin with http:// or https://, comma-separated' })
    .description('Prometheus Alertmanagers, comma-separated; each gets all alerts: docs/notifications.md.'),
  LOGWEIR_WEBHOOK_ALLOWED_NETWORKS: Joi.string()
    .allow('')
    .default('')
    .custom((text: string, helpers) => (listOf(text).every((network) => networkOf(network) !== null) ? text : helpers.error('any.custom')))
    .messages({ 'any.custom': '{{#label}} must have networks such as 10.0.0.0/8, comma-separated' })
    .description('Private networks that webhooks may reach, such as `10.0.0.0/8`, comma-separated; none without it.'),
  LOGWEIR_CORS_ORIGINS: Joi.string().allow('').default('').description('Origins that browsers may call from, comma-separated.'),
  LOGWEIR_DRAIN_SECONDS: Joi.number()
    .min(0)
    .max(5)
    .default(3)
    .description('How long a stopping process answers `/ready` with 503 before it closes its ports; 0 where no load balancer polls it.'),
  LOGWEIR_DURABILITY: Joi.string()
    .valid('process', 'power-loss')
    .default('process')
    .description(
      'What acknowledged entries survive on embedded engines: the end of any process, or of the machine too (profile `durable-single`: docs/operations.md).',
    ),
  LOGWEIR_INSTALL: Joi.boolean()
    .truthy('1')
    .falsy('0')
    .default(true)
    .description(
      'Whether a start as root may install what the embedded Kafka lacks (Java, Maven) with `apt-get`; it logs which and why before. With `0` the start fails and names what is missing.',
    ),
  LOGWEIR_NODE: Joi.string()
    .valid('pinned', 'system')
    .default('pinned')
    .description(
      'Which Node runs the program: the one that the packages bring along, or the first one on the PATH, 24.9 or newer. Read by the launchers, before the configuration.',
    ),
  LOGWEIR_EMBEDDED: Joi.boolean().truthy('1').falsy('0').default(false).description('Set by the supervisor where an embedded engine runs.'),
}).append({ ...coldRows, ...secretFileRows() });

/** Names beginning with LOGWEIR_ that belong to the tests and to the CLI, not to the service. */
const FOREIGN = new Set(['LOGWEIR_SHARED', 'LOGWEIR_URL', 'LOGWEIR_INGEST_URL', 'LOGWEIR_TENANT', 'LOGWEIR_API_KEY']);

/**
 * Reads the environment. Throws one Error that names every fault, unknown LOGWEIR_ names among them.
 * Kafka's and ClickHouse's addresses must be there by now: the supervisor puts those of the embedded engines in.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const own = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name.startsWith('LOGWEIR_') && !FOREIGN.has(name) && value !== ''),
  );
  const { values, unread } = withSecretFiles(own);
  const result = environment.validate(values, { abortEarly: false, allowUnknown: false, convert: true });
  const faults = [...unread, ...(result.error?.details ?? []).map(({ message }) => message)];
  const files = new PemFiles(result.value as Environment, faults);
  faults.push(...contradictions(result.value as Environment));
  const config = toConfig(result.value as Environment, files, faults);
  if (faults.length > 0) throw new Error(`The configuration is wrong: ${faults.join('; ')}.`);
  return freezeDeep(config);
}

function toConfig(env: Environment, files: PemFiles, faults: string[]): Config {
  const text = (name: string): string => String(env[name] ?? '');
  const list = (name: string): string[] => listOf(text(name));
  const clickhouse = clickHouseOf(text, files);
  const [out, written] = [list('LOGWEIR_CLICKHOUSE_SETS_OUT'), list('LOGWEIR_SINK_SETS')];
  const sets = readSets(clickhouse, { file: text('LOGWEIR_CLICKHOUSE_SETS_FILE'), out, written }, faults);
  return {
    http: {
      ...{ host: text('LOGWEIR_HOST'), tls: listenerTls(text('LOGWEIR_TLS_CERT_FILE'), text('LOGWEIR_TLS_KEY_FILE')) },
      appPort: Number(env['LOGWEIR_APP_PORT']),
      ingestPort: Number(env['LOGWEIR_INGEST_PORT']),
      adminHost: text('LOGWEIR_ADMIN_HOST'),
      adminPort: Number(env['LOGWEIR_ADMIN_PORT']),
      isAdminEverywhere: env['LOGWEIR_ADMIN_LISTENER'] === 'instance',
      maxBodyBytes: Math.floor(Number(env['LOGWEIR_MAX_BODY_SIZE_MB']) * 1_048_576),
      corsOrigins: list('LOGWEIR_CORS_ORIGINS'),
      drainMs: 1000 * Number(env['LOGWEIR_DRAIN_SECONDS']),
    },
    kafka: kafkaOf(env, files),
    ...{ clickhouse, sets: sets.all, knownSets: sets.known },
    engines: { survivesPowerLoss: env['LOGWEIR_DURABILITY'] === 'power-loss', mayInstall: env['LOGWEIR_INSTALL'] === true },
    limits: {
      platformEntriesPerSecond: Number(env['LOGWEIR_PLATFORM_ENTRIES_PER_SECOND']),
      queryTimeoutSeconds: Number(env['LOGWEIR_QUERY_TIMEOUT_SECONDS']),
      queryWorkers: Number(env['LOGWEIR_QUERY_WORKERS']),
      maxFacetFields: Number(env['LOGWEIR_MAX_FACET_FIELDS']),
    },
    processors: { files: list('LOGWEIR_PROCESSORS') },
    signals: { files: list('LOGWEIR_SIGNALS') },
    detectors: { sources: list('LOGWEIR_DETECTORS') },
    sinks: { deadLetterLimit: Number(env['LOGWEIR_DEAD_LETTER_LIMIT']), sets: sets.written },
    alerts: {
      alertmanagers: list('LOGWEIR_ALERTMANAGER_URL'),
      webhookNetworks: list('LOGWEIR_WEBHOOK_ALLOWED_NETWORKS'),
    },
    ai:
      env['LOGWEIR_AI_URL'] !== undefined
        ? { url: text('LOGWEIR_AI_URL').replace(/\/+$/, ''), key: text('LOGWEIR_AI_KEY'), model: text('LOGWEIR_AI_MODEL') }
        : null,
    keys: { pepper: text('LOGWEIR_KEY_PEPPER'), bootstrapKey: text('LOGWEIR_BOOTSTRAP_KEY'), adminToken: text('LOGWEIR_ADMIN_TOKEN') },
    cold: coldOf(env, clickhouse.url === '', faults),
    backups: backupsOf(env, clickhouse.url === '', faults),
    ...{ doors: { file: text('LOGWEIR_DOORS') }, dataDir: text('LOGWEIR_DATA_DIR') },
    logLevel: text('LOGWEIR_LOG_LEVEL'),
    embedded: env['LOGWEIR_EMBEDDED'] === true,
  };
}

function clickHouseOf(text: (name: string) => string, files: PemFiles): ClickHouseAccess {
  const readerUser = text('LOGWEIR_CLICKHOUSE_READER_USER');
  return {
    url: text('LOGWEIR_CLICKHOUSE_URL'),
    ...(text('LOGWEIR_CLICKHOUSE_URL').startsWith('https:') ? { tls: files.of('CLICKHOUSE') } : {}),
    user: text('LOGWEIR_CLICKHOUSE_USER'),
    password: text('LOGWEIR_CLICKHOUSE_PASSWORD'),
    database: text('LOGWEIR_CLICKHOUSE_DATABASE'),
    readerUser: readerUser === '' ? text('LOGWEIR_CLICKHOUSE_USER') : readerUser,
    readerPassword: readerUser === '' ? text('LOGWEIR_CLICKHOUSE_PASSWORD') : text('LOGWEIR_CLICKHOUSE_READER_PASSWORD'),
  };
}

function kafkaOf(env: Environment, files: PemFiles): Config['kafka'] {
  const text = (name: string): string => String(env[name] ?? '');
  const sasl = saslOf(env);
  return {
    brokers: listOf(text('LOGWEIR_KAFKA_BROKERS')),
    ...(env['LOGWEIR_KAFKA_TLS'] === true ? { tls: files.of('KAFKA') } : {}),
    ...(sasl === null ? {} : { sasl }),
    logPartitions: Number(env['LOGWEIR_LOG_PARTITIONS']),
    replication: Number(env['LOGWEIR_KAFKA_REPLICATION'] ?? 0),
    minInSync: Number(env['LOGWEIR_KAFKA_MIN_IN_SYNC'] ?? 0),
    dir: text('LOGWEIR_KAFKA_DIR'),
    minFreeDiskPercent: Number(env['LOGWEIR_MIN_FREE_DISK_PERCENT']),
  };
}

function saslOf(env: Environment): Sasl | null {
  const text = (part: string): string => String(env[`LOGWEIR_KAFKA_SASL_${part}`] ?? '');
  const mechanism = text('MECHANISM') as Sasl['mechanism'] | '';
  if (mechanism === '') return null;
  if (mechanism !== 'oauthbearer') return { mechanism, username: text('USERNAME'), password: text('PASSWORD') };
  const tokenFile = text('TOKEN_FILE');
  return tokenFile === '' ? { mechanism, tokenCommand: text('TOKEN_COMMAND') } : { mechanism, tokenFile };
}

function freezeDeep<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freezeDeep(part as object);
  return Object.freeze(value);
}
