import { alertLayout, type AlertRow, alertsSignal } from '../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';

/** The alerts among what a merger puts out, without its announcements to other mergers. Throws where one cannot be read. */
export const alertRowsOf = (records: readonly Pick<AbsoluteRecord, 'topic' | 'value' | 'headers'>[]): AlertRow[] =>
  records.flatMap(({ topic, value, headers }) => {
    if (topic !== alertsSignal.topic.name) return [];
    const rows = alertLayout.read(value, Number(headers['count']));
    if (typeof rows === 'string') throw new Error(rows);
    return rows;
  });
