import { Registry } from 'prom-client';
import { pino } from 'pino';
import { DoorMetrics } from '../../api/doors/door-metrics.ts';
import { FrameBudget } from '../../api/doors/frame-budget.ts';
import { GrpcAdmission } from '../../api/doors/grpc-admission.ts';
import { LoopTurns } from '../../api/http/loop-turns.ts';
import { SignalIntake } from '../../api/ingest/signal-intake.ts';
import type { IngestLimit } from '../../api/limits/ingest-limit.ts';
import { RejectionLog } from '../../api/ingest/rejection-log.ts';
import { dayOf } from '../../pipeline/core/day-counts.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { Metrics } from '../../pipeline/core/metrics.ts';
import { otlpLogs } from '../../pipeline/normalizers/otlp-logs.ts';
import { jsonEntries } from '../../pipeline/normalizers/json-entries.ts';
import { syslog } from '../../pipeline/normalizers/syslog.ts';
import type { Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import type { RowWriter } from '../../pipeline/intake/rows.ts';
import { Tallies } from '../../api/limits/tallies.ts';
import { FakeKeyStore } from './key-store.ts';
import { FakeLogPublisher } from './log-publisher.ts';

/** Everything that doors need, with a publisher that keeps what it is given. Keys: `one` of tenant 1, `two` of tenant 2, `reader`. */
export function doorWorld(limits: readonly IngestLimit[] = []) {
  const registry = new Registry();
  const publisher = new FakeLogPublisher();
  const rejections = new RejectionLog();
  const tallies = new Tallies('test');
  const keys = new FakeKeyStore({ one: { tenantId: 1 }, two: { tenantId: 2 }, reader: { tenantId: 3, scopes: new Set(['read']) } });
  const owned = Object.assign(keys, { ownerOf: (secret: string) => keys.keys.get(secret)?.principal.tenantId ?? null });
  const formats = [syslog, otlpLogs, jsonEntries, { ...otlpLogs, name: 'otlp_traces' }, { ...otlpLogs, name: 'otlp_metrics' }];
  const normalizers = formats as unknown as readonly Normalizer<RowWriter>[];
  const intake = new SignalIntake({ normalizers, publisher, limits, maxBodyBytes: 2_097_152, metrics: new Metrics('test'), rejections });
  const metrics = new DoorMetrics(registry);
  const [frames, turns, admission] = [new FrameBudget(), new LoopTurns<string>(), new GrpcAdmission()];
  return {
    ...{ publisher, rejections, keys, owned, metrics, frames },
    context: {
      frames,
      turns,
      admission,
      keys: owned,
      intakes: new Map([['logs', intake]]),
      rejections,
      tallies,
      metrics,
      log: pino({ level: 'silent' }),
    },
    /** What is counted as refused of a tenant today. */
    refused: (tenantId: number) => tallies.of(tenantId, dayOf(Date.now())).refused,
    /** What was published, as tenant and message, in the order of its coming. */
    published: (): string[] =>
      publisher.written.flatMap(({ options, entries }) =>
        entries.map((entry) => `${String(options.tenantId)} ${textOf(entry.get('_msg'))}`),
      ),
    /** The sum of a figure over its labels, but those given. */
    figure: async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> => {
      const { values = [] } = (await registry.getMetricsAsJSON()).find((one) => one.name === name) ?? {};
      const isAsked = (own: Readonly<Record<string, unknown>>): boolean =>
        Object.entries(labels).every(([label, value]) => own[label] === value);
      return values.filter(({ labels: own }) => isAsked(own as Record<string, unknown>)).reduce((sum, { value }) => sum + value, 0);
    },
  };
}
export type DoorWorld = ReturnType<typeof doorWorld>;
