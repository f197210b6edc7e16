import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePorts } from '../free-ports.ts';
import { installToolset, NotHere } from '../shippers/toolsets.ts';
import { until } from './instance.ts';

/** An alert as `GET /api/v2/alerts` shows it. */
export type ManagedAlert = {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly status: { readonly state: string };
};

/** Debian's Alertmanager, as a process of the test. */
export type RunningAlertmanager = { readonly url: string; alerts(): Promise<readonly ManagedAlert[]>; stop(): Promise<void> };

const CONFIG = `route:
  receiver: nobody
receivers:
  - name: nobody
`;

/** Debian's package looks for its templates there and nowhere else. */
const TEMPLATES = '/usr/share/prometheus/alertmanager';

/** Starts one; null, and says so, where this machine cannot have it. */
export async function startAlertmanager(): Promise<RunningAlertmanager | null> {
  let toolset: string;
  try {
    ({ folder: toolset } = await installToolset('alertmanager', console.log));
  } catch (error) {
    if (!(error instanceof NotHere)) throw error;
    console.error(`SKIPPED: no Alertmanager is told, since ${error.message}`);
    return null;
  }
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-test-alertmanager-'));
  writeFileSync(path.join(folder, 'alertmanager.yml'), CONFIG);
  const root = path.join(toolset, 'alertmanager', 'root');
  if (!existsSync(TEMPLATES)) cpSync(path.join(root, TEMPLATES), TEMPLATES, { recursive: true });
  const [port] = await freePorts(1);
  const address = `127.0.0.1:${String(port)}`;
  const program = path.join(root, 'usr', 'bin', 'prometheus-alertmanager');
  const flags = [
    '--log.level=error',
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
    '--config.file=alertmanager.yml',
    '--storage.path=data',
  ];
  const child = spawn(program, flags, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://${address}`;
  const isReady = (): Promise<boolean> => fetch(`${url}/-/ready`).then(({ ok }) => ok, () => false); // prettier-ignore
  if (!(await until('the Alertmanager', isReady, (ready) => ready || child.exitCode !== null)))
    throw new Error(`The Alertmanager ended with ${String(child.exitCode)}.`);
  return {
    url,
    alerts: async () => (await (await fetch(`${url}/api/v2/alerts`)).json()) as ManagedAlert[],
    stop: async () => {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
