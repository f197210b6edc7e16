import { from, type Section } from './limit.ts';

const publisher = from('pipeline/intake/signal-publisher.ts');
const records = from('pipeline/bus/producer/record-publisher.ts');
const layout = from('pipeline/rows/native.ts');
const tail = from('pipeline/bus/reading/log-tail.ts');

/** The way of entries to Kafka. */
export const LOG: Section = {
  title: 'The log',
  rows: [
    {
      what: 'Bytes that wait for Kafka',
      of: 'a tenant',
      bound: [publisher('MAX_OWN_BYTES', 'bytes')],
      beyond: '429 `backpressure`',
      others: 'nothing',
      attack: ['flood', 'ones', 'gzip-of-entries'],
      test: 'test/pipeline/intake/signal-publisher.test.ts',
    },
    {
      what: 'The same',
      of: 'a process',
      bound: [records('MAX_PENDING_BYTES', 'bytes')],
      beyond: '429 `backpressure`',
      others: '429 too: some tenants together can fill it.',
      attack: ['flood', 'empty-objects'],
    },
    {
      what: 'Part of it for one of several partitions, and the age of what waits there',
      of: 'a partition',
      bound: [records('PARTITION_SHARE', 'part'), records('MAX_OLDEST_MS', 'ms')],
      beyond: '429 `backpressure`',
      others: '429 for those whose entries go there; nothing for the others',
      test: 'test/pipeline/intake/signal-publisher.test.ts',
    },
    {
      what: 'What a request puts on the log at once',
      of: 'a request',
      bound: [publisher('PORTION_BYTES', 'bytes')],
      beyond: 'The next portion waits until this one is there.',
      others: 'Their entries come in between.',
      attack: ['ones', 'empty-objects', 'otlp-empty-records'],
      test: 'test/pipeline/intake/signal-publisher.test.ts',
    },
    {
      what: 'Wait for Kafka’s acknowledgement',
      of: 'a request',
      bound: [records('DEADLINE_MS', 'ms')],
      beyond: '429 `backpressure`; its entries are stored once or not at all.',
      others: 'nothing',
      test: 'test/pipeline/intake/signal-publisher.test.ts',
    },
    {
      what: 'A record: its columns, rows, and values of a dictionary',
      of: 'a request',
      bound: [from('pipeline/logs/chunk.ts')('MAX_CHUNK_BYTES', 'bytes'), layout('MAX_ROWS', 'rows'), layout('MAX_KEYS', 'values')],
      beyond: 'Another record begins.',
      others: 'nothing',
      attack: ['ones', 'own-levels', 'field-names'],
      test: 'test/pipeline/logs/chunk.test.ts',
    },
    {
      what: 'Values of a request to a broker, which has one at a time',
      of: 'a process',
      bound: [from('pipeline/bus/producer/broker-sender.ts')('MAX_REQUEST_BYTES', 'bytes')],
      beyond: 'The rest comes with the next one.',
      others: 'Theirs wait for a request or two: what has waited longest comes first.',
      attack: ['flood'],
      test: 'test/pipeline/bus/producer/idempotent-producer.test.ts',
    },
    {
      what: 'Entries a second for each of its partitions',
      of: 'a tenant',
      bound: [from('api/control/shard-growth.ts')('SHARD_ENTRIES_PER_SECOND', '')],
      beyond: 'It gets twice the partitions after a minute.',
      others: 'They share more partitions with it.',
      test: 'test/api/control/shard-growth.test.ts',
    },
    {
      what: 'Tenants whose partitions are remembered, in each of two generations',
      of: 'a process',
      bound: [from('pipeline/intake/shard.ts')('MAX_KNOWN', '')],
      beyond: 'Those used longest ago are forgotten, and found again.',
      others: 'The same.',
      test: 'test/pipeline/intake/shard.test.ts',
    },
    {
      what: 'Bytes that a live worker fetches of a partition, and of all',
      of: 'a process',
      bound: [tail('PARTITION_BYTES', 'bytes'), tail('FETCH_BYTES', 'bytes in all')],
      beyond: 'The rest comes with the next fetch.',
      others: 'Each partition has its part of a fetch.',
      attack: ['tails-of-all'],
    },
    {
      what: 'Free disk of Kafka’s log, and age of what is not stored yet',
      of: 'all tenants',
      bound: [],
      by: '`LOGWEIR_MIN_FREE_DISK_PERCENT`',
      beyond: '429 `wal_full`',
      others: '429 `wal_full` too.',
      test: 'test/pipeline/bus/measured/log-guard.test.ts',
    },
    {
      what: 'Snapshots that are taken and saved at once',
      of: 'a process',
      bound: [from('pipeline/processors/host/snapshot-budget.ts')('MOST_BYTES', 'bytes')],
      beyond: 'The next one waits; a larger one is taken alone.',
      others: 'nothing',
      test: 'test/pipeline/processors/host/snapshot-budget.test.ts',
    },
  ],
};
