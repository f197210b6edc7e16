/** A process of the service: `role.js --role ingest[,app,…] [--name N] [--admin-port] [--standby]`. Notifies its supervisor when it is ready, and ends with it. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pino, type Logger } from 'pino';
import { Checks } from '../api/admin/checks.ts';
import { createInternalListener, type InternalOptions } from '../api/admin/internal.ts';
import { Peers, type Peer } from '../api/admin/peers.ts';
import type { ProcessorLook } from '../api/admin/processors.ts';
import type { ControlStore } from '../api/control/control-store.ts';
import { HttpServer } from '../api/http/http-server.ts';
import { RejectionFile } from '../api/ingest/rejection-file.ts';
import { RejectionLog } from '../api/ingest/rejection-log.ts';
import { loadConfig, type Config } from '../pipeline/core/config.ts';
import { Metrics } from '../pipeline/core/metrics.ts';
import { startAll, stopAll, type Service } from '../pipeline/core/service.ts';
import { drainService } from './drain-service.ts';
import { yieldToStorage } from './priority.ts';
import { roles } from './roles/index.ts';
import type { RoleContext } from './roles/role.ts';
import { untilBegun } from './standby.ts';

/** What an operator can redact from the service's own log. */
const REDACTED = ['authorization', 'x-api-key', 'api_key', 'cookie', 'password', '*.authorization', '*.password'];
/** How often the supervisor is sent a heartbeat (main/heartbeat.ts). Milliseconds. */
const BEAT_MS = 1000;
/** A stop that takes longer is ended hard. */
const STOP_DEADLINE_MS = 23_000;

/** What the process does, and its name in logs and metrics. */
function rolesOf(argv: string[]): { readonly names: readonly string[]; readonly name: string; readonly hasAdminPort: boolean } {
  const options = {
    role: { type: 'string' },
    name: { type: 'string' },
    'admin-port': { type: 'boolean' },
    standby: { type: 'boolean' },
  } as const;
  const { values } = parseArgs({ args: argv, options });
  const names = (values.role ?? '').split(',').filter((name) => name !== '');
  const unknown = names.filter((name) => roles.find(name) === undefined);
  if (names.length === 0 || unknown.length > 0)
    throw new Error(`--role takes ${roles.names.join(', ')}, or several with commas; got ${JSON.stringify(values.role ?? '')}.`);
  return { names, name: values.name ?? names.join(','), hasAdminPort: values['admin-port'] === true };
}

/** What the services of the roles have for the internal listener. */
type Admin = { routes?: Pick<InternalOptions, 'adminRoutes' | 'audit'>; control?: ControlStore; processors?: ProcessorLook };

function endWith(error: Error, log: Logger): void {
  log.fatal({ err: error }, 'The process exits to be restarted.');
  log.flush(() => process.exit(1));
}

/** Keeps what a process refused in the data directory. */
const fileOf = (rejections: RejectionLog, of: { readonly role: string; readonly config: Config; readonly log: Logger }): Service =>
  new RejectionFile({
    file: path.join(of.config.dataDir, 'rejections', `${of.role}.json`),
    rejections,
    log: of.log.child({ component: 'rejections' }),
  });

/** Roles to which shippers send. */
const SHIPPED_TO: ReadonlySet<string> = new Set(['ingest', 'app', 'doors']);

/** The services of the roles, and the internal listener that is started first and stopped last. */
async function compose(
  { names, name: role, hasAdminPort }: ReturnType<typeof rolesOf>,
  config: Config,
  log: Logger,
  hurry: AbortSignal,
): Promise<{ readonly services: Service[]; readonly port: () => number; readonly peers: Peers }> {
  const metrics = new Metrics(role);
  const checks = new Checks();
  const peers = new Peers(config.http.adminHost, config.keys.adminToken);
  const rejections = new RejectionLog();
  let started = false;
  checks.register('started', () => started);
  const admin: Admin = {};
  const roleContext: RoleContext = {
    ...{ roles: names, config, log, metrics, peers, rejections },
    registerCheck: checks.register.bind(checks),
    registerWarning: checks.registerWarning.bind(checks),
    serveAdmin: (routes, audit) => {
      admin.routes = { adminRoutes: routes, audit };
    },
    useControl: (control) => {
      admin.control = control;
    },
    showProcessors: (look) => {
      admin.processors = look;
    },
    fail: (error) => endWith(error, log),
  };
  const services: Service[] = names.some((name) => SHIPPED_TO.has(name)) ? [fileOf(rejections, { role, config, log })] : [];
  for (const name of names) {
    const role = await roles.find(name)?.load();
    services.push(...((await role?.services(roleContext)) ?? []));
  }
  if (admin.processors !== undefined) metrics.watchProcessors(admin.processors);
  const listener = createInternalListener({
    host: config.http.adminHost,
    // operators send requests to the process with the admin routes; it queries the others, on any free port
    port: admin.routes === undefined && !hasAdminPort ? 0 : config.http.adminPort,
    token: config.keys.adminToken,
    role,
    metrics,
    checks,
    log,
    rejections,
    processors: () => admin.processors?.() ?? [],
    ...(admin.control === undefined ? {} : { control: admin.control }),
    ...admin.routes,
    ...(admin.routes === undefined && !hasAdminPort ? {} : { peers }),
  });
  const last = drainService({
    hosts: services.filter((service) => service instanceof HttpServer),
    drainMs: config.http.drainMs,
    hurry,
    mark: (open) => {
      started = open;
    },
  });
  return { services: [listener, ...services, last], port: () => listener.port, peers };
}

async function main(): Promise<void> {
  const own = rolesOf(process.argv.slice(2));
  yieldToStorage(own.names);
  await Promise.all(own.names.map(async (name) => roles.find(name)?.load()));
  await untilBegun();
  const config = loadConfig(process.env);
  const log = pino({ level: config.logLevel, redact: REDACTED, base: { role: own.name } });
  const hurry = new AbortController();
  const { services, port, peers } = await compose(own, config, log, hurry.signal);
  const beat = setInterval(() => process.send?.({ type: 'alive' }, undefined, undefined, () => undefined), BEAT_MS);
  process.once('disconnect', () => {
    clearInterval(beat);
  });
  process.on('message', (message: { readonly type?: unknown; readonly peers?: readonly Peer[]; readonly names?: readonly string[] }) => {
    if (message.type === 'peers') peers.set(message.peers ?? [], message.names ?? []);
  });
  if (process.send === undefined) peers.set([]); // without a supervisor there is no one else
  let stopping: Promise<void> | null = null;
  const stop = (why: string): void => {
    stopping ??= (async () => {
      log.info({ why }, 'Stopping.');
      setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
      await stopAll(services).catch((error: unknown) => {
        log.error({ err: error }, 'The shutdown was not clean.');
      });
      process.exit(0);
    })();
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('disconnect', () => {
    hurry.abort();
    stop('the supervisor has ended');
  });
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'Unhandled promise rejection: a bug.');
    process.exit(1);
  });
  await startAll(services);
  log.info({ port: port() }, 'Ready.');
  process.send?.({ type: 'ready', port: port() });
}

main().catch((error: unknown) => {
  const causes: string[] = [];
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) causes.push(cause.message);
  process.stdout.write(`${JSON.stringify({ level: 60, msg: `The process did not start: ${causes.join(' ')}` })}\n`, () => process.exit(1));
});
