import { StartError } from './start-error.ts';

export type Machine = { readonly platform: string; readonly arch: string; readonly isGlibc: boolean };

/** Fails with one sentence on a machine that the embedded engines are not made for. */
export function checkPlatform({ platform, arch, isGlibc }: Machine = thisMachine()): void {
  if (platform === 'linux' && isGlibc && (arch === 'x64' || arch === 'arm64')) return;
  const name = platform === 'linux' && !isGlibc ? `linux-${arch} without glibc` : `${platform}-${arch}`;
  throw new StartError(
    `The embedded Kafka and ClickHouse run on Linux with glibc on x64 and arm64, not on ${name}; name servers in LOGWEIR_KAFKA_BROKERS and LOGWEIR_CLICKHOUSE_URL instead.`,
  );
}

const thisMachine = (): Machine => ({ platform: process.platform, arch: process.arch, isGlibc: hasGlibc() });

/** Whether this Node runs on glibc, which its own report names. */
function hasGlibc(): boolean {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  report.excludeNetwork = true; // else it may wait for name servers
  const { header } = report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime !== undefined;
}
