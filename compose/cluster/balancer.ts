import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawnEngine, untilExited, untilReady, type RunningEngine } from '../embedded/engine-process.ts';
import { findProgram } from '../embedded/run.ts';
import { StartError } from '../embedded/start-error.ts';

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5000;

/** A node behind the balancer. */
export type BalancedNode = {
  readonly name: string;
  readonly port: number;
  /** Its internal listener, whose `/ready` says whether it takes requests. */
  readonly adminPort: number;
};

/** A port of the balancer, and the nodes that it passes requests to. */
export type Frontend = { readonly name: string; readonly port: number; readonly nodes: readonly BalancedNode[] };

/** The path of HAProxy. Throws a StartError that says how to install it. */
export function findBalancer(): string {
  const found = findProgram('haproxy');
  if (found === null)
    throw new StartError(
      'The cluster needs HAProxy on the PATH, which is not installed: `apt-get install haproxy`, or a package of your system.',
    );
  return found;
}

/**
 * HAProxy's configuration. A node whose `/ready` is not 200 gets no new request; where none is ready, any that takes connections does, since its own
 * answer says more. A request is given to another node only where a connection was refused: no node has seen it.
 */
export function balancerConfig(frontends: readonly Frontend[]): string {
  return `global
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  timeout tunnel 1h
  timeout check 5s
  option http-server-close
  option forwardfor
  option redispatch 1
  retries 3
  retry-on conn-failure
  http-error status 503 content-type application/json string '{"detail":"No node takes requests."}' hdr Retry-After 1
${frontends.map(section).join('')}`;
}

function section({ name, port, nodes }: Frontend): string {
  const ready = nodes.map(
    (node) => `  server ${node.name} 127.0.0.1:${String(node.port)} check port ${String(node.adminPort)} inter 500 fall 2 rise 1`,
  );
  const any = nodes.map((node) => `  server ${node.name}-any 127.0.0.1:${String(node.port)} backup`);
  return `listen ${name}
  bind 127.0.0.1:${String(port)}
  option httpchk GET /ready
  option allbackups
${[...ready, ...any].join('\n')}
`;
}

/** Starts HAProxy in DATA_DIR/balancer; resolves when it takes connections. It dies with the process that started it. */
export async function startBalancer(options: {
  readonly dataDir: string;
  readonly program: string;
  readonly frontends: readonly Frontend[];
  readonly onSpawn: (pid: number) => void;
  readonly signal: AbortSignal;
}): Promise<RunningEngine> {
  const folder = path.join(options.dataDir, 'balancer');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const config = path.join(folder, 'haproxy.cfg');
  writeFileSync(config, balancerConfig(options.frontends));
  const logFile = path.join(folder, 'haproxy.log');
  const setpriv = findProgram('setpriv');
  const command = [...(setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL']), options.program, '-db', '-f', config];
  const engine = spawnEngine({ command: command[0] as string, args: command.slice(1), cwd: folder, logFile });
  options.onSpawn(engine.pid);
  const urls = options.frontends.map(({ port }) => `http://127.0.0.1:${String(port)}/health`);
  const check = async (): Promise<boolean> => {
    const answers = await Promise.allSettled(urls.map((url) => fetch(url).then((response) => response.arrayBuffer())));
    return answers.every(({ status }) => status === 'fulfilled');
  };
  await untilReady('HAProxy', engine, check, { logFile, timeoutMs: READY_TIMEOUT_MS, signal: options.signal });
  const stop = async (): Promise<void> => {
    engine.terminate();
    await untilExited(engine, STOP_TIMEOUT_MS);
  };
  return { pid: engine.pid, exited: engine.exited, stop, kill: engine.kill };
}
