/** A run of a whole trial: a scenario until it has done its work so many times, or for so many seconds where that does not come first. */
export type WholeRun = {
  readonly scenario: string;
  /** What its counters must come to in sum. */
  readonly times?: number;
  readonly seconds: number;
  /** It measures times, so nothing else runs beside it. */
  readonly quiet?: true;
};

/** What a release must have gone through: some 1,200 kills, 200 pauses, 2,500 dropped answers, 500 torn inserts, 60 late ones, and each outage once. */
export const WHOLE: readonly WholeRun[] = [
  { scenario: 'pause-api', times: 45, seconds: 1200 },
  { scenario: 'pause-sink', times: 45, seconds: 1200 },
  { scenario: 'pause-kafka', times: 45, seconds: 1500 },
  { scenario: 'pause-clickhouse', times: 45, seconds: 1200 },
  { scenario: 'kill-sink', times: 250, seconds: 2400 },
  { scenario: 'kill-host', times: 120, seconds: 1200 },
  { scenario: 'kill-api', times: 250, seconds: 2400 },
  { scenario: 'kill-sink-and-kafka', times: 60, seconds: 1200 },
  { scenario: 'kill-api-and-kafka', times: 60, seconds: 1200 },
  { scenario: 'kill-sink-and-clickhouse', times: 60, seconds: 900 },
  { scenario: 'kill-clickhouse', times: 60, seconds: 900 },
  { scenario: 'kill-kafka', times: 30, seconds: 900 },
  { scenario: 'kill-all', times: 60, seconds: 600 },
  { scenario: 'kill-sink-at-points', times: 120, seconds: 900 },
  { scenario: 'kill-host-at-points', times: 60, seconds: 900 },
  { scenario: 'kill-host-while-alerting', times: 100, seconds: 1500 },
  { scenario: 'live-tails', times: 120, seconds: 900 },
  { scenario: 'stall-sink-at-points', times: 20, seconds: 600 },
  { scenario: 'forgotten-tokens', times: 20, seconds: 400 },
  { scenario: 'dropped-produce-answers', times: 2000, seconds: 1500 },
  { scenario: 'dropped-insert-answers', times: 500, seconds: 1500 },
  { scenario: 'truncated-inserts', times: 500, seconds: 1500 },
  { scenario: 'held-inserts', times: 60, seconds: 1200 },
  { scenario: 'cut-requests', seconds: 180 },
  { scenario: 'black-hole-kafka', times: 5, seconds: 600 },
  { scenario: 'black-hole-clickhouse', times: 5, seconds: 600 },
  { scenario: 'dead-connections', times: 2, seconds: 300 },
  { scenario: 'late-kafka', times: 3, seconds: 400 },
  { scenario: 'late-clickhouse', times: 3, seconds: 400 },
  { scenario: 'high-latency', seconds: 120 },
  { scenario: 'low-bandwidth', seconds: 120 },
  { scenario: 'rebalance-storm', times: 60, seconds: 600 },
  { scenario: 'rolling-restart', times: 12, seconds: 300 },
  { scenario: 'kill-a-broker', times: 30, seconds: 1200 },
  { scenario: 'pause-a-broker', times: 9, seconds: 600 },
  { scenario: 'roll-brokers', times: 9, seconds: 600 },
  { scenario: 'kill-two-brokers', times: 10, seconds: 600 },
  { scenario: 'isolate-a-broker', times: 10, seconds: 900 },
  { scenario: 'isolate-a-minority', times: 10, seconds: 900 },
  { scenario: 'unplug-a-minority', times: 6, seconds: 600 },
  { scenario: 'one-way-loss', times: 12, seconds: 900 },
  { scenario: 'cluster-kill-a-broker', times: 6, seconds: 300 },
  { scenario: 'cluster-kill-a-clickhouse', times: 12, seconds: 300 },
  { scenario: 'cluster-lose-a-set', times: 1, seconds: 300 },
  { scenario: 'cluster-set-behind', times: 1, seconds: 200 },
  { scenario: 'cluster-isolate-a-minority', times: 4, seconds: 300 },
  { scenario: 'cluster-one-way-loss', times: 4, seconds: 300 },
  { scenario: 'cluster-clocks-off', times: 20, seconds: 300 },
  { scenario: 'kafka-outage', seconds: 90, quiet: true },
  { scenario: 'kafka-disk-full', seconds: 60, quiet: true },
  { scenario: 'clickhouse-disk-full', seconds: 60, quiet: true },
  { scenario: 'retention-race', seconds: 120, quiet: true },
  { scenario: 'overload', seconds: 500, quiet: true },
  { scenario: 'noisy-neighbour', seconds: 90, quiet: true },
  { scenario: 'clickhouse-outage', seconds: 860, quiet: true },
];
