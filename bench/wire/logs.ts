import { Random } from '../../test/fuzz/random.ts';

/** A log as the benchmark's applications have it, before any format; about 300 bytes as a JSON object. */
export type BenchLog = {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  readonly message: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly service: string;
  readonly host: string;
  readonly env: string;
  readonly status: number;
  readonly durationMs: number;
  readonly userId: string;
  readonly traceId: string;
  readonly ip: string;
};

const SERVICES = ['web', 'gateway', 'worker', 'billing', 'search'];
const VERBS = ['started', 'queued', 'finished', 'failed', 'retried', 'expired'];
const SUBJECTS = ['payment', 'session', 'upload', 'request', 'index merge', 'cache refill'];
const LEVELS = ['info', 'info', 'info', 'info', 'debug', 'warn', 'error'] as const;

/** Logs of a few services on a few hosts, the same for the same seed. */
export function benchLogs(count: number, endMs: number, seed = 1): BenchLog[] {
  const random = new Random(seed);
  const hex = (digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join('');
  return Array.from({ length: count }, (_, index) => {
    const service = random.pick(SERVICES);
    const userId = `u${String(10_000 + random.below(90_000))}`;
    return {
      ms: endMs - (count - index) * 86,
      message: `${random.pick(SUBJECTS)} ${random.pick(VERBS)} for user ${userId} after ${String(random.below(100_000))} ms, id ${hex(8)}-${hex(4)}-${hex(12)}`,
      level: random.pick(LEVELS),
      service,
      host: `${service}-0${String(random.below(4))}`,
      env: 'production',
      status: random.pick([200, 200, 200, 404, 500]),
      durationMs: random.below(3000),
      userId,
      traceId: hex(32),
      ip: `10.${String(random.below(256))}.${String(random.below(256))}.${String(random.below(256))}`,
    };
  });
}
