import type { Point } from '../../pipeline/detectors/custom.ts';
import type { ReplayedAlert } from '../../pipeline/detectors/replayed.ts';

/** What a picture shows. */
export type Picture = {
  /** What was replayed: detector and query. */
  readonly title: string;
  readonly subtitle: string;
  /** What the values are. */
  readonly unit: string;
  readonly points: readonly Point[];
  readonly valueOf: (point: Point) => number | null;
  readonly alerts: readonly ReplayedAlert[];
};

const [WIDTH, HEIGHT] = [1200, 420];
const PLOT = { left: 80, right: 1176, top: 78, bottom: 340 } as const;
const COLORS = {
  ground: '#ffffff',
  text: '#1f2933',
  faint: '#6b7785',
  grid: '#e3e7ec',
  line: '#2a6f97',
  up: '#c8553d',
  down: '#8a5fb0',
  band: '#7fb069',
};
/** Points that are drawn across; of each the least and the largest value. */
const COLUMNS = 1096;
const TICKS = 5;
const HOUR = 60;
/** Distances of the marks of time. Minutes. */
const STEPS = [10, 30, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 48 * HOUR, 120 * HOUR];

/** A series, its alerts, and what was expected where one fired, as an SVG of 1200 by 420; times in UTC. */
export function svgOf({ title, subtitle, unit, points, valueOf, alerts }: Picture): string {
  const [first, last] = [points[0]?.minute ?? 0, (points.at(-1)?.minute ?? 0) + 1];
  const values = points.flatMap((point) => valueOf(point) ?? []);
  const highest = values.reduce((most, value) => Math.max(most, value), 0);
  const lowest = values.reduce((least, value) => Math.min(least, value), 0);
  const [top, bottom] = [highest === lowest ? highest + 1 : highest + (highest - lowest) * 0.06, lowest];
  const x = (minute: number): number => PLOT.left + ((minute - first) / Math.max(1, last - first)) * (PLOT.right - PLOT.left);
  const y = (value: number): number =>
    PLOT.bottom - ((Math.min(top, Math.max(bottom, value)) - bottom) / (top - bottom)) * (PLOT.bottom - PLOT.top);
  const parts = [
    ...valueMarks(bottom, top, y),
    ...timeMarks(first, last, x),
    ...alerts.map((alert) => span(alert, last, x, y)),
    curve(points, valueOf, x, y),
    ...alerts.map((alert, index) => mark(alert, index, x)),
    ...legend(alerts.length, unit),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" width="${String(WIDTH)}" height="${String(HEIGHT)}" font-family="DejaVu Sans, sans-serif" font-size="13">
<rect width="${String(WIDTH)}" height="${String(HEIGHT)}" fill="${COLORS.ground}"/>
${label(24, 32, title, { size: 18, weight: 'bold' })}
${label(24, 54, subtitle, { fill: COLORS.faint })}
${parts.join('\n')}
</svg>
`;
}

const n = (value: number): string => String(Math.round(value * 10) / 10);
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

type Style = { readonly fill?: string; readonly size?: number; readonly weight?: string; readonly anchor?: string };

const label = (
  at: number,
  from: number,
  text: string,
  { fill = COLORS.text, size = 13, weight = 'normal', anchor = 'start' }: Style = {},
): string =>
  `<text x="${n(at)}" y="${n(from)}" fill="${fill}" font-size="${n(size)}" font-weight="${weight}" text-anchor="${anchor}">${escaped(text)}</text>`;

const line = (x1: number, y1: number, x2: number, y2: number, more: string): string =>
  `<line x1="${n(x1)}" y1="${n(y1)}" x2="${n(x2)}" y2="${n(y2)}" ${more}/>`;

/** A number as people write it on an axis. */
function plain(value: number): string {
  for (const [size, suffix] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const) if (Math.abs(value) >= size) return `${String(Number((value / size).toPrecision(3)))}${suffix}`; // prettier-ignore
  return String(Number(value.toPrecision(3)));
}

/** A step of 1, 2 or 5 times a power of ten, so that there are some marks. */
function stepOf(range: number): number {
  const rough = range / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

function valueMarks(bottom: number, top: number, y: (value: number) => number): string[] {
  const step = stepOf(top - bottom);
  const marks: string[] = [];
  for (let value = Math.ceil(bottom / step) * step; value <= top; value += step)
    marks.push(
      line(PLOT.left, y(value), PLOT.right, y(value), `stroke="${COLORS.grid}"`),
      label(PLOT.left - 10, y(value) + 4, plain(value), { fill: COLORS.faint, anchor: 'end' }),
    );
  return marks;
}

function timeMarks(first: number, last: number, x: (minute: number) => number): string[] {
  const step = STEPS.find((one) => (last - first) / one <= 12) ?? 240 * HOUR;
  const marks: string[] = [];
  for (let minute = Math.ceil(first / step) * step; minute <= last; minute += step) {
    const text = new Date(minute * 60_000).toISOString();
    marks.push(
      line(x(minute), PLOT.top, x(minute), PLOT.bottom, `stroke="${COLORS.grid}"`),
      label(x(minute), PLOT.bottom + 20, step >= 24 * HOUR ? text.slice(5, 10) : text.slice(11, 16), {
        fill: COLORS.faint,
        anchor: 'middle',
      }),
    );
    if (step < 24 * HOUR && (minute % (24 * HOUR) === 0 || marks.length === 2))
      marks.push(
        label(x(minute), PLOT.bottom + 37, text.slice(0, 10), {
          fill: COLORS.faint,
          anchor: x(minute) > PLOT.right - 30 ? 'end' : 'middle',
        }),
      );
  }
  return marks;
}

const colorOf = ({ side }: ReplayedAlert): string => (side === 'up' ? COLORS.up : COLORS.down);

/** When an alert fired, and what was expected then. */
function span(alert: ReplayedAlert, last: number, x: (minute: number) => number, y: (value: number) => number): string {
  const { firedAt, resolvedAt, expected } = alert;
  const [from, to] = [x(firedAt), Math.max(x(resolvedAt ?? last), x(firedAt) + 2)];
  const [high, low] = [y(expected.high), y(expected.low)];
  return `<rect x="${n(from)}" y="${n(PLOT.top)}" width="${n(to - from)}" height="${n(PLOT.bottom - PLOT.top)}" fill="${colorOf(alert)}" fill-opacity="0.14"/>
<rect x="${n(from)}" y="${n(high)}" width="${n(to - from)}" height="${n(Math.max(2, low - high))}" fill="${COLORS.band}" fill-opacity="0.55"/>`;
}

/** The number of an alert in the table, above where it fired. */
function mark(alert: ReplayedAlert, index: number, x: (minute: number) => number): string {
  const at = x(alert.firedAt);
  return `${line(at, PLOT.top, at, PLOT.bottom, `stroke="${colorOf(alert)}" stroke-width="1.5"`)}
${label(at, PLOT.top - 5, `${alert.side === 'up' ? '▲' : '▼'}${String(index + 1)}`, { fill: colorOf(alert), size: 12, weight: 'bold', anchor: 'middle' })}`;
}

/** Of more points than columns, the least and the largest of each column; gaps where nothing is known. */
function curve(points: readonly Point[], valueOf: Picture['valueOf'], x: (minute: number) => number, y: (value: number) => number): string {
  const each = Math.max(1, Math.ceil(points.length / COLUMNS));
  let [path, isOpen] = ['', false];
  for (let from = 0; from < points.length; from += each) {
    const known = points.slice(from, from + each).flatMap((point) => {
      const value = valueOf(point);
      return value === null ? [] : [{ minute: point.minute, value }];
    });
    const ends = [...known].sort((a, b) => a.value - b.value);
    const drawn = each === 1 ? known : [ends[0], ends.at(-1)].flatMap((one) => one ?? []).sort((a, b) => a.minute - b.minute);
    for (const { minute, value } of drawn) {
      path += `${isOpen ? 'L' : 'M'}${n(x(minute + 0.5))} ${n(y(value))}`;
      isOpen = true;
    }
    if (known.length === 0) isOpen = false;
  }
  return `<path d="${path}" fill="none" stroke="${COLORS.line}" stroke-width="1.4" stroke-linejoin="round"/>`;
}

function legend(alerts: number, unit: string): string[] {
  const y = HEIGHT - 18;
  const box = (at: number, color: string, opacity: string): string =>
    `<rect x="${n(at)}" y="${n(y - 11)}" width="16" height="12" fill="${color}" fill-opacity="${opacity}"/>`;
  return [
    line(PLOT.left, y - 5, PLOT.left + 18, y - 5, `stroke="${COLORS.line}" stroke-width="2"`),
    label(PLOT.left + 26, y, unit),
    box(480, COLORS.up, '0.3'),
    label(502, y, 'alert, above (▲)'),
    box(630, COLORS.down, '0.3'),
    label(652, y, 'alert, below (▼)'),
    box(780, COLORS.band, '0.6'),
    label(802, y, 'expected when it fired'),
    label(PLOT.right, y, alerts === 1 ? '1 alert' : `${String(alerts)} alerts`, { anchor: 'end', weight: 'bold' }),
  ];
}
