import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../../e2e/instance.ts';
import { freePorts } from '../../free-ports.ts';

/** A server of Prometheus that takes remote write. */
export type Prometheus = { readonly url: string; readonly pid: number; stop(): Promise<void> };

/** Starts Prometheus 3 on a port of loopback, with a folder of its own that goes when it ends. Throws what it printed where it does not start. */
export async function startPrometheus(binary: string): Promise<Prometheus> {
  const folder = mkdtempSync(path.join(tmpdir(), 'logweir-prometheus-'));
  const config = path.join(folder, 'prometheus.yml');
  writeFileSync(config, 'storage:\n  tsdb:\n    out_of_order_time_window: 30d\n');
  const [port = 0] = await freePorts(1);
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    '--storage.tsdb.retention.time=1000d',
    `--web.listen-address=127.0.0.1:${String(port)}`,
    '--web.enable-remote-write-receiver',
    '--query.timeout=5m',
    '--enable-feature=promql-experimental-functions',
  ];
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output = (output + part.toString()).slice(-8192)));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const url = `http://127.0.0.1:${String(port)}`;
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('Prometheus', isUp, (up) => up || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`Prometheus ended with ${String(child.exitCode)}: ${output}`);
  return {
    ...{ url, pid: child.pid ?? 0 },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
