/** Lines over time on a canvas, with uPlot; colours are those of the theme. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export type Drawn = {
  /** Seconds. */
  readonly times: readonly number[];
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  readonly isUtc: boolean;
  readonly isDark: boolean;
};

/** Twelve that are told apart in both themes, the accent first. */
const HUES = [277, 25, 155, 70, 230, 330, 195, 110, 300, 50, 250, 10];
const HEIGHT = 220;

/** Draws into an element, as wide as it is; the answer removes it. */
export function drawLines(at: HTMLElement, { times, series, isUtc, isDark }: Drawn): () => void {
  const [ink, line] = isDark ? ['#a9adb8', '#3a3d47'] : ['#5f6472', '#e4e6eb'];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  const colour = (index: number): string => `oklch(${isDark ? '0.75' : '0.58'} 0.15 ${String(HUES[index % HUES.length] ?? 0)})`;
  const plot = new uPlot(
    {
      ...{ width: Math.max(200, at.clientWidth), height: HEIGHT },
      tzDate: (seconds) => (isUtc ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000)),
      cursor: { points: { size: 6 } },
      axes: [axis, { ...axis, size: 64 }],
      series: [
        {},
        ...series.map(({ name }, index) => ({
          label: name,
          stroke: colour(index),
          width: 1.5,
          spanGaps: true,
          points: { show: times.length < 60, size: 4 },
        })),
      ],
    },
    [[...times], ...series.map(({ values }) => [...values])],
    at,
  );
  const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(200, at.clientWidth), height: HEIGHT }));
  watch.observe(at);
  return () => {
    watch.disconnect();
    plot.destroy();
  };
}
