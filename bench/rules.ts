/**
 * `npm run bench:rules`: what rules cost, in CPU µs an entry beside decoding and the volume, of live entries in records of 1,000: with no rule, with one
 * and with twenty of a kind. Each rule's work as it counts it (its budget is in these units), against the nanoseconds that it took.
 */
import { readColumns } from '../pipeline/logs/columns/column-reader.ts';
import { encodeColumns } from '../pipeline/logs/columns/column-encoder.ts';
import { LogColumns } from '../pipeline/logs/columns/log-columns.ts';
import { addPlainRow } from '../pipeline/logs/columns/plain-rows.ts';
import { WordTable } from '../pipeline/rows/words.ts';
import { Names } from '../pipeline/logs/names.ts';
import { RecordStreams } from '../pipeline/logs/record-streams.ts';
import { StreamList } from '../pipeline/logs/stream-list.ts';
import type { Batch, Tick } from '../pipeline/processors/base/processor.ts';
import { LogRows } from '../pipeline/processors/rules/log-rows.ts';
import { compileRule } from '../pipeline/processors/rules/rule.ts';
import { rules } from '../pipeline/processors/rules/rules.ts';
import { ruleKey } from '../pipeline/processors/rules/rules-fold.ts';
import type { Json } from '../pipeline/core/setting.ts';
import { benchLogs } from './wire/logs.ts';

const ROWS = 1000;
const RECORDS = 100;
/** Append time between two records: 10,000 entries a second in a partition. Milliseconds. */
const STEP_MS = 100;
const START_MS = 1_795_269_600_000;
const STREAMS = 200;
const ROUNDS = 5;

const QUERIES: readonly (readonly [string, string])[] = [
  ['a service that is not there', '{service="s99"} level:error | stats count()'],
  ['errors by service', 'level:error | stats by (service) count()'],
  ['a stream of twenty, p99', '{service="s7"} | stats quantile(0.99, duration_ms)'],
  ['a field of all, by service', 'status:>=500 | stats by (service) count()'],
  ['a word of the message', 'failed | stats count()'],
  ['p99 of all by service', '* | stats by (service) quantile(0.99, duration_ms)'],
  ['a regexp over the message', '~"(payment|upload) .*failed" | stats count()'],
];

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

function batches(): (() => Batch)[] {
  const names = new Names();
  const words = { names, levels: new WordTable(), services: new WordTable() };
  const lines = benchLogs(ROWS, START_MS);
  return Array.from({ length: RECORDS }, (_none, record) => {
    const columns = new LogColumns({ names: names.ids, levels: words.levels, services: words.services }, ROWS);
    const list = new StreamList();
    const appendedAt = START_MS + record * STEP_MS;
    lines.forEach(({ message, service, level, traceId, status, durationMs, userId, ip }, row) => {
      const stream = (record * ROWS + row * 7919) % STREAMS;
      const streamId = (BigInt(stream + 1) * 0x9e3779b97f4a7c15n) % 2n ** 64n;
      const text = `{host="h${String(stream)}",service="s${String(stream % 20)}"}`;
      list.addText(Number(streamId >> 32n), Number(streamId & 0xffff_ffffn), Buffer.from(text), [Math.floor(appendedAt / 86_400_000)]);
      const time = BigInt(appendedAt) * 1_000_000n + BigInt(row);
      const fields: [string, string][] = [['status', String(status)], ['duration_ms', String(durationMs)], ['user_id', userId], ['ip', ip]]; // prettier-ignore
      addPlainRow(columns, { time, severity: 3, message, level, service, trace_id: traceId, span_id: '', streamId, fields }, words);
    });
    const [value, streams] = [encodeColumns(columns), list.encode()];
    return () => {
      const view = readColumns(value, ROWS);
      if (typeof view === 'string') throw new Error(view);
      return {
        ...{ kind: 'batch', partition: 0, offset: record + 100, appendedAt, tenantId: 1, retentionDays: 30, bytes: 0 },
        ...{ columns: view, streams: RecordStreams.read(streams) ?? RecordStreams.none },
      };
    };
  });
}

const ruleOf = (query: string): Json => ({
  ...{ id: 'ru_1', name: 'bench', query, every: '1m', if: 'value > 5', for: 1 },
  ...{ severity: 'warning', sensitivity: 'low', created_at: '2026-11-24T00:00:00.000Z' },
});

/** CPU µs an entry beside decoding, the least of some rounds. */
function perEntry(all: readonly (() => Batch)[], query: string, count: number): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const state = rules.init();
    for (let slot = 1; slot <= count; slot++) {
      const setting = { processor: rules.name, tenantId: 1, key: ruleKey(slot), value: ruleOf(query), version: 1 };
      rules.configure?.(state, setting);
      rules.fold(state, { kind: 'tick', partition: 0, offset: slot, appendedAt: START_MS - 1, setting } satisfies Tick);
    }
    let spent = 0;
    for (const next of all) {
      const batch = next();
      const before = cpuUs();
      rules.fold(state, batch);
      spent += cpuUs() - before;
    }
    return spent / (RECORDS * ROWS);
  });
  return Math.min(...rounds);
}

/** What a rule's filter counts as work, an entry. */
function workOf(all: readonly (() => Batch)[], query: string): number {
  const compiled = compileRule(ruleOf(query));
  if (typeof compiled === 'string') throw new Error(compiled);
  const rows = new LogRows();
  rows.read((all[0] as () => Batch)() as Parameters<LogRows['read']>[0]);
  const says = rows.predicate(compiled.filter);
  if (typeof says !== 'boolean') for (let row = 0; row < ROWS; row++) says(row);
  return rows.work / ROWS;
}

const all = batches();
console.log('| rule | one, µs an entry | twenty | its filter, units of work an entry |');
console.log('|---|---|---|---|');
console.log(`| none | ${perEntry(all, '* | stats count()', 0).toFixed(3)} | | |`);
for (const [name, query] of QUERIES) {
  const cells = [perEntry(all, query, 1).toFixed(3), perEntry(all, query, 20).toFixed(2), workOf(all, query).toFixed(0)];
  console.log(`| ${name}: \`${query.replaceAll('|', '\\|')}\` | ${cells.join(' | ')} |`);
}
