/** Which rows of a long list are on screen. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

export type VirtualOptions = {
  readonly count: number;
  readonly size: number;
  readonly scroll: RefObject<HTMLElement | null>;
  /** Names a row, so that sizes stay with it. */
  readonly keyOf: (index: number) => string | number;
};

type List = Virtualizer<HTMLElement, HTMLElement>;

/** The virtual list of a scrolled element. Rows that differ in height give themselves to `measureElement`. */
export function useVirtual({ count, size, scroll, keyOf }: VirtualOptions): List {
  const [, redraw] = useReducer((round: number) => round + 1, 0);
  const kept = useRef<List | null>(null);
  const options: ConstructorParameters<typeof Virtualizer<HTMLElement, HTMLElement>>[0] = {
    count,
    estimateSize: () => size,
    getScrollElement: () => scroll.current,
    getItemKey: keyOf,
    overscan: 6,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(0),
  };
  kept.current ??= new Virtualizer(options);
  const list = kept.current;
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), []);
  useLayoutEffect(() => list._willUpdate());
  useLayoutEffect(() => list.measure(), [size]);
  return list;
}
