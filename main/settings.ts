import path from 'node:path';
import { StartError } from '../compose/embedded/start-error.ts';
import { environment, loadConfig, type Config } from '../pipeline/core/config.ts';
import type { StoragePlace } from '../pipeline/core/storage-place.ts';
import { isLoopback, loopbackUrl } from './loopback.ts';
import { readDoors, type Door } from '../api/doors/doors-file.ts';
import { DOORS, FORMER_ROLES, ROLES } from './role-process.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** An address that a role opens, and the variables that set it. */
export type Listener = { readonly host: string; readonly hostVariable: string; readonly port: number; readonly portVariable: string };

/** The few settings that the supervisor needs itself. */
export type Settings = {
  /** The addresses that the chosen roles open. */
  readonly listeners: readonly Listener[];
  readonly appUrl: string;
  readonly ingestUrl: string;
  /** Where codes to sign in are requested; null where the app host, or that, is not reached on the loopback. */
  readonly adminUrl: string | null;
  /** Absolute. */
  readonly dataDir: string;
  /** Where the embedded ClickHouse may put backups. */
  readonly backups: StoragePlace;
  /** Of the embedded ClickHouse, for old rows; null: none. */
  readonly coldVolume: Config['cold']['volume'];
  readonly isKafkaEmbedded: boolean;
  readonly isClickHouseEmbedded: boolean;
  /** Queries run as a user of their own. */
  readonly hasReader: boolean;
  /** The embedded engines write to the disk itself before they acknowledge. */
  readonly survivesPowerLoss: boolean;
  /** Java and Maven, which the embedded Kafka needs, may be installed from the system's packages. */
  readonly mayInstall: boolean;
  /** What the environment gives of them; empty: nothing. */
  readonly keys: Config['keys'];
  /** In the order in which they are stopped. */
  readonly roles: readonly string[];
  /** Whose internal listener has the port of the instance; null: none. */
  readonly adminRole: string | null;
  /** Sentences on the command line, for whoever starts it. */
  readonly warnings: readonly string[];
};

/** Reads the environment, by the rules of the service, and the command line: what stands behind the program's name. */
export function readSettings(env: Environment, argv: readonly string[]): Settings {
  const { http, kafka, clickhouse, engines, keys, doors, cold, backups } = readConfig(env);
  const { roles, warnings } = readRoles(argv, doors.file !== '');
  const all = {
    app: { host: http.host, hostVariable: 'LOGWEIR_HOST', port: http.appPort, portVariable: 'LOGWEIR_APP_PORT' },
    ingest: { host: http.host, hostVariable: 'LOGWEIR_HOST', port: http.ingestPort, portVariable: 'LOGWEIR_INGEST_PORT' },
    admin: { host: http.adminHost, hostVariable: 'LOGWEIR_ADMIN_HOST', port: http.adminPort, portVariable: 'LOGWEIR_ADMIN_PORT' },
  };
  const scheme = http.tls === null ? 'http' : 'https';
  const adminRole = roles.includes('app') ? 'app' : http.isAdminEverywhere ? (roles[0] ?? null) : null;
  const opened = ROLES.filter(({ name }) => roles.includes(name)).flatMap(({ listens }) =>
    listens.flatMap((name) => (name === 'doors' ? doorListeners(doors.file) : [all[name]])),
  );
  const settings = {
    listeners: adminRole === null || adminRole === 'app' ? opened : [...opened, all.admin],
    appUrl: url(all.app, scheme),
    ingestUrl: url(all.ingest, scheme),
    adminUrl: roles.includes('app') && [http.host, http.adminHost].every(isLoopback) ? loopbackUrl(http.adminHost, http.adminPort) : null,
    dataDir: readDataDir(env),
    backups: { ...backups.named, at: backups.named.at || path.join(readDataDir(env), 'backups') },
    coldVolume: cold.volume,
    isKafkaEmbedded: kafka.brokers.length === 0,
    isClickHouseEmbedded: clickhouse.url === '',
    hasReader: clickhouse.readerUser !== clickhouse.user,
    survivesPowerLoss: engines.survivesPowerLoss,
    mayInstall: engines.mayInstall,
    keys,
    roles,
    adminRole,
    warnings,
  };
  if (engines.survivesPowerLoss && !settings.isKafkaEmbedded && !settings.isClickHouseEmbedded) {
    throw new StartError('LOGWEIR_DURABILITY=power-loss is for embedded engines, and there is none; configure your own to write through.');
  }
  return settings;
}

/** The addresses of connections that the doors open; UDP's are opened without a look before, and a door of Kafka opens none. */
function doorListeners(file: string): Listener[] {
  return doorsOf(file).flatMap((door) => {
    if (door.kind === 'syslog_udp' || door.kind === 'kafka') return [];
    const of = `the door ${door.name} of LOGWEIR_DOORS`;
    return [{ host: door.host, hostVariable: `the host of ${of}`, port: door.port, portVariable: `the port of ${of}` }];
  });
}

function doorsOf(file: string): readonly Door[] {
  try {
    return readDoors(file);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function readConfig(env: Environment): Config {
  try {
    return loadConfig(env);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The data directory of the instance, as an absolute path; of a program that needs no other variable, so faults in those are not its own. */
export function readDataDir(env: Environment): string {
  const { value } = environment.extract('LOGWEIR_DATA_DIR').validate(env['LOGWEIR_DATA_DIR'] || undefined) as { readonly value: string };
  return path.resolve(value);
}

function readRoles(argv: readonly string[], hasDoors: boolean): Pick<Settings, 'roles' | 'warnings'> {
  const known: readonly string[] = ROLES.map(({ name }) => name);
  let chosen = known.filter((name) => name !== DOORS || hasDoors);
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] as string;
    if (argument !== '--role' && !argument.startsWith('--role=')) {
      throw new StartError(`The option ${argument} is unknown; there is only --role ${known.join(',')}.`);
    }
    const list = argument === '--role' ? (argv[++index] ?? '') : argument.slice('--role='.length);
    chosen = list.split(',').map((name) => name.trim());
  }
  const [unknown] = chosen.filter((name) => !known.includes(name) && !FORMER_ROLES.has(name));
  if (unknown !== undefined) throw new StartError(`There is no role "${unknown}"; roles are ${known.join(', ')}.`);
  if (chosen.includes(DOORS) && !hasDoors) throw new StartError(`The role ${DOORS} needs the file of LOGWEIR_DOORS, which is not set.`);
  const former = chosen.flatMap((name) => {
    const by = FORMER_ROLES.get(name);
    return by === undefined ? [] : [`There is no role ${name} any more: ${by}. Remove it from --role`];
  });
  return { roles: known.filter((name) => chosen.includes(name)), warnings: former };
}

function url({ host, port }: Listener, scheme: 'http' | 'https'): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
