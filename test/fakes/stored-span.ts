import type { StoredSpan } from '../../api/traces/stored-span.ts';
import { spanId, SPANS_AT, traceId } from './stored-spans.ts';

/** A span as it is read, with defaults. */
export const storedSpan = (given: Partial<StoredSpan> = {}): StoredSpan => ({
  ...{ traceId: traceId(1), spanId: spanId(1), parentId: '', time: SPANS_AT, duration: 1_500_000n, service: 'web', name: 'GET /' },
  ...{ kind: 2, status: 0, statusMessage: '', traceState: '', flags: 0, scope: '', scopeVersion: '', context: '' },
  ...{ resource: '{"service.name":"web"}', resourceTypes: 's', attributes: { pairs: [], types: '' }, events: '', links: '' },
  ...{ droppedAttributes: 0, droppedEvents: 0, droppedLinks: 0, place: '' },
  ...given,
});
