import path from 'node:path';
import { packageRoot } from '../../pipeline/core/package-root.ts';
import { spawnEngine, untilExited, untilReady, type RunningEngine } from '../embedded/engine-process.ts';

const READY_TIMEOUT_MS = 240_000;
/** A node stops within 25 s by itself. */
const STOP_TIMEOUT_MS = 30_000;

/** A node of the cluster: one instance that does one role. */
export type ClusterNode = {
  /** `app-1`, … */
  readonly name: string;
  readonly role: string;
  readonly dataDir: string;
  readonly appPort: number;
  readonly ingestPort: number;
  readonly adminPort: number;
};

/** What a node gets of its own, in addition to what all have. */
const nodeVariables = (node: ClusterNode): Readonly<Record<string, string>> => ({
  LOGWEIR_DATA_DIR: node.dataDir,
  LOGWEIR_APP_PORT: String(node.appPort),
  LOGWEIR_INGEST_PORT: String(node.ingestPort),
  LOGWEIR_ADMIN_PORT: String(node.adminPort),
  LOGWEIR_ADMIN_LISTENER: 'instance',
});

/**
 * Starts a node as a machine of its own would, by main/start.mjs with its role; resolves when its `/ready` is 200. It stops in order when the process
 * that started it has exited.
 */
export async function startNode(
  node: ClusterNode,
  { env, onSpawn, signal }: { readonly env: NodeJS.ProcessEnv; readonly onSpawn: (pid: number) => void; readonly signal: AbortSignal },
): Promise<RunningEngine> {
  const root = packageRoot();
  const logFile = path.join(node.dataDir, 'node.log');
  const launched = path.join(root, 'main', 'launched.mjs');
  const engine = spawnEngine({
    command: process.execPath,
    args: ['--import', launched, path.join(root, 'main', 'start.mjs'), '--role', node.role],
    cwd: root,
    logFile,
    env: { ...env, ...nodeVariables(node) },
  });
  onSpawn(engine.pid);
  const ready = `http://127.0.0.1:${String(node.adminPort)}/ready`;
  const check = (): Promise<boolean> =>
    fetch(ready).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
  await untilReady(node.name, engine, check, { logFile, timeoutMs: READY_TIMEOUT_MS, signal });
  const stop = async (): Promise<void> => {
    engine.terminate();
    await untilExited(engine, STOP_TIMEOUT_MS);
  };
  return { pid: engine.pid, exited: engine.exited, stop, kill: engine.kill };
}
