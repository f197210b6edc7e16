/** A number that the simulation is made of, and where it is from. */
export type Figure = {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  /** `measured` by us, a `setting` of the service or its plans, or an `estimate`. */
  readonly kind: 'measured' | 'setting' | 'estimate';
  /** Which bench, and which page has it; of an estimate, why. */
  readonly source: string;
};

const measured = (value: number, unit: string, what: string, source: string): Figure => ({ value, unit, what, kind: 'measured', source });
const estimate = (value: number, unit: string, what: string, source: string): Figure => ({ value, unit, what, kind: 'estimate', source });

const setting = (value: number, unit: string, what: string, source: string): Figure => ({ value, unit, what, kind: 'setting', source });

const PAIRS = '`bench:pairs`, performance.md#ingest';

/** Every constant of the simulation, each once; what the code itself has (hash, plans, growth of shards, pace of inserts) is imported. */
export const FIGURES = {
  entryBytes: measured(297, 'B', 'an entry in a request', 'the benchmark entries of all figures here'),
  logBytes: measured(96, 'B', 'an entry on Kafka, one replica', PAIRS),
  diskBytes: measured(77, 'B', 'an entry in ClickHouse, once merged', PAIRS),
  kafkaMicros: measured(1.3, 'µs', 'CPU of Kafka, an entry, one replica, bodies of 2,000', PAIRS),
  clickhouseMicros: measured(2.6, 'µs', 'CPU of ClickHouse, an entry, merges included', PAIRS),
  ingestMicros: measured(3.8, 'µs', 'CPU of ingest, an entry', PAIRS),
  sinkMicros: measured(1.2, 'µs', 'CPU of the sink, an entry', PAIRS),
  appMicros: measured(0.2, 'µs', 'CPU of app without queries, an entry', PAIRS),
  processorsMicros: measured(3.1, 'µs', 'CPU of all processors, an entry', 'performance.md#processors'),
  slowMicros: measured(204, 'µs', 'CPU of all, an entry, at 1,000 entries/s', '`bench:partitions`, performance.md#ingest'),
  slowRate: measured(1000, '/s', 'the rate of that', '`bench:partitions`'),
  mediumMicros: measured(25.7, 'µs', 'CPU of all, an entry, at 20,000 entries/s', '`bench:partitions`, performance.md#ingest'),
  mediumRate: measured(20_000, '/s', 'the rate of that', '`bench:partitions`'),
  partitionRate: measured(60_500, '/s', 'entries that a partition takes', '121,000 of two: performance.md#processors'),
  recoverySeconds: measured(6, 's', 'until a killed sink is replaced', '`bench:tenants`, performance.md#processors'),
  setShare: measured(
    0.425,
    '',
    'CPU of all that a further whole copy of the tables adds',
    'a trial of two whole copies, equal in every row: 35 to 50 %',
  ),
  peak: estimate(2, '', 'the busiest minute, in means of the day', 'days of services with users in one continent'),
  busy: estimate(0.6, '', 'how much of a core is used at the peak', 'what a neighbour or a lost node needs is free'),
  followers: estimate(0.5, '', "CPU of Kafka that each further replica adds, in leaders'", 'replicas were not measured'),
  replicas: setting(3, '', 'replicas of the log from two nodes on', 'LOGWEIR_KAFKA_REPLICATION, its default for three brokers'),
  logDays: setting(7, 'days', 'how long the log is kept', 'retention.ms of logs.v1, topics.md'),
  keptDays: setting(30, 'days', 'how long rows are kept', 'plans team and growth'),
  diskFull: estimate(0.7, '', 'how full a disk is planned', 'merges need room, and Kafka pauses ingest at 10 % free'),
  diskTerabytes: estimate(30, 'TB', 'disks of a node', 'NVMe of a server of today'),
  nodeCores: estimate(32, 'cores', 'cores of a node', 'a server of today'),
  mergeWrites: estimate(3, '', 'how often a row is written, its merges included', 'two levels of merging (ADR 13) and the insert'),
  lateShare: estimate(0.2, '', 'inserts that have entries of another day too', 'shippers that resend after an outage'),
  partsPerSecond: estimate(
    20,
    '/s',
    'new parts that a ClickHouse server merges for long',
    'what a part costs in merges was measured by the row, not by the part',
  ),
  streamRate: estimate(20, '/s', 'entries of a stream', 'a pod that logs each request'),
  earlyShardRate: estimate(
    5000,
    '/s',
    'entries of a shard beyond which an operator could give a tenant more',
    'a trial of this simulation',
  ),
  zipf: estimate(1, '', "exponent of Zipf's law by which tenants differ", 'the largest of 1,000 sends 13 % of all'),
  streamZipf: estimate(0.3, '', 'the same of streams of a tenant', 'replicas of a service are alike'),
} as const satisfies Record<string, Figure>;

/** The value of a figure. */
export const valueOf = (name: keyof typeof FIGURES): number => FIGURES[name].value;
