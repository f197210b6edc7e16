import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { TenantUses } from './tenant-use.ts';

/** Tenants that have series of their own: those with the most bytes. */
const TENANT_SERIES = 50;

/** How often it is measured how late timers come: each time wakes an idle process up. */
const LAG_PRECISION_MS = 50;

/** A processor in a partition. `savedAt`: by `performance.now()`. */
export type WatchedProcessor = {
  readonly processor: string;
  readonly partition: number;
  readonly lag: number;
  readonly next: number;
  readonly saved: number;
  readonly savedAt: number;
  readonly stateBytes: number;
  readonly halted: string | null;
};

/** The process's own figures: entries, requests, errors, lag, and Node's. Every series carries the label `role`. */
export class Metrics {
  readonly registry = new Registry();
  readonly entries = this.#counter('logweir_entries_total', 'Entries (of other signals: rows) accepted and acknowledged.', [
    'format',
    'signal',
  ]);
  readonly bytes = this.#counter('logweir_ingest_bytes_total', 'Decompressed bytes of the bodies of accepted ingest requests.', [
    'format',
    'signal',
  ]);
  /** What is accepted of each tenant; the largest ones have series. */
  readonly tenants = new TenantUses<'entries' | 'bytes'>('bytes');
  /** Queries of tenants, and the seconds until they were answered. */
  readonly queries = new TenantUses<'queries' | 'seconds'>('seconds');
  readonly rejected = this.#counter('logweir_rejected_entries_total', 'Entries rejected one by one, by format and class of reason.', [
    'format',
    'signal',
    'reason',
  ]);
  readonly limited = this.#counter(
    'logweir_limited_stream_entries_total',
    'Entries that went to the stream {} since their tenant has as many streams of their day as it may have, by format.',
    ['format', 'signal'],
  );
  readonly batches = this.#counter('logweir_batches_total', 'Batches handed on, by stage (produce, insert).', ['stage']);
  readonly errors = this.#counter('logweir_errors_total', 'Requests answered with an error, by slug and status.', ['slug', 'status']);
  readonly deadLetters = this.#counter('logweir_dead_letters_total', 'Records that could not be stored, and are kept as dead letters.', [
    'topic',
    'reason',
  ]);
  readonly expired = this.#counter('logweir_expired_records_total', 'Records that Kafka deleted before they were stored.', ['topic']);
  readonly explainedAlerts = this.#counter('logweir_explained_alerts_total', 'Alerts that were enriched with their causes, by outcome.', [
    'outcome',
  ]);
  readonly notifications = this.#counter('logweir_notifications_total', 'Notifications of alerts, by receiver and outcome.', [
    'to',
    'outcome',
  ]);
  readonly openWebhooks = this.#gauge('logweir_webhook_requests_open', 'Requests to webhooks, tests included, that are not settled.', []);
  readonly settledWebhooks = this.#counter(
    'logweir_webhook_requests_settled_total',
    'Requests to webhooks, tests included, that are settled.',
    [],
  );
  readonly detectorFailures = this.#counter(
    'logweir_detector_failures_total',
    'Failures of detectors of others, each of which switched one off.',
    ['detector'],
  );
  readonly detectorPoints = this.#counter('logweir_detector_minutes_total', 'Minutes of streams that detectors of others have looked at.', [
    'detector',
  ]);
  readonly detectorSeconds = this.#counter(
    'logweir_detector_cpu_seconds_total',
    'Seconds of CPU of the processes of detectors of others.',
    ['detector'],
  );
  readonly givenUpCoordinators = this.#counter(
    'logweir_given_up_coordinators_total',
    'Lookups of the coordinator of a consumer group after it stopped answering.',
    ['group'],
  );
  readonly storedRows = this.#counter('logweir_stored_rows_total', 'Rows written to ClickHouse.', ['table', 'set']);
  readonly storedBytes = this.#counter('logweir_stored_bytes_total', 'Bytes of the bodies of inserts.', ['table', 'set']);
  readonly insertSeconds = new Histogram({
    name: 'logweir_insert_seconds',
    help: 'Time of one insert into ClickHouse.',
    labelNames: ['table', 'set'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  });
  readonly failingInserts = this.#gauge('logweir_failing_inserts', 'Tables that ClickHouse takes no inserts into: 1.', ['table', 'set']);
  readonly pausedIngest = this.#gauge(
    'logweir_ingest_paused',
    'Whether ingest is paused, or about to be since the log cannot be watched: 1.',
    [],
  );
  readonly missingRowPolicies = this.#gauge(
    'logweir_missing_row_policies',
    'Tables whose row policy is missing: the second wall between tenants.',
    [],
  );
  /** Where there are several sets. */
  readonly setReady = this.#gauge('logweir_set_ready', 'Whether this process may read the set: 1.', ['set']);
  readonly setBehind = this.#gauge('logweir_set_behind_seconds', 'How long ago what the set has not stored yet was on the log.', ['set']);
  readonly setQueries = this.#counter('logweir_set_queries_total', 'Queries that began on the set.', ['set']);
  readonly lag = this.#gauge('logweir_consumer_lag', 'Records of a partition that are not stored yet.', ['topic', 'partition', 'set']);
  readonly storageWaits = this.#counter(
    'logweir_storage_wait_seconds_total',
    'Seconds that requests to ingest waited since what was acknowledged before was not stored as fast as it came.',
    [],
  );
  readonly parseWaits = this.#counter(
    'logweir_parse_wait_seconds_total',
    'Seconds that bodies waited until entries were made of those of tenants that had used less time for it.',
    [],
  );
  readonly foldSeconds = this.#counter('logweir_processor_fold_seconds_total', 'Seconds that a processor was at work.', ['processor']);
  readonly foldedEntries = this.#counter('logweir_processor_entries_total', 'Entries that a processor has taken.', ['processor']);
  readonly lostWorkers = this.#counter(
    'logweir_query_workers_lost_total',
    'Query workers that ended with a query: it took too long (time), or too much memory (memory), or they ended by themselves (crash).',
    ['why'],
  );
  readonly lostLiveWorkers = this.#counter(
    'logweir_live_workers_lost_total',
    'Live workers that ended: killed since a filter blocked them (time), or by themselves (crash).',
    ['why'],
  );
  readonly liveEntries = this.#counter(
    'logweir_live_entries_total',
    'Entries for live tails: sent, or not since the client is slow (slow), too many match (rate), filters take too long (busy), or the log lost them (log).',
    ['outcome'],
  );
  readonly cutAnswers = this.#counter(
    'logweir_cut_answers_total',
    'Answers that were cut off since their client did not take them: nothing moved (silent), or too much was waiting (budget).',
    ['reason'],
  );
  readonly clientsClosed = this.#counter(
    'logweir_clients_gone_total',
    'Requests whose client has closed the connection before its answer was whole, by route.',
    ['route'],
  );
  readonly failedStreams = this.#counter(
    'logweir_failed_streams_total',
    'Answers that failed after their beginning was sent, and were cut off, by route and slug of the error.',
    ['route', 'slug'],
  );
  readonly requests = new Histogram({
    name: 'logweir_http_request_seconds',
    help: 'Time to answer a request, by route.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  });

  constructor(role: string) {
    this.registry.setDefaultLabels({ role });
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
    this.#tenantCounter('entries', 'Entries accepted of the tenants with the most bytes.', this.tenants);
    this.#tenantCounter('bytes', 'Bytes of accepted bodies of the tenants with the most bytes.', this.tenants);
    this.#tenantCounter('queries', 'Queries of the tenants with the most seconds of them.', this.queries);
    this.#tenantCounter('query_seconds', 'Seconds that queries took, of the tenants with the most.', this.queries, 'seconds');
  }

  /** A tenant that falls behind the others has no series until it is among the first again; then it has all that was counted. */
  #tenantCounter<Name extends string>(unit: string, help: string, uses: TenantUses<Name>, name = unit as Name): void {
    const counter = new Counter({
      ...{ name: `logweir_tenant_${unit}_total`, help, labelNames: ['tenant'], registers: [this.registry] },
      collect: () => {
        counter.reset();
        for (const use of uses.top(TENANT_SERIES)) counter.inc({ tenant: String(use.tenantId) }, use[name]);
      },
    });
  }

  /** Registers gauges of the processors; `look` is called at each scrape. */
  watchProcessors(look: () => readonly WatchedProcessor[]): void {
    const most = (of: readonly WatchedProcessor[], value: (one: WatchedProcessor) => number): number => Math.max(...of.map(value));
    const watch = (name: string, help: string, value: (of: readonly WatchedProcessor[]) => number): void => {
      new Gauge({
        ...{ name, help, labelNames: ['processor'], registers: [this.registry] },
        collect() {
          this.reset();
          const all = look();
          for (const processor of new Set(all.map((one) => one.processor)))
            this.set({ processor }, value(all.filter((one) => one.processor === processor)));
        },
      });
    };
    watch('logweir_processor_lag', 'Records that a processor has not taken yet, of all its partitions in this process.', (of) =>
      of.reduce((sum, { lag }) => sum + lag, 0),
    );
    watch('logweir_processor_state_bytes', 'Bytes of the last snapshots of a processor, of all its partitions in this process.', (of) =>
      of.reduce((sum, { stateBytes }) => sum + stateBytes, 0),
    );
    watch(
      'logweir_processor_snapshot_age_seconds',
      'Seconds since the oldest of the last snapshots of a processor that lack records.',
      (of) => most(of, ({ next, saved, savedAt }) => (next === saved ? 0 : (performance.now() - savedAt) / 1000)),
    );
    watch(
      'logweir_processor_halted',
      'Partitions in which a processor is halted since it threw.',
      (of) => of.filter(({ halted }) => halted !== null).length,
    );
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge<Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}
