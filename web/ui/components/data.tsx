/** What is shown of entries: levels, times, small charts, text of a log. */
import type { JSX } from 'preact';
import { zone } from '../base/settings.ts';
import { levelKind } from '../base/levels.ts';
import { agoOf, dateAndClock } from '../base/time.ts';

/** A level as a letter. */
export function Level({ level }: { readonly level: string }): JSX.Element {
  if (level === '') return <span class="lv" aria-hidden="true" />;
  const letter = levelKind(level).charAt(0).toUpperCase();
  return (
    <span class={`lv ${letter}`} title={level}>
      <span aria-hidden="true">{letter}</span>
      <span class="hidden">{level}</span>
    </span>
  );
}

/** A time in the zone that is chosen, with how long ago it was as title. */
export function Time({ iso, digits = 0 }: { readonly iso: string; readonly digits?: number }): JSX.Element {
  const text = dateAndClock(iso, zone.value, digits).replace(/\.$/, '');
  return (
    <time dateTime={iso} title={`${iso} (${agoOf(Date.parse(iso))})`}>
      {text}
    </time>
  );
}

/** A course of numbers as small bars. */
export function Sparkline({
  values,
  label,
  width = 120,
  height = 24,
  tone = 'var(--ink-3)',
}: {
  readonly values: readonly number[];
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
  readonly tone?: string;
}): JSX.Element {
  const most = Math.max(1, ...values);
  const step = width / Math.max(1, values.length);
  return (
    <svg width={width} height={height} role="img" aria-label={label} class="spark">
      {values.map((value, at) => {
        const size = value === 0 ? 1 : Math.max(2, (value / most) * height);
        return (
          <rect
            key={at}
            x={at * step}
            y={height - size}
            width={Math.max(1, step - 1)}
            height={size}
            fill={value === 0 ? 'var(--line-strong)' : tone}
          />
        );
      })}
    </svg>
  );
}
