/** Sections 1 and 2 of the interface: conventions, resources and their members. */
import { of, row, type Section } from './row.ts';

const document = of('api/openapi/document.test.ts');
const journey = of('e2e/instance/journey.e2e.test.ts');
const alerts = of('e2e/store/long/alerts-query.e2e.test.ts');
const patterns = of('e2e/store/patterns-query.e2e.test.ts');
const queries = of('e2e/store/query.e2e.test.ts');
const required = of('api/query/required-members.test.ts');
const host = of('api/http/host.test.ts');
const everyError = of('api/http/every-error.test.ts');
const window = of('api/query/window.test.ts');
const facets = of('e2e/store/long/facets.e2e.test.ts');
const canonical = of('pipeline/logs/canonical.test.ts');
const loki = of('pipeline/normalizers/loki.test.ts');
const bulk = of('pipeline/normalizers/es-bulk.test.ts');
const book = of('pipeline/alerting/book/alerts.test.ts');

const lastOfEach = alerts('gives the last word on each alert, with why it has come, newest first');
const shownPattern = patterns('shows a pattern with its template, its fingerprint, an example, times, level and streams');
const bare = queries('an entry has every member that a LogEntry must have, whatever else it lacks, however it is found');

// prettier-ignore
export const RESOURCES: readonly Section[] = [
  {
    document: 'interface.md', heading: 'Log Observability Service: Interface Specification', rows: [
      row('`{base_url}` is the app host', 'Which rules for credentials apply depends on the path, not on the host.', of('api/http/host-lists.test.ts')('the rules of a credential follow the path, not the host')),
    ],
    remarks: [{ line: 'This document covers the whole interface', reason: 'what the document is' }],
  },
  {
    document: 'interface.md', heading: '1. What the service does', rows: [
      row('lets clients search them.', 'Entries are stored for each tenant, which can search them.', journey('finds what was sent as JSON, field by field')),
      row('It accepts logs in several wire formats', 'Logs are taken as Elasticsearch bulk, Loki push, OTLP over HTTP, syslog over HTTP and JSON.', of('e2e/instance/lossless.e2e.test.ts')('what was accepted comes back as it was')),
      row('session replay and other shipper formats', 'Traces, metrics and session replay are taken too.', of('e2e/failures/spans.e2e.test.ts')('are taken on both hosts, in both encodings and compressed, and stored as they were sent'), of('e2e/failures/samples.e2e.test.ts')('come back bit for bit, in the order of time'), of('e2e/instance/replay.e2e.test.ts')('is taken on both hosts, read as a session and as events, each batch once')),
      row('session replay and other shipper formats', 'What real shippers send is taken.', of('e2e/instance/wire.e2e.test.ts')('what each client logged is found, and its probes are answered')),
      row('volume histograms, field facets and stream listing', 'There are search, histograms, facets and streams.', journey('counts, groups and lists streams'), facets('answers the conformance cases')),
      row('It produces alerts from detectors', 'Detectors produce alerts, which can be listed, read and resolved.', of('e2e/detection/alerts.e2e.test.ts')('fire where a stream leaves its own past, once each, with evidence'), alerts('resolves one alert with a note, for those who may')),
      row('It produces pattern clusters', 'Messages are grouped under a stable fingerprint of their template.', of('e2e/detection/patterns.e2e.test.ts')('are counted whatever is killed, lead to their entries, and enrich errors')),
      row('It streams live log entries and alert updates', 'Entries and alerts are streamed over WebSockets.', of('e2e/instance/live.e2e.test.ts')('send what matches, once, exactly as search gives it'), of('e2e/instance/live.e2e.test.ts')('of alerts: fires and resolutions')),
      row('Access is by tenant-scoped API key', 'A tenant has a number, and its keys are those of no other.', of('api/control/accounts.test.ts')('ids go up from 1, keys are found by their secret alone'), journey('keeps tenants apart, and says what is wrong')),
      row('A health check exists without authentication', 'There are two planes, and a health check without a key.', of('api/auth/matrix.test.ts')('covers the planes: every path asks for a key, except /health')),
    ],
  },
  {
    document: 'interface.md', heading: 'Conventions', rows: [
      row('Timestamps are ISO 8601 UTC', 'Times in answers are ISO 8601 in UTC.', of('api/query/render.test.ts')('shows the time ${time} as ${shown}, in its place'), of('pipeline/core/time.test.ts')('prints what it reads, to the nanosecond')),
      row('also accept relative durations', '`start` and `end` take relative durations and `now`.', window('take relative, ISO and Unix times; the end includes its last unit')),
      row('also accept relative durations', '`since` takes relative durations too.', patterns('takes windows of any length'), alerts('narrows down by state, severity, detector, service and time')),
      row('Every error response carries an `X-Request-Id`', 'Every error carries the header `X-Request-Id`.', everyError('${String(status)}: ${name}')),
      row('Clients page by adding `limit` to `offset`', 'Lists have `items`, `total`, `limit`, `offset` and `has_more`, and adding `limit` to `offset` until `has_more` is false gives all.', alerts('pages by limit and offset')),
    ],
  },
  {
    document: 'interface.md', heading: '2. Resources and their fields', rows: [],
  },
  {
    document: 'interface.md', heading: 'Tenant', rows: [
      row('`tenant_id`: integer, minimum 1', '`tenant_id` is an integer from 1 on.', of('api/auth/authenticate.test.ts')('tenant_id ${JSON.stringify(tenant)}: 400')),
      row('`tenant_id`: integer, minimum 1', 'It is the tenant of the key.', of('api/auth/authenticate.test.ts')('tenant_id of another tenant: 403, before the scope is looked at')),
    ],
  },
  {
    document: 'interface.md', heading: 'LogEntry (schemaless, extra fields allowed)', rows: [
      row('| `_time` | string, date-time | yes', 'Every entry has `_time`.', bare, required('has every required member, whatever JSON and syslog bring')),
      row('| `_msg` | string | yes', 'Every entry has `_msg`, a string.', bare, required('has every required member, whatever lines Loki pushes')),
      row('| `_stream` | string | always present', 'Every entry has `_stream`, its labels in braces.', bare, of('pipeline/core/core.test.ts')('are sorted, escaped, and without empty ones')),
      row('| `level` | string | no', '`level` is what the producer sent, where it sent one.', canonical('keeps the level as sent'), journey('finds what was sent as JSON, field by field')),
      row('| `service` | string | no', '`service` is what the producer sent, where it sent one.', journey('finds what was sent as JSON, field by field')),
      row('| other fields | any', 'Whatever else the producer sent is a field of the entry.', journey('finds what was sent as JSON, field by field'), journey('keeps text as it was sent')),
    ],
  },
  {
    document: 'interface.md', heading: 'StreamInfo', rows: [
      row('| `id` | string', 'The `id` of a stream has the form of `_stream`.', journey('counts, groups and lists streams')),
      row('| `hits` | integer', '`hits` is the count in the window.', journey('counts, groups and lists streams'), queries('answers the conformance cases of hits, streams and field values')),
      row('A stream is one unique log source', 'A stream is identified by its full set of labels.', of('pipeline/logs/streams.test.ts')('is that of its labels, however their values are written, and its id is XXH64 of the text')),
    ],
  },
  {
    document: 'interface.md', heading: 'HitsBucket', rows: [
      row('| `time` | string, date-time | bucket start', '`time` is the start of a bucket.', queries('counts hits in steps of UTC, with zeroes between, grouped without')),
      row('| `hits` | integer, >= 0', '`hits` of a bucket is an integer from 0 on.', queries('counts hits in steps of UTC, with zeroes between, grouped without')),
      row('| `stream` | string or null', '`stream` is there where hits are grouped by `_stream`.', queries('counts hits in steps of UTC, with zeroes between, grouped without'), journey('counts, groups and lists streams')),
      row('Extra properties are allowed', 'Other fields of the grouping are there under their names.', queries('counts hits in steps of UTC, with zeroes between, grouped without')),
    ],
  },
  {
    document: 'interface.md', heading: 'FacetValue', rows: [
      row('`value`: string; `hits`: integer', 'A value of a facet has `value` and `hits`.', facets('keeps level, service and _stream whatever they hold')),
    ],
  },
  {
    document: 'interface.md', heading: 'Alert', rows: [
      row('| `id` | integer', 'An alert has an integer as `id`.', lastOfEach, book('is a positive integer below 2^53, and the same for the same parts alone')),
      row('| `detector_type` | string', '`detector_type` names the detector; one is `log_rate`.', lastOfEach),
      row('| `stream` | string', '`stream` is the label set of the stream.', lastOfEach),
      row('| `severity` | string', '`severity` is `info`, `warning` or `critical`.', lastOfEach, alerts('refuses what is no parameter of it'), book('are refused where the value is cut off, longer, or says what cannot be')),
      row('| `title` | string', 'An alert has a title.', lastOfEach),
      row('| `description` | string', 'An alert has a description.', lastOfEach),
      row('| `evidence` | object', 'Evidence is an object with score, current value, mean and samples.', lastOfEach, of('pipeline/alerting/streams/alerting.test.ts')('tells errors of a stream as an alert with its evidence'), of('api/alerts/messages.test.ts')('are shown once of each template, and counted by it')),
      row('| `state` | string', '`state` is `firing` or `resolved`.', lastOfEach),
      row('| `fired_at` | date-time', 'An alert has the time when it fired.', lastOfEach),
      row('| `fire_count` | integer', '`fire_count` counts how often it fired.', lastOfEach, of('pipeline/alerting/streams/alerting.test.ts')('raises its fire count, and resolves it when it is over')),
      row('| `resolved_at` | date-time or null', '`resolved_at` is a time, or null while it fires.', lastOfEach, alerts('resolves one alert with a note, for those who may')),
      row('| `last_updated_at` | date-time or null', '`last_updated_at` is the time of the latest change.', lastOfEach),
      row('| `resolution_note` | string or null', '`resolution_note` is the note of the resolution, or null.', lastOfEach, alerts('resolves one alert with a note, for those who may')),
      row('| `incident_id` | integer or null', '`incident_id` is the incident of the alert, or null.', lastOfEach, alerts('lists what fired together as incidents, with their alerts, to those whose they are')),
    ],
  },
  {
    document: 'interface.md', heading: 'Pattern', rows: [
      row('| `fingerprint` | string', '`fingerprint` is the SHA-256 of the template in hexadecimal.', shownPattern),
      row('| `fingerprint` | string', 'The same template always has the same fingerprint.', of('pipeline/clusterer/shapes.test.ts')('are the same in any order, in any process, with a memory of any size')),
      row('| `normalized_message` | string', 'Numbers, addresses and ids are placeholders in `normalized_message`.', shownPattern, of('pipeline/clusterer/masker.test.ts')('make ${JSON.stringify(template)} of ${JSON.stringify(message)}')),
      row('| `example_raw_message` | string', '`example_raw_message` is a message that matches.', shownPattern),
      row('| `first_seen` | date-time', '`first_seen` is when the pattern came first.', shownPattern),
      row('| `last_seen` | date-time', '`last_seen` is when the pattern came last.', shownPattern),
      row('| `count` | integer', '`count` is the number of entries.', patterns('counts as the entries themselves are counted by their column')),
      row('| `streams` | array of string', '`streams` has the streams where the pattern appeared.', shownPattern),
    ],
  },
  {
    document: 'interface.md', heading: 'Response envelopes', rows: [
      row('| HealthResponse |', '`/health` answers exactly `{"status":"ok"}`.', host('GET /health needs no key and says ok')),
      row('| ErrorResponse |', 'An error has `detail` and `request_id`, which is that of the header.', host('the three renderers'), everyError('${String(status)}: ${name}')),
      row('| IngestAck |', 'Bulk answers `took`, `errors` and `items`, which are empty where nothing was rejected.', bulk('answers with an empty list in the order of keys that clients look for')),
      row('| IngestAck |', '`errors` is true where any entry was rejected, and `items` has the status of each.', bulk('rejects bad documents one by one, in order, and keeps the others')),
      row('| SearchResponse |', 'Search answers `logs`, `count`, `elapsed_ms`, `has_more` and `oldest_time`, which may be null.', queries('answers with entries, and with the rows of pipes')),
      row('| HitsResponse |', 'Hits are in `hits`.', queries('counts hits in steps of UTC, with zeroes between, grouped without')),
      row('| FacetsResponse |', 'Facets are lists by field, and `truncated_fields` counts those left out by the cap.', facets('cuts the fields with the fewest hits, and counts them')),
      row('| StreamsResponse |', 'Streams are in `streams`.', journey('counts, groups and lists streams')),
      row('| PaginatedAlerts |', 'Alerts come with `items`, `total`, `limit`, `offset` and `has_more`.', alerts('pages by limit and offset')),
      row('| PatternsResponse |', 'Patterns come with `patterns` and `has_more`.', patterns('sorts, pages, searches and narrows down to a service')),
      row('| PatternsResponse |', 'Every answer of every end-to-end test is checked against the description of the API.', document('an answer that is checked against the description')),
    ],
  },
  {
    document: 'interface.md', heading: 'Loki push body', rows: [
      row('`streams`: array (required) of objects', 'A push has streams of labels and of pairs of nanoseconds and line.', loki('keeps the order and the times of many lines')),
      row('`streams`: array (required) of objects', 'A push without `streams`, `stream` or `values` is a 400.', loki('refuses a body without streams'), loki('refuses a stream without labels'), loki('refuses a stream without values')),
    ],
  },
  {
    document: 'interface.md', heading: 'Gaps', rows: [],
    remarks: [
      { line: 'Fields of the objects accepted by the generic', reason: 'not shown; decided under Entries' },
      { line: 'Records behind other account features', reason: 'not shown; decided under Plans, limits, gates' },
    ],
  },
];
