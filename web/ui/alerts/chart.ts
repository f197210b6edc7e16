/** The course of an alert: the line, the band of what is usual, the window that fired, since when it fires; on a canvas, with uPlot. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { shortMoment } from '../base/time.ts';

export type AlertCourse = {
  /** Seconds. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly expected: { readonly low: number; readonly high: number } | null;
  /** Seconds; drawn behind the line. */
  readonly window: readonly [number, number] | null;
  readonly firedAt: number;
  readonly endedAt: number | null;
  /** The same time of earlier days, behind the line. */
  readonly earlier: readonly (readonly (number | null)[])[];
  readonly isUtc: boolean;
};

/** How earlier days are drawn: yesterday, a week ago. */
const EARLIER_DASHES = [
  [5, 3],
  [2, 3],
];

const HEIGHT = 216;

/** The colours of the theme as the element has them. */
function coloursOf(at: HTMLElement): (name: string) => string {
  const probe = document.createElement('span');
  at.append(probe);
  const found = new Map<string, string>();
  for (const name of ['ink-3', 'line', 'error', 'error-soft', 'info', 'accent']) {
    probe.style.color = `var(--${name})`;
    found.set(name, getComputedStyle(probe).color);
  }
  probe.remove();
  return (name) => found.get(name) ?? 'gray';
}

/** Draws into an element, as wide as it is; the answer removes it. */
export function drawCourse(at: HTMLElement, course: AlertCourse): () => void {
  const { times, values, earlier, expected, window, firedAt, endedAt, isUtc } = course;
  const colour = coloursOf(at);
  const axis = { stroke: colour('ink-3'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  const behind = (plot: uPlot): void => {
    const { ctx, bbox } = plot;
    const x = (seconds: number): number => Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(seconds, 'x', true)));
    const y = (value: number): number => Math.min(bbox.top + bbox.height, Math.max(bbox.top, plot.valToPos(value, 'y', true)));
    ctx.save();
    const last = endedAt ?? times.at(-1) ?? firedAt;
    ctx.fillStyle = colour('error-soft');
    ctx.fillRect(x(firedAt), bbox.top, x(last) - x(firedAt), bbox.height);
    if (window !== null) ctx.fillRect(x(window[0]), bbox.top, x(window[1]) - x(window[0]), bbox.height);
    if (expected !== null) {
      ctx.globalAlpha = 0.35;
      ctx.fillStyle = colour('info');
      ctx.fillRect(bbox.left, y(expected.high), bbox.width, Math.max(2, y(expected.low) - y(expected.high)));
      ctx.globalAlpha = 1;
    }
    ctx.strokeStyle = colour('error');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x(firedAt), bbox.top);
    ctx.lineTo(x(firedAt), bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  };
  const plot = new uPlot(
    {
      ...{ width: Math.max(200, at.clientWidth), height: HEIGHT, legend: { show: false }, cursor: { points: { size: 6 } } },
      tzDate: (seconds) => (isUtc ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000)),
      scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most, expected?.high ?? 0) * 1.08] } },
      axes: [
        { ...axis, size: 28, grid: { show: false }, values: (_plot, ticks) => ticks.map((tick) => shortMoment(tick * 1000, isUtc ? 'utc' : 'local', (times.at(-1) ?? tick) * 1000)) }, // prettier-ignore
        { ...axis, size: 48 },
      ],
      series: [
        {},
        ...earlier.map((_values, index) => ({
          ...{ label: `earlier ${String(index)}`, stroke: colour('ink-3'), width: 1, points: { show: false } },
          dash: [...(EARLIER_DASHES[index] ?? [])],
        })),
        { label: 'a minute', stroke: colour('error'), width: 1.75, points: { show: false } },
      ],
      hooks: { drawClear: [behind] },
    },
    [[...times], ...earlier.map((one) => [...one]), [...values]],
    at,
  );
  const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(200, at.clientWidth), height: HEIGHT }));
  watch.observe(at);
  return () => {
    watch.disconnect();
    plot.destroy();
  };
}
