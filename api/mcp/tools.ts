/** A tool of the MCP server: an operation of the API under a name that a model understands. */
export type Tool = {
  readonly name: string;
  /** The `id` of the operation that answers it; its parameters are the tool's. */
  readonly operation: string;
  /** When to use it; the summary of the operation stands before it. */
  readonly description: string;
  /** Parameters that the tool sets itself. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Where the API's default would be much to read. */
  readonly defaults?: Readonly<Record<string, string | number>>;
};

/** Rows of a tool that does not get a number. */
const FEW = 50;

const LOGS: readonly Tool[] = [
  {
    ...{ name: 'search_logs', operation: 'searchEntries', fixed: { explain: 'false' }, defaults: { limit: FEW } },
    description:
      'LogsQL, as VictoriaLogs has it: `service:payments level:error`, `"exact phrase"`, `field:=value`, `_time:15m`, and pipes such as `| stats by (version) count() n`. Begin with a count or a pipe, then read few entries. The next page is `before` = `oldest_time`.',
  },
  {
    ...{ name: 'explain_query', operation: 'searchEntries', fixed: { explain: 'true' } },
    description: 'Shows how a LogsQL query would run, and reads nothing; an error names the place where the query is wrong.',
  },
  { name: 'count_logs', operation: 'countEntries', description: 'A time line; `fields_by` splits it by fields, such as `level`.' },
  { name: 'list_facets', operation: 'listFacets', description: 'What is common to the entries that match: begin here for a cause.', defaults: { limit: 10 } }, // prettier-ignore
  { name: 'list_streams', operation: 'listStreams', description: 'Which services and hosts send.' },
];

const PATTERNS: readonly Tool[] = [
  { name: 'list_patterns', operation: 'listPatterns', description: 'Start here when you do not know what the logs are like.' },
  { name: 'get_pattern', operation: 'getPattern', description: 'The history of one pattern, by its fingerprint.' },
  { name: 'diff_patterns', operation: 'diffPatterns', description: 'What is new or more frequent in a window than in another one: a sign of what changed.' }, // prettier-ignore
];

const ALERTS: readonly Tool[] = [
  { name: 'list_alerts', operation: 'listAlerts', description: 'The evidence of an alert names fields that differ (`why`).', defaults: { limit: 20 } }, // prettier-ignore
  { name: 'get_alert', operation: 'getAlert', description: '' },
  { name: 'list_incidents', operation: 'listIncidents', description: 'Begin here when something is wrong.', defaults: { limit: 10 } },
  { name: 'get_incident', operation: 'getIncident', description: 'With all of its alerts.' },
  { name: 'list_playbooks', operation: 'listPlaybooks', description: 'An alert names those that fit it.', defaults: { limit: 20 } },
  { name: 'get_playbook', operation: 'getPlaybook', description: 'Read it before you advise on an alert that names it.' },
  { name: 'resolve_alert', operation: 'resolveAlert', description: 'Only at the request of the user.' },
];

const TRACES: readonly Tool[] = [
  { name: 'search_spans', operation: 'searchSpans', fixed: { explain: 'false' }, defaults: { limit: FEW }, description: 'LogsQL over fields of spans.' }, // prettier-ignore
  { name: 'list_traces', operation: 'listTraces', description: 'Filters by service, operation, status and duration.', defaults: { limit: 20 } }, // prettier-ignore
  { name: 'get_trace', operation: 'getTrace', description: 'All of its spans.' },
  { name: 'trace_logs', operation: 'searchTraceLogs', description: 'What services logged for one request.', defaults: { limit: FEW } },
  { name: 'list_services', operation: 'listServices', description: 'Rates, errors and latencies.' },
  { name: 'service_map', operation: 'getServiceMap', description: 'Who calls whom, and how often that fails.' },
];

const METRICS: readonly Tool[] = [
  { name: 'promql', operation: 'promQuery', description: 'One value for each series.' },
  { name: 'promql_range', operation: 'promQueryRange', description: 'Choose a step that makes at most some hundred points.' },
  { name: 'metric_labels', operation: 'promLabels', description: '' },
  { name: 'metric_label_values', operation: 'promLabelValues', description: 'Of `__name__`: the names of metrics.', defaults: { limit: 200 } }, // prettier-ignore
  { name: 'metric_metadata', operation: 'promMetadata', description: '', defaults: { limit: 100 } },
];

const SESSIONS: readonly Tool[] = [
  { name: 'list_sessions', operation: 'listSessions', description: 'Whose pages had errors.', defaults: { limit: 20 } },
  { name: 'get_session', operation: 'getSession', description: '' },
  { name: 'session_logs', operation: 'searchSessionLogs', description: '', defaults: { limit: FEW } },
  { name: 'session_traces', operation: 'listSessionTraces', description: '', defaults: { limit: 20 } },
];

/** Every tool, in the order of the list. */
export const TOOLS: readonly Tool[] = [...LOGS, ...PATTERNS, ...ALERTS, ...TRACES, ...METRICS, ...SESSIONS];
