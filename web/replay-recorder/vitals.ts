/** How quick a page is: loading, largest paint, layout shifts, and the slowest interaction (https://web.dev/articles/vitals). */

export type Vitals = Partial<Record<'ttfb_ms' | 'fcp_ms' | 'lcp_ms' | 'inp_ms' | 'cls', number>>;

type Shift = PerformanceEntry & { readonly value: number; readonly hadRecentInput: boolean };
type Interaction = PerformanceEntry & { readonly interactionId?: number };

/** Collects them from now on; what it returns gives what is known so far. */
export function watchVitals(): () => Vitals {
  const vitals: Vitals = {};
  const observe = (type: string, take: (entry: PerformanceEntry) => void, more: object = {}): void => {
    try {
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) take(entry);
      }).observe({ type, buffered: true, ...more });
    } catch {
      // this browser does not measure it
    }
  };
  observe('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') vitals.fcp_ms = Math.round(startTime);
  });
  observe('largest-contentful-paint', ({ startTime }) => {
    vitals.lcp_ms = Math.round(startTime);
  });
  observe('layout-shift', (entry) => {
    const { value, hadRecentInput } = entry as Shift;
    if (!hadRecentInput) vitals.cls = Math.round(((vitals.cls ?? 0) + value) * 10_000) / 10_000;
  });
  observe(
    'event',
    (entry) => {
      if (((entry as Interaction).interactionId ?? 0) > 0) vitals.inp_ms = Math.max(vitals.inp_ms ?? 0, Math.round(entry.duration));
    },
    { durationThreshold: 40 },
  );
  return () => {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return navigation === undefined ? vitals : { ttfb_ms: Math.round(navigation.responseStart), ...vitals };
  };
}
