import { StartError } from './start-error.mjs';

/**
 * Fails with one sentence on a machine that the embedded engines are not made for.
 * @param {{ platform: string, arch: string, isGlibc: boolean }} [machine]
 */
export function checkPlatform(machine = thisMachine()) {
  const { platform, arch, isGlibc } = machine;
  if (platform === 'linux' && isGlibc && (arch === 'x64' || arch === 'arm64')) return;
  const name = platform === 'linux' && !isGlibc ? `linux-${arch} without glibc` : `${platform}-${arch}`;
  throw new StartError(
    `The embedded Kafka and ClickHouse run on Linux with glibc on x64 and arm64, not on ${name}; name servers in LOGWEIR_KAFKA_BROKERS and LOGWEIR_CLICKHOUSE_URL instead.`,
  );
}

function thisMachine() {
  return { platform: process.platform, arch: process.arch, isGlibc: isGlibc() };
}

/** Whether this Node runs on glibc, which its own report names. */
function isGlibc() {
  const report = /** @type {{ excludeNetwork?: boolean, getReport(): object }} */ (process.report);
  report.excludeNetwork = true; // else it may wait for name servers
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (report.getReport());
  return header.glibcVersionRuntime !== undefined;
}
