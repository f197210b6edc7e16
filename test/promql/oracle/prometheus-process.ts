import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../../free-ports.ts';
import { startProgram } from '../../started-program.ts';

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
  const url = `http://127.0.0.1:${String(port)}`;
  const { pid, stop } = await startProgram('Prometheus', binary, args, `${url}/-/ready`);
  return {
    ...{ url, pid },
    stop: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
