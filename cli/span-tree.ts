/** A span as the service shows it, with what a line takes of it. Times and durations are nanoseconds. */
export type ShownSpan = {
  readonly id: string;
  /** Empty for none. */
  readonly parentId: string;
  readonly service: string;
  readonly name: string;
  /** As OTLP numbers it. */
  readonly kind: number;
  readonly start: bigint;
  readonly duration: bigint;
  readonly isError: boolean;
  readonly message: string;
};

/** A span in its tree. `note`: why it stands at the top although it has a parent. */
export type Placed = { readonly span: ShownSpan; readonly depth: number; readonly note: string };

type Attribute = { readonly key: string; readonly value?: { readonly stringValue?: string } };
type OtlpSpan = {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly kind?: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number; readonly message?: string };
};
type Otlp = {
  readonly resourceSpans: readonly {
    readonly resource?: { readonly attributes?: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
};

const CLIENT = 3;

/** The spans of a trace in OTLP's JSON. */
export const spansOf = (json: string): ShownSpan[] =>
  (JSON.parse(json) as Otlp).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource?.attributes?.find(({ key }) => key === 'service.name')?.value?.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => shownOf(span, service)));
  });

function shownOf(span: OtlpSpan, service: string): ShownSpan {
  const start = BigInt(span.startTimeUnixNano);
  return {
    ...{ id: span.spanId, parentId: span.parentSpanId ?? '', service, name: span.name ?? '', kind: span.kind ?? 0, start },
    ...{ duration: BigInt(span.endTimeUnixNano) - start, isError: span.status?.code === 2, message: span.status?.message ?? '' },
  };
}

/**
 * The spans in the order of their tree, each once: children by time behind their parents. One whose parent is not there is at the top, and so
 * is the first one of those whose parents go in a circle.
 */
export function placedSpans(given: readonly ShownSpan[]): Placed[] {
  const spans = [...given].sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  const parents = parentsOf(spans);
  const children = new Map<ShownSpan, ShownSpan[]>();
  for (const span of spans) {
    const parent = parents.get(span);
    const below = parent === undefined ? [] : (children.get(parent) ?? []);
    below.push(span);
    if (parent !== undefined) children.set(parent, below);
  }
  const placed = new Map<ShownSpan, Placed>();
  const place = (top: ShownSpan, note: string): void => {
    const open: Placed[] = [{ span: top, depth: 0, note }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (placed.has(next.span)) continue;
      placed.set(next.span, next);
      const { depth } = next;
      for (const span of (children.get(next.span) ?? []).toReversed()) open.push({ span, depth: depth + 1, note: '' });
    }
  };
  for (const span of spans) if (!parents.has(span)) place(span, span.parentId === '' ? '' : `its parent ${span.parentId} is not there`);
  for (const span of spans) if (!placed.has(span)) place(span, 'its parents go in a circle');
  return [...placed.values()];
}

/** The parent of each span that has one. A server may share the id of its client, and is then below it; what is below both is the server's. */
function parentsOf(spans: readonly ShownSpan[]): Map<ShownSpan, ShownSpan> {
  const clients = new Map<string, ShownSpan>();
  const others = new Map<string, ShownSpan>();
  for (const span of spans) (span.kind === CLIENT ? clients : others).set(span.id, span);
  const parents = new Map<ShownSpan, ShownSpan>();
  for (const span of spans) {
    const client = clients.get(span.id);
    const parent = client !== undefined && client !== span ? client : (others.get(span.parentId) ?? clients.get(span.parentId));
    if (parent !== undefined) parents.set(span, parent);
  }
  return parents;
}
