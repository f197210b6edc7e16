import { createHash } from 'node:crypto';
import type { LayoutWriter } from '../../../pipeline/intake/layout-writer.ts';
import { timeBounds } from '../../../pipeline/intake/time-bounds.ts';
import type { Normalizer } from '../../../pipeline/normalizers/normalizer.ts';
import type { Mark } from './mark.ts';

const ROW_BYTES = 32;

/** Lines of JSON: `POST /api/v1/marks` with `{"time": milliseconds, "name": "…", "number": 1.5}`. */
export const marksJson: Normalizer<LayoutWriter<Mark>> = {
  name: 'marks_json',
  signal: 'marks',
  paths: ['/api/v1/marks'],
  methods: ['POST'],
  caps: { wire: 100_000, inflated: 200_000 },
  normalize({ body }, out) {
    const [first, last] = timeBounds(out.options);
    for (let [at, end] = [0, 0]; at < body.length; at = end + 1) {
      end = body.indexOf(0x0a, at);
      if (end < 0) end = body.length;
      const found = readMark(body.toString('utf8', at, end));
      if (typeof found === 'string') {
        if (found !== '') out.reject(found, body, at, end);
        continue;
      }
      const second = Number(found.time / 1_000_000_000n);
      if (second < first || second > last) out.reject('the time is out of bounds', body, at, end);
      else out.add(found, createHash('sha256').update(found.name).digest().readInt32LE(), ROW_BYTES + found.name.length, body, at, end);
    }
  },
  ack: (_request, { accepted, rejected }) => ({ status: 200, body: { status: 'ok', accepted, rejected: rejected.count } }),
};

/** A line as a mark, or why it is none; empty for an empty line. */
function readMark(line: string): Mark | string {
  if (line.trim() === '') return '';
  try {
    const { time, name, number } = JSON.parse(line) as Partial<Record<'time' | 'name' | 'number', unknown>>;
    if (!Number.isSafeInteger(time)) return 'the time is not a whole number of milliseconds';
    if (typeof name !== 'string' || name === '') return 'there is no name';
    if (typeof number !== 'number') return 'there is no number';
    const bits = new BigUint64Array(new Float64Array([number]).buffer)[0] as bigint;
    return { time: BigInt(time as number) * 1_000_000n, name, number: bits };
  } catch {
    return 'not a JSON object';
  }
}
