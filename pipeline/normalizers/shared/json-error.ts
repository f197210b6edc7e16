import { lastJsonError } from '../../logs/writer.ts';

/** The reason for a line or element that is not a JSON object. */
export const NO_OBJECT = 'not a JSON object';

/** Where a line or element, that begins at `start` and ends at `end`, stopped being JSON. */
export function jsonErrorDetail(body: Buffer, start: number, end: number): string {
  const at = Math.max(start, Math.min(lastJsonError(), end));
  const found = at >= end ? 'end' : JSON.stringify(body.toString('utf8', at, Math.min(end, at + 12)));
  return `unexpected ${found} at byte ${String(at - start)}`;
}

/** The same with the reason before it, for an error's detail. */
export const jsonErrorReason = (body: Buffer, start: number, end: number): string => `${NO_OBJECT}: ${jsonErrorDetail(body, start, end)}`;
