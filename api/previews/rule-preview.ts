import { setImmediate } from 'node:timers/promises';
import { freeName } from '../../logsql/base/arguments.ts';
import { StatsPipe } from '../../logsql/pipes/stats.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { RuleGroup } from '../../pipeline/alerting/rules/rule-group.ts';
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';
import type { Json } from '../../pipeline/core/setting.ts';
import type { Finding } from '../../pipeline/detectors/detector.ts';
import { alertsOf } from '../../pipeline/detectors/replayed.ts';
import { valueOfNothing } from '../../pipeline/processors/rules/aggregate.ts';
import { customDetectorOf } from '../../pipeline/processors/rules/condition.ts';
import { compileRule, type CompiledRule } from '../../pipeline/processors/rules/rule.ts';
import type { Deps, Request } from '../query/deps.ts';
import { short, SHOWN_MINUTES, shownAlert, within } from './answer.ts';
import { historyOf, isoOf, minutesBefore, type Group, type Minutes } from './history.ts';

/** Groups of a rule that are replayed: those with the most entries. */
const MOST_PREVIEWED_GROUPS = 20;
/** Windows that a detector of values looks at before it may fire, and how far back it is taught at most. Minutes of the latter. */
const TAUGHT_WINDOWS = 110;
const TAUGHT_MINUTES = 24 * 60;

/** `POST /rules/preview`: what a rule would have fired in the last 24 hours, by what is stored. */
export async function previewRule({ rule }: { readonly rule: Json }, request: Request, deps: Deps): Promise<string> {
  const compiled = compileRule(rule);
  if (typeof compiled === 'string') throw invalidBody(compiled);
  const custom = customDetectorOf(compiled.when);
  if (custom !== null)
    throw invalidBody(`The condition names ${JSON.stringify(custom)}, a detector of your own: what it would find is not known here.`);
  const { minutes: step, by } = compiled;
  const before = compiled.when.kind === 'detector' ? Math.max(TAUGHT_MINUTES, TAUGHT_WINDOWS * step) : compiled.rule.for * step;
  const minutes = minutesBefore(deps.now(), SHOWN_MINUTES + Math.ceil(before / step) * step, step, request.retentionDays);
  const shownFrom = Math.max(minutes.from, minutes.to - SHOWN_MINUTES);
  const wanted = { filter: compiled.filter, by, most: MOST_PREVIEWED_GROUPS, calls: callsOf(compiled), minutes, step };
  const { groups, hasMore } = await historyOf(wanted, request, deps);
  const series: ReturnType<typeof replayed>[] = [];
  for (const group of groups) {
    // others of this process have their turn
    await setImmediate();
    request.signal.throwIfAborted();
    series.push(replayed(compiled, group, minutes, shownFrom));
  }
  return JSON.stringify({
    window: { start: isoOf(shownFrom), end: isoOf(minutes.to) },
    every: compiled.rule.every,
    fired: series.reduce((sum, { alerts }) => sum + alerts.length, 0),
    has_more_groups: hasMore,
    series,
  });
}

/** The rule's own function as `value`, and how many entries matched. */
function callsOf({ rule, by }: CompiledRule): StatsPipe['calls'] {
  const [own] = parseQuery(rule.query, { now: 0n }).pipes;
  const [count] = parseQuery('* | stats count() as entries', { now: 0n }).pipes;
  const [call] = own instanceof StatsPipe ? own.calls : [];
  const [entries] = count instanceof StatsPipe ? count.calls : [];
  if (call === undefined || entries === undefined) throw new Error('BUG: a rule without its function.');
  const names = namesOf(by);
  return [
    { ...call, name: names.value },
    { ...entries, name: names.entries },
  ];
}

/** Names that no group has. */
const namesOf = (by: readonly string[]) => ({ value: freeName('value', by), entries: freeName('entries', by) });

function numberOf(row: LogEntry | undefined, name: string): number | null {
  const text = row === undefined ? '' : textOf(row.get(name));
  return text === '' || !Number.isFinite(Number(text)) ? null : Number(text);
}

function replayed(compiled: CompiledRule, { labels, rows }: Group, { from, to }: Minutes, shownFrom: number) {
  const { minutes: step, by, measure } = compiled;
  const names = namesOf(by);
  const group = new RuleGroup(compiled, labels, from);
  const findings: Finding[] = [];
  const values: (number | null)[] = [];
  for (let start = from; start < to; start += step) {
    const row = rows.get(start);
    const value = row === undefined ? valueOfNothing(measure) : numberOf(row, names.value);
    const found = group.close(compiled, { start, value, entries: numberOf(row, names.entries) ?? 0 }, 0);
    if (found !== null) findings.push(found);
    if (start >= shownFrom) values.push(short(value));
  }
  return {
    labels: Object.fromEntries(by.map((name, at) => [name, labels[at] ?? ''])),
    values,
    alerts: within(alertsOf(findings), shownFrom).map(shownAlert),
  };
}
