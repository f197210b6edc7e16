/** A line where entries came that the list does not have. */
import type { JSX } from 'preact';
import { plural } from '../base/format.ts';
import { zone } from '../base/settings.ts';
import { clockOf } from '../base/time.ts';
import type { Gap } from './gap.ts';
import { setWindow } from './state.ts';

export function GapLine({
  gap,
  index,
  top,
  measure,
}: {
  readonly gap: Gap;
  readonly index: number;
  readonly top: number;
  readonly measure: ((at: Element | null) => void) | undefined;
}): JSX.Element {
  const { count, why, since, until } = gap;
  const isKnown = !Number.isNaN(Date.parse(since)) && !Number.isNaN(Date.parse(until));
  const words = isKnown
    ? `, ${clockOf(since, zone.value, 0).replace(/\.$/, '')} to ${clockOf(until, zone.value, 0).replace(/\.$/, '')}`
    : '';
  return (
    <div
      ref={measure ?? null}
      data-index={index}
      class="row gap-row"
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${String(top)}px)` }}
    >
      <span role="gridcell" class="gap-words">
        {count === 0 ? 'Entries' : plural(count, 'entry', 'entries')} not shown{words}: {why}
        {isKnown ? (
          <button type="button" class="more" onClick={() => setWindow({ from: since, to: new Date(Date.parse(until) + 1).toISOString() })}>
            Show them
          </button>
        ) : null}
      </span>
    </div>
  );
}
