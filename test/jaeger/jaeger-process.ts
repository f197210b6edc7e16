import { freePorts } from '../free-ports.ts';
import { startProgram } from '../started-program.ts';

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
  const at = `http://127.0.0.1:${String(query)}`;
  const { stop } = await startProgram('Jaeger', binary, args, `${at}/api/services`);
  return { ingest: `http://127.0.0.1:${String(otlp)}`, query: at, stop };
}
