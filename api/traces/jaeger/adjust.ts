/** What Jaeger's query service changes about the spans of a trace, and what it warns of (jaegertracing/jaeger, jaegerquery/internal/adjuster). */
import { resourceAttributes, type StoredSpan } from '../stored-span.ts';
import { goDuration } from './go-words.ts';

export type Adjusted = { readonly span: StoredSpan; readonly warnings: readonly string[] };
type Node = { readonly span: StoredSpan; readonly host: string; readonly children: Node[]; readonly warnings: string[] };

const CLIENT = 3;
const SERVER = 2;

/** What Jaeger 1.76 warns of where a parent is not in the trace; its version 3 has a sentence of its own. */
const invalidParent = (id: string): string => `invalid parent span IDs=${id}; skipping clock skew adjustment`;
export const missingParent = (id: string): string => `parent span ID=${id} is not in the trace; skipping clock skew adjustment`;

/** The spans of a whole trace with ids that are theirs alone, and with warnings. Clocks are not corrected, as in Jaeger by default. */
export function adjusted(spans: readonly StoredSpan[], withoutParent: (id: string) => string = invalidParent): readonly Adjusted[] {
  const nodes = withOwnIds(spans).map((span): Node => ({ span, host: hostOf(span), children: [], warnings: [] }));
  const byId = new Map<string, Node>();
  for (const node of nodes)
    if (byId.has(node.span.spanId)) node.warnings.push('duplicate span IDs; skipping clock skew adjustment');
    else byId.set(node.span.spanId, node);
  const roots: Node[] = [];
  for (const node of byId.values()) {
    const { parentId } = node.span;
    const parent = byId.get(parentId);
    if (parent === undefined) roots.push(node);
    else parent.children.push(node);
    if (parent === undefined && parentId !== '') node.warnings.push(withoutParent(parentId));
  }
  for (const root of roots) warnOfSkew(root);
  return nodes;
}

/** Zipkin's server has the id of its client: it gets one of its own, as the child of the client, and its children follow it. */
function withOwnIds(spans: readonly StoredSpan[]): readonly StoredSpan[] {
  const used = new Set(spans.map(({ spanId }) => spanId));
  const clients = new Set(spans.flatMap(({ spanId, kind }) => (kind === CLIENT ? [spanId] : [])));
  const own = new Map<string, string>();
  let last = 0n;
  const renamed = spans.map((span) => {
    if (span.kind !== SERVER || !clients.has(span.spanId)) return span;
    let id: string;
    do id = (last += 1n).toString(16).padStart(16, '0');
    while (used.has(id));
    own.set(span.spanId, id);
    return { ...span, parentId: span.spanId, spanId: id };
  });
  if (own.size === 0) return spans;
  return renamed.map((span) => {
    const parentId = own.get(span.parentId) ?? span.parentId;
    return parentId === span.spanId ? span : { ...span, parentId };
  });
}

/** Where a span was made: by the attributes of its resource. */
function hostOf(span: StoredSpan): string {
  const { pairs } = resourceAttributes(span);
  const value = (name: string): string | undefined => pairs.find(([own]) => own === name)?.[1];
  return value('host.id') ?? value('host.ip') ?? value('host.name') ?? '';
}

/** Warns of each span whose clock differs from that of its parent; without recursion, as a trace can be deep. */
function warnOfSkew(root: Node): void {
  const open: { readonly node: Node; readonly parent: Node | null; readonly host: string; readonly delta: bigint }[] = [
    { node: root, parent: null, host: root.host, delta: 0n },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent } = next;
    const isOther = parent !== null && (node.host !== next.host || node.host === '');
    const [host, delta] = isOther ? [node.host, skewOf(node.span, parent.span)] : [next.host, next.delta];
    if (delta !== 0n) node.warnings.push(`clock skew adjustment disabled; not applying calculated delta of ${goDuration(delta)}`);
    for (const child of node.children) open.push({ node: child, parent: node, host, delta });
  }
}

/** How much later a child would have to begin to lie within its parent. */
function skewOf(child: StoredSpan, parent: StoredSpan): bigint {
  if (child.duration > parent.duration) return child.time < parent.time ? parent.time - child.time : 0n;
  if (child.time >= parent.time && child.time + child.duration <= parent.time + parent.duration) return 0n;
  return parent.time + (parent.duration - child.duration) / 2n - child.time;
}
