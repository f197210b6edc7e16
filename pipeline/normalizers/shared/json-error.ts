import { lastJsonError } from '../../logs/writer.ts';

/** Where a line or element, that begins at `start` and ends at `end`, stopped being JSON: for a reason or an error's detail. */
export function jsonErrorReason(body: Buffer, start: number, end: number): string {
  const at = Math.max(start, Math.min(lastJsonError(), end));
  const found = at >= end ? 'end' : JSON.stringify(body.toString('utf8', at, Math.min(end, at + 12)));
  return `not a JSON object: unexpected ${found} at byte ${String(at - start)}`;
}
