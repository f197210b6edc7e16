import { readFileSync } from 'node:fs';

/** Minute 0 of a file of rates, as minutes since 1970: a Monday, 00:00. */
export const START = 29_000_160;

/** What comes of a stream in a minute of append time: of which minutes, and how many entries. Minutes of the file. */
export type Arrived = { readonly stream: string; readonly minute: number; readonly count: number };

const lines = (file: string): string[][] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));

/** Numbers from 0 to 1, the same ones each time. */
function random(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** The names of the streams of a file. */
export const streamsOf = (rates: string): string[] => (lines(rates)[0] ?? []).slice(1);

/**
 * What comes minute by minute (of append time) of these streams: what the file of rates says, but for what the file of late ones says comes later.
 * Of more than `most` entries a part is taken, each by chance.
 */
export function arrivalsOf(
  rates: string,
  late: string,
  streams: readonly string[],
  { most, minutes }: { readonly most: number; readonly minutes: number },
): { readonly arrivals: readonly Arrived[][]; readonly share: number; readonly entries: number; readonly late: number } {
  const [head = [], ...rows] = lines(rates);
  const columns = streams.map((stream) => head.indexOf(stream));
  const used = rows.slice(0, minutes);
  const whole = used.reduce((sum, row) => sum + columns.reduce((all, column) => all + Number(row[column]), 0), 0);
  const share = Math.min(1, most / whole);
  const chance = random();
  const part = (count: number): number => {
    if (share === 1) return count;
    let kept = 0;
    for (let entry = 0; entry < count; entry++) if (chance() < share) kept += 1;
    return kept;
  };
  const held = new Map<string, (readonly [arrival: number, count: number])[]>();
  for (const [stream, minute, arrival, count] of lines(late).slice(1)) {
    const key = `${String(stream)} ${String(minute)}`;
    held.set(key, [...(held.get(key) ?? []), [Number(arrival), Number(count)]]);
  }
  const arrivals: Arrived[][] = Array.from({ length: used.length }, () => []);
  let [entries, behind] = [0, 0];
  used.forEach((row, minute) => {
    streams.forEach((stream, index) => {
      let left = Number(row[columns[index] as number]);
      for (const [arrival, count] of held.get(`${stream} ${String(minute)}`) ?? []) {
        // both kinds of lateness may name the same entries
        const later = Math.min(left, count);
        left -= later;
        const kept = part(later);
        if (kept > 0) arrivals[arrival]?.push({ stream, minute, count: kept });
        behind += kept;
        entries += kept;
      }
      const kept = part(left);
      if (kept > 0) arrivals[minute]?.push({ stream, minute, count: kept });
      entries += kept;
    });
  });
  return { arrivals, share, entries, late: behind };
}
