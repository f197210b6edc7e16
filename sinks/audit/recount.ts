import { REACH, STEP_MS } from '../../pipeline/core/span-steps.ts';
import type { RecountFinding } from '../../pipeline/core/audit-report.ts';
import type { Store } from '../../pipeline/store/client.ts';

/** Which spans are compared, by when they begin: seconds since 1970, `to` exclusive. */
export type RecountOptions = {
  readonly from: number;
  readonly to: number;
};

/** Differences that are reported. */
const MOST = 1000;

/** How far the spans of each tenant are counted, by partition: the first record and the one behind the last, of the latest run without a gap. */
const COVER =
  'SELECT tenant_id, log_part, run AS latest, min(segment) AS first, max(until) AS next, toUnixTimestamp(argMax(last, until)) AS last_at FROM span_counts ' +
  'WHERE scope = 3 AND span = 60 AND (log_part, run) IN (SELECT log_part, max(run) FROM span_counts WHERE scope = 3 GROUP BY log_part) GROUP BY tenant_id, log_part, run';
const WITHIN = "time >= toDateTime({from:Int64}, 'UTC') AND time < toDateTime({to:Int64}, 'UTC')";
/** Minutes, each row once, without what was counted together since there was too much of it. */
const counted = (scope: number, key: string): string =>
  `SELECT tenant_id, log_part, ${key}, toUnixTimestamp(time) AS minute, sum(n) AS all, sum(e) AS wrong FROM (SELECT tenant_id, log_part, retention_days, segment, time, service, operation, caller, kind, any(spans) AS n, any(errors) AS e FROM span_counts ` +
  `INNER JOIN (${COVER}) AS cover USING (tenant_id, log_part) WHERE scope = ${String(scope)} AND span = 60 AND run = latest AND until <= next AND ${WITHIN} GROUP BY tenant_id, log_part, retention_days, segment, time, service, operation, caller, kind) GROUP BY tenant_id, log_part, ${key}, minute`;
/** Tenants with such: their operations cannot be compared one by one. */
const FOLDED = "SELECT tenant_id FROM span_counts WHERE scope IN (0, 1) AND service = '(other)' GROUP BY tenant_id";
const MISSED = 'SELECT tenant_id FROM span_counts WHERE scope = 2 GROUP BY tenant_id';

/** Spans with the step in which the copy before each came, if any. `more`: columns beside those of its identity. */
const placed = (more: string, until: string): string =>
  `WITH came AS (SELECT spans.tenant_id AS tenant, kafka_part AS part, trace_id, span_id, kind, toString(service) AS own, status, time, kafka_off, kafka_idx, intDiv(toUnixTimestamp(arrived), {step:UInt32}) AS step, ${more} ` +
  `FROM spans INNER JOIN (${COVER}) AS cover ON spans.tenant_id = cover.tenant_id AND spans.kafka_part = cover.log_part WHERE kafka_off >= first AND ${until} AND time >= toDateTime({from:Int64} - 86400, 'UTC') AND time < toDateTime({to:Int64} + 86400, 'UTC')), ` +
  'placed AS (SELECT *, lagInFrame(toNullable(step)) OVER (PARTITION BY tenant, part, trace_id, span_id, kind ORDER BY kafka_off, kafka_idx) AS before FROM came)';

/** Each span where it came first, or again when the copy before was remembered no more; `most`: with all copies, where some may not have been remembered. */
const STORED_OPERATIONS =
  `${placed('toString(name) AS operation', 'kafka_off < next')} ` +
  'SELECT tenant AS tenant_id, part AS log_part, own AS a, operation AS b, toUInt8(kind) AS c, intDiv(toUnixTimestamp(time), 60) * 60 AS minute, ' +
  `countIf(is_first) AS all, countIf(is_first AND status = 2) AS wrong, if(tenant IN (${MISSED}), count(), all) AS most, if(tenant IN (${MISSED}), countIf(status = 2), wrong) AS most_wrong ` +
  `FROM (SELECT *, before IS NULL OR step - before > 2 * {reach:UInt32} AS is_first FROM placed WHERE ${WITHIN}) GROUP BY tenant_id, log_part, a, b, c, minute`;

/** Each span where it came first within reach, and the services of its parents in reach. */
const STORED_EDGES =
  `${placed('parent_span_id, intDiv(last_at, {step:UInt32}) AS now', '1')}, ` +
  `child AS (SELECT * FROM placed WHERE parent_span_id != toFixedString('', 8) AND (before IS NULL OR step - before > {reach:UInt32}) AND step + {reach:UInt32} < now AND ${WITHIN}), ` +
  'parent AS (SELECT tenant, part, trace_id, span_id, own, kind, step, kafka_off, kafka_idx FROM placed WHERE before IS NULL OR before != step), ' +
  'pair AS (SELECT child.tenant AS tenant, child.part AS part, child.own AS callee, child.status AS state, intDiv(toUnixTimestamp(child.time), 60) * 60 AS minute, child.kafka_off AS off, child.kafka_idx AS idx, ' +
  'parent.own AS caller, parent.kind AS caller_kind, (parent.kafka_off, parent.kafka_idx) AS place, parent.span_id = child.parent_span_id AND abs(toInt64(parent.step) - toInt64(child.step)) <= {reach:UInt32} AS near ' +
  'FROM child LEFT JOIN parent ON parent.tenant = child.tenant AND parent.part = child.part AND parent.trace_id = child.trace_id AND parent.span_id = child.parent_span_id), ' +
  "call AS (SELECT tenant, part, callee, state, minute, multiIf(countIf(near) = 0, '', countIf(near AND caller_kind = 2) > 0, argMinIf(caller, place, near AND caller_kind = 2), argMinIf(caller, place, near)) AS best FROM pair GROUP BY tenant, part, callee, state, minute, off, idx HAVING countIf(near AND caller = callee) = 0) " +
  'SELECT tenant AS tenant_id, part AS log_part, callee AS a, best AS b, toUInt8(0) AS c, minute, count() AS all, countIf(state = 2) AS wrong, all AS most, wrong AS most_wrong FROM call GROUP BY tenant_id, log_part, a, b, minute';

/**
 * Compares what is counted of spans with the stored spans themselves: operations and calls, each by minute, a span that was sent twice once. What is not counted yet is left out, as are
 * tenants of which something was counted together, since there was too much of it.
 */
export async function recount(store: Store, options: RecountOptions): Promise<readonly RecountFinding[]> {
  const params = { from: options.from, to: options.to, step: STEP_MS / 1000, reach: REACH };
  const compare = async (kind: RecountFinding['kind'], scope: number, key: string, stored: string): Promise<RecountFinding[]> => {
    const left = scope === 0 ? FOLDED : `${FOLDED} UNION ALL ${MISSED}`;
    const columns = 'tenant_id, log_part, a, b, c, minute';
    const rows = await store.ownerRows(
      `SELECT ${columns}, sum(counted), sum(stored), sum(counted_wrong), sum(stored_wrong) FROM (` +
        `SELECT ${columns}, toInt64(all) AS counted, toInt64(0) AS stored, toInt64(wrong) AS counted_wrong, toInt64(0) AS stored_wrong, toInt64(0) AS stored_most, toInt64(0) AS most_wrong FROM (${counted(scope, key)}) ` +
        `UNION ALL SELECT ${columns}, toInt64(0), toInt64(all), toInt64(0), toInt64(wrong), toInt64(most), toInt64(most_wrong) FROM (${stored})) ` +
        `WHERE tenant_id NOT IN (${left}) GROUP BY ${columns} HAVING sum(counted) NOT BETWEEN sum(stored) AND sum(stored_most) OR sum(counted_wrong) NOT BETWEEN sum(stored_wrong) AND sum(most_wrong) ORDER BY ${columns} LIMIT ${String(MOST)}`,
      params,
    );
    return rows.map(([tenant, partition, a, b, c, minute, ...numbers]) => {
      const [all = 0, spans = 0, wrong = 0, errors = 0] = numbers.map(Number);
      return {
        ...{ kind, tenant: Number(tenant), partition: Number(partition), minute: new Date(Number(minute) * 1000).toISOString() },
        ...{
          service: String(a),
          other: String(b),
          span_kind: Number(c),
          counted: all,
          stored: spans,
          counted_errors: wrong,
          stored_errors: errors,
        },
      };
    });
  };
  return [
    ...(await compare('operation', 0, 'toString(service) AS a, toString(operation) AS b, toUInt8(kind) AS c', STORED_OPERATIONS)),
    ...(await compare('edge', 1, 'toString(service) AS a, toString(caller) AS b, toUInt8(0) AS c', STORED_EDGES)),
  ];
}
