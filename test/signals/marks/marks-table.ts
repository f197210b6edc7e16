import { tenantRowsSink } from '../../../sinks/rows-sink.ts';
import { markLayout, marksSignal } from './mark.ts';

export const marksSink = tenantRowsSink('marks', marksSignal, markLayout);

/** As 006_measures.sql has them: classes, position columns, an end by age. */
export const MARKS_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS marks (
    tenant_id UInt32,
    time DateTime64(9, 'UTC'),
    name String,
    number Float64,
    retention_days UInt16,
    arrived DateTime64(3, 'UTC'),
    kafka_part UInt16,
    kafka_off UInt64,
    kafka_idx UInt32,
    INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
    INDEX i_arrived arrived TYPE minmax GRANULARITY 1
  ) ENGINE = MergeTree
  PARTITION BY (retention_days, toYYYYMM(time))
  PRIMARY KEY (tenant_id, name, time)
  ORDER BY (tenant_id, name, time, kafka_part, kafka_off, kafka_idx)
  TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(time, 'UTC') + toIntervalDay(retention_days)) DELETE
  SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000`,
];
