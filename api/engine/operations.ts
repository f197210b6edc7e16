import { publishedSince } from '../live/alerts/published-since.ts';
import { backfill, openLive } from '../live/operations.ts';
import { selectFacets } from '../select/facets.ts';
import { selectHits } from '../select/hits.ts';
import { selectRows } from '../select/query.ts';
import type { Select } from '../select/select.ts';
import { selectStats, selectStatsRange } from '../select/stats.ts';
import { fieldNames, fieldValues, streamFieldNames, streamFieldValues, streamIds, streams } from '../select/values.ts';
import { alert, alerts } from '../search/alerts.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { explainSearch } from '../search/explain.ts';
import { dayCardinality } from '../search/day-cardinality.ts';
import { facets } from '../search/facets.ts';
import { previewDetector } from '../previews/detector-preview.ts';
import { previewRule } from '../previews/rule-preview.ts';
import { hits } from '../search/hits.ts';
import { incident, incidents } from '../search/incidents.ts';
import { listStreams } from '../search/list-streams.ts';
import { measures } from '../search/measures.ts';
import { diffPatterns } from '../query/patterns/diff-patterns.ts';
import { listPatterns } from '../query/patterns/list-patterns.ts';
import { showPattern } from '../query/patterns/show-pattern.ts';
import { projectPattern, projectPatterns, projectPatternsDiff } from '../search/project-patterns.ts';
import { search } from '../search/search.ts';
import { serviceCounts } from '../search/service-counts.ts';
import { LOGS } from '../../logsql/sql/logs-table.ts';
import { SPANS } from '../../logsql/sql/spans-table.ts';
import type { Table } from '../../logsql/base/table.ts';
import * as jaeger from '../traces/jaeger/operations.ts';
import { jaegerCalls, jaegerErrors, jaegerLatencies, jaegerMinStep } from '../traces/jaeger/metrics.ts';
import { dependenciesV3, traceSummariesV3 } from '../traces/jaeger/summaries.ts';
import { findTracesV3, operationsV3, showTraceV3 } from '../traces/jaeger/v3.ts';
import { cardinality } from '../metrics/cardinality.ts';
import { promqlExemplars } from '../prometheus/exemplars.ts';
import {
  promqlFormat,
  promqlParse,
  promqlLabels,
  promqlLabelValues,
  promqlMetadata,
  promqlQuery,
  promqlSeries,
} from '../prometheus/operations.ts';
import { evaluateRule } from '../prometheus/evaluate-rule.ts';
import { promqlAlerts, promqlRules } from '../prometheus/rule-states.ts';
import { previewWatch } from '../prometheus/watch-preview.ts';
import { sessionEvents } from '../replay/events.ts';
import { sessionLogs, sessionTraces } from '../replay/session-parts.ts';
import { findSession, listSessions, showSession } from '../replay/sessions.ts';
import { listTraces } from '../traces/list-traces.ts';
import { operations, services } from '../traces/services.ts';
import { serviceMap } from '../traces/service-map.ts';
import { showTrace } from '../traces/show-trace.ts';
import { traceLogs } from '../traces/trace-logs.ts';

/** An operation of the engine. A string is the answer as JSON. */
type Operation = (parameters: never, request: Request, deps: Deps) => Promise<string | EngineAnswer>;

/** An operation of VictoriaLogs' read API, whose arguments come as names and values, or as the string of a URL's query. */
const select =
  (work: Select): Operation =>
  (given: string | [string, string][], request, deps) =>
    work(new URLSearchParams(given), request, deps);

/** An operation that is another one for a key of a project. */
const narrowed =
  (ofProject: Operation, whole: Operation): Operation =>
  (parameters, request, deps) =>
    (request.narrowedTo === null ? whole : ofProject)(parameters, request, deps);

/** The table that an operation looks at. */
export const tableOf = (operation: string): Table => (operation.startsWith('spans/') ? SPANS : LOGS);

/** Every operation by its name: those of our own API, and those of VictoriaLogs' read API by their paths. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['search', search],
  ['explain', explainSearch],
  ['hits', hits],
  ['facets', facets],
  ['spans/search', search],
  ['spans/explain', explainSearch],
  ['spans/hits', hits],
  ['spans/facets', facets],
  ['streams', listStreams],
  ['measures', measures],
  ['usage/services', serviceCounts],
  ['usage/cardinality', dayCardinality],
  ['patterns', narrowed(projectPatterns, listPatterns)],
  ['patterns/diff', narrowed(projectPatternsDiff, diffPatterns)],
  ['pattern', narrowed(projectPattern, showPattern)],
  ['alerts', alerts],
  ['alert', alert],
  ['incidents', incidents],
  ['incident', incident],
  ['rules/preview', previewRule],
  ['spans/rules-preview', previewRule],
  ['detectors/preview', previewDetector],
  ['metric-rules/preview', previewWatch],
  ['traces/list', listTraces],
  ['traces/show', showTrace],
  ['traces/logs', traceLogs],
  ['traces/services', services],
  ['traces/operations', operations],
  ['traces/service-map', serviceMap],
  ['replay/sessions', listSessions],
  ['replay/session', showSession],
  ['replay/events', sessionEvents],
  ['replay/logs', sessionLogs],
  ['replay/traces', sessionTraces],
  ['replay/find', findSession],
  ['metrics/cardinality', cardinality],
  ['prometheus/query', promqlQuery],
  ['prometheus/series', promqlSeries],
  ['prometheus/labels', promqlLabels],
  ['prometheus/label-values', promqlLabelValues],
  ['prometheus/metadata', promqlMetadata],
  ['prometheus/exemplars', promqlExemplars],
  ['prometheus/format', promqlFormat],
  ['prometheus/parse', promqlParse],
  ['prometheus/rule', evaluateRule],
  ['prometheus/rules', promqlRules],
  ['prometheus/alerts', promqlAlerts],
  ['jaeger/services', jaeger.jaegerServices],
  ['jaeger/operation-names', jaeger.jaegerOperationNames],
  ['jaeger/operations', jaeger.jaegerOperations],
  ['jaeger/traces', jaeger.jaegerTraces],
  ['jaeger/trace', jaeger.jaegerTrace],
  ['jaeger/dependencies', jaeger.jaegerDependencies],
  ['jaeger/metrics/latencies', jaegerLatencies],
  ['jaeger/metrics/calls', jaegerCalls],
  ['jaeger/metrics/errors', jaegerErrors],
  ['jaeger/metrics/minstep', jaegerMinStep],
  ['jaeger/v3/services', jaeger.servicesV3],
  ['jaeger/v3/operations', operationsV3],
  ['jaeger/v3/traces', findTracesV3],
  ['jaeger/v3/trace', showTraceV3],
  ['jaeger/v3/trace-summaries', traceSummariesV3],
  ['jaeger/v3/dependencies', dependenciesV3],
  ['live/open', openLive],
  ['live/backfill', backfill],
  ['live/alerts', publishedSince],
  ['select/query', select(selectRows)],
  ['select/hits', select(selectHits)],
  ['select/facets', select(selectFacets)],
  ['select/stats_query', select(selectStats)],
  ['select/stats_query_range', select(selectStatsRange)],
  ['select/field_names', select(fieldNames)],
  ['select/field_values', select(fieldValues)],
  ['select/stream_field_names', select(streamFieldNames)],
  ['select/stream_field_values', select(streamFieldValues)],
  ['select/streams', select(streams)],
  ['select/stream_ids', select(streamIds)],
]);
