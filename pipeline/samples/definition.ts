import { readJson } from '../core/read-json.ts';

/** Labels in the order of their names, each once. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** Kinds of metrics, as Prometheus names them, in the order of remote write's numbers. */
export const KINDS = ['unknown', 'counter', 'gauge', 'histogram', 'gaugehistogram', 'summary', 'info', 'stateset'] as const;
export type Kind = (typeof KINDS)[number];

/** What a sender knows of a metric. `isDelta`: its samples are what was added since the one before. */
export type MetricFacts = { readonly kind: Kind; readonly unit: string; readonly help: string; readonly isDelta: boolean };

/** The label that names a metric. */
export const NAME = '__name__';

/** The canonical text of a label set, of which its id is the hash: a JSON object of strings in the order of the names. */
export const labelsText = (labels: Labels): string =>
  `{${labels.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;

/** The canonical text of what is known of a metric, which is named where no labels do; empty for nothing. */
export function factsText({ kind, unit, help, isDelta }: MetricFacts, metric = ''): string {
  const members = [
    ...(metric === '' ? [] : [`"metric":${JSON.stringify(metric)}`]),
    ...(kind === 'unknown' ? [] : [`"kind":${JSON.stringify(kind)}`]),
    ...(isDelta ? ['"delta":true'] : []),
    ...(unit === '' ? [] : [`"unit":${JSON.stringify(unit)}`]),
    ...(help === '' ? [] : [`"help":${JSON.stringify(help)}`]),
  ];
  return members.length === 0 ? '' : `{${members.join(',')}}`;
}

/**
 * A definition: the labels in one line and, where something is known of the metric, that in a second. JSON has no line feeds of its own. Of
 * metadata alone the labels are empty.
 */
export const definitionText = (labels: string, facts: string): string => (facts === '' ? labels : `${labels}\n${facts}`);

/** What a definition says: no labels for metadata alone. Null for one that no writer of ours made. */
export function readDefinition(text: string): { readonly labels: Labels; readonly facts: MetricFacts; readonly metric: string } | null {
  const [first = '', second = '{}', ...more] = text.split('\n');
  const [labels, facts] = [objectOf(first), objectOf(second)];
  if (labels === null || facts === null || more.length > 0) return null;
  const pairs = Object.entries(labels);
  if (!pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string')) return null;
  const { kind, delta } = facts;
  const textOf = (name: string): string => (typeof facts[name] === 'string' ? facts[name] : '');
  return {
    labels: pairs,
    facts: {
      kind: KINDS.find((known) => known === kind) ?? 'unknown',
      ...{ unit: textOf('unit'), help: textOf('help'), isDelta: delta === true },
    },
    metric: pairs.find(([name]) => name === NAME)?.[1] ?? textOf('metric'),
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = readJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
