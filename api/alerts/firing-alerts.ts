import { PART_ALERT, type AlertRow, alertLayout } from '../../pipeline/alerting/book/alert.ts';
import type { Store } from '../../pipeline/store/client.ts';

/** A firing alert is published again each minute and ends after half a day: none that fires was published longer ago. Hours. */
const LATELY = 48;
/** Alerts at most, the newest. */
const MOST = 10_000;
const DEADLINE_MS = 30_000;

const textOf = (name: string, type: string): string =>
  type.startsWith('DateTime') ? `toString(toUnixTimestamp(${name}))` : type.startsWith('UInt') ? `toString(${name})` : name;

/** The last word on each alert that fires, of these partitions of `alerts.v1`, with its partition. */
export async function firingAlerts(
  store: Pick<Store, 'ownerRows'>,
  partitions: readonly number[],
): Promise<readonly (readonly [number, AlertRow])[]> {
  const { columns } = alertLayout;
  const names = columns.map(({ name, type }) => textOf(name, type.name)).join(', ');
  // the last word first, then whether it fires
  const last = `SELECT kafka_part, * FROM alerts WHERE part = ${String(PART_ALERT)} AND kafka_part IN {partitions:Array(UInt16)} AND updated_at >= now() - INTERVAL ${String(LATELY)} HOUR ORDER BY version DESC LIMIT 1 BY tenant_id, id`;
  const rows = await store.ownerRows(
    `SELECT toString(kafka_part), ${names} FROM (${last}) WHERE state = 'firing' ORDER BY updated_at DESC LIMIT ${String(MOST)}`,
    { partitions },
    AbortSignal.timeout(DEADLINE_MS),
  );
  return rows.map(([partition, ...values]) => [
    Number(partition),
    Object.fromEntries(
      columns.map(({ member, type }, index) => [member, type.name === 'String' ? String(values[index]) : Number(values[index])]),
    ) as unknown as AlertRow,
  ]);
}
