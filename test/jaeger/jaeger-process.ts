import { spawn } from 'node:child_process';
import { until } from '../e2e/instance.ts';
import { freePorts } from '../free-ports.ts';

/** A Jaeger that keeps traces in memory: where it takes OTLP, and where it answers. */
export type Jaeger = { readonly ingest: string; readonly query: string; stop(): Promise<void> };

/** Starts Jaeger's `all-in-one` on ports of loopback. Throws what it printed where it does not start. */
export async function startJaeger(binary: string): Promise<Jaeger> {
  const [otlp = 0, query = 0, ...others] = await freePorts(8);
  const names = ['admin.http', 'collector.grpc-server', 'collector.http-server', 'collector.otlp.grpc', 'query.grpc-server', 'http-server'];
  const args = [
    `--collector.otlp.http.host-port=127.0.0.1:${String(otlp)}`,
    `--query.http-server.host-port=127.0.0.1:${String(query)}`,
    ...names.map((name, index) => `--${name}.host-port=127.0.0.1:${String(others[index])}`).slice(0, -1),
    '--memory.max-traces=100000',
  ];
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output = (output + part.toString()).slice(-8192)));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const at = `http://127.0.0.1:${String(query)}`;
  const isUp = (): Promise<boolean> =>
    fetch(`${at}/api/services`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('Jaeger', isUp, (up) => up || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`Jaeger ended with ${String(child.exitCode)}: ${output}`);
  return {
    ingest: `http://127.0.0.1:${String(otlp)}`,
    query: at,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
