import { HYPHEN } from '../../wire/bytes.ts';
import type { Draft } from '../../logs/draft.ts';
import { FixedName } from '../../logs/names.ts';

/** Fields of a frame's header, by VictoriaLogs' names. */
export const FORMAT = new FixedName('format');
export const HOSTNAME = new FixedName('hostname');
export const PROC_ID = new FixedName('proc_id');
export const MSG_ID = new FixedName('msg_id');
/** A field that should be a time and is not one. */
export const TIMESTAMP = new FixedName('timestamp');
const APP_NAME = new FixedName('app_name');
const SERVICE = new FixedName('service');

/** Puts in the string at `draft.body[start..end)`; `-` stands for nothing (RFC 5424, 6: NILVALUE). */
export function putHeader(draft: Draft, name: FixedName, start: number, end: number): void {
  if (end - start === 1 && draft.body[start] === HYPHEN) return;
  draft.putText(name.in(draft.names), draft.body, start, end);
}

/** Puts in the name of the application, which is the entry's service. */
export function putAppName(draft: Draft, start: number, end: number): void {
  putHeader(draft, APP_NAME, start, end);
  putHeader(draft, SERVICE, start, end);
}
