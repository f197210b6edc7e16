/** Sections 3 and 4 of the interface: states, and endpoints. */
import { of, row, type Section } from './row.ts';

const journey = of('e2e/instance/journey.e2e.test.ts');
const alerts = of('e2e/store/long/alerts-query.e2e.test.ts');
const patterns = of('e2e/store/patterns-query.e2e.test.ts');
const queries = of('e2e/store/query.e2e.test.ts');
const facets = of('e2e/store/long/facets.e2e.test.ts');
const parameters = of('api/query/parameters.test.ts');
const times = of('api/query/time-parameters.test.ts');
const window = of('api/query/window.test.ts');
const bulk = of('pipeline/normalizers/es-bulk.test.ts');
const json = of('pipeline/normalizers/json-entries.test.ts');
const syslog = of('pipeline/normalizers/syslog.test.ts');
const otlp = of('pipeline/normalizers/otlp-logs.test.ts');
const loki = of('pipeline/normalizers/loki.test.ts');
const limits = of('e2e/instance/limits.e2e.test.ts');
const sweep = of('api/control/trial-sweep.test.ts');
const live = of('e2e/instance/live.e2e.test.ts');
const sockets = of('api/live/sockets.test.ts');
const caps = of('api/http/body-caps.test.ts');
const ingest = of('api/ingest/ingest-endpoints.test.ts');
const overHttp = of('api/limits/ingest-limits.test.ts');
const rate = of('e2e/instance/paging.e2e.test.ts')(
  'the query rate is that of the plan: a burst of a minute, then 429 with the seconds to wait',
);
const matrix = of('api/auth/matrix.test.ts')("${endpoint.methods.join(', ')} ${endpoint.path} on the ${host} host");
const statuses = of('e2e/instance/long/described-statuses.e2e.test.ts');
const tooLong = queries('ends queries that take too long, or whose client has gone, in ClickHouse too');
const resolves = alerts('resolves one alert with a note, for those who may');
const narrows = alerts('narrows down by state, severity, detector, service and time');
const noParameter = alerts('refuses what is no parameter of it');
const sorts = patterns('sorts, pages, searches and narrows down to a service');
const refused = patterns('refuses what is no parameter, and whoever may not read');
const counted = queries('counts hits in steps of UTC, with zeroes between, grouped without');
const expiredTrial = limits('an expired trial: ingest is refused on both hosts, queries go on, two keys are all; a payment ends it');
const lossless = of('e2e/instance/lossless.e2e.test.ts')('what was accepted comes back as it was');
const wrongQuery = queries('says what is wrong with a query');

// prettier-ignore
export const ENDPOINTS: readonly Section[] = [
  { document: 'interface.md', heading: '3. States and transitions', rows: [] },
  {
    document: 'interface.md', heading: 'Alert `state`', rows: [
      row('States: `firing`, `resolved`.', 'The states of an alert are `firing` and `resolved`.', narrows),
      row('| `firing` | POST resolve', 'A resolution needs `write`, and an alert of the tenant.', resolves),
      row('| `firing` | POST resolve', 'It answers with the alert as it is then, and `note` is its note.', resolves, of('api/alerts/resolver.test.ts')('puts a resolution among the commands of the tenant, and answers when the table has it')),
      row("`state` filter accepts", 'The filter `state` takes `firing`, `resolved` and `all`.', narrows, noParameter),
    ],
    remarks: [
      { line: 'Automatic resolution by detectors', reason: 'not shown; decided under Alerts and patterns' },
      { line: 'Moves from `resolved` back', reason: 'not shown; decided under Alerts and patterns' },
    ],
  },
  {
    document: 'interface.md', heading: 'Account lifecycle (trial)', rows: [
      row('| trial | hourly sweep', 'A sweep each hour moves a trial 14 days after its signup to `trial_expired`.', sweep('${name}: ${ended ? \'ended\' : \'not\'}'), sweep('sweeps at its start and every hour, also after a sweep that failed')),
      row('| trial | hourly sweep', 'After it, ingest of logs and traces is a 429, and reads go on with smaller limits.', expiredTrial, rate),
      row('| trial | hourly sweep', 'After it, AI is off.', of('api/tenants/plans.test.ts')('${name}: its features')),
      row('| `trial_expired` | payment method added', 'A payment takes it to a paid plan, and ingest goes on.', expiredTrial, of('api/control/accounts.test.ts')('a payment takes a trial to the plan team, and leaves paid plans alone')),
      row('Nothing is deleted on expiry', 'Nothing is deleted as a trial ends: what was stored is found until its 14 days are over.', expiredTrial, of('e2e/instance/retention.e2e.test.ts')('is exact to the nanosecond, whichever way the plan changes: ${name}')),
    ],
  },
  {
    document: 'interface.md', heading: '4. Endpoints', rows: [
      row('Authentication applies to every endpoint', 'Every endpoint but `/health` needs a key.', of('api/auth/matrix.test.ts')('covers the planes: every path asks for a key, except /health'), statuses('wants a key')),
      row('error bodies are ErrorResponse', 'Bodies of errors are ErrorResponse, unless another form is stated.', of('api/http/render-error.test.ts')('metrics: the detail alone; everything else: detail and request id')),
    ],
  },
  {
    document: 'interface.md', heading: 'Health', rows: [
      row('| GET | `/health`', '`/health` answers 200 without a key.', of('api/http/host.test.ts')('GET /health needs no key and says ok')),
      row('| GET | `/health`', 'It looks at nothing behind the process.', of('api/http/host.test.ts')('auth unavailable: 503 with Retry-After, but 401 and 404 stay')),
    ],
  },
  {
    document: 'interface.md', heading: 'Ingest (host `{ingest_url}`; key needs `ingest` scope)', rows: [
      row('`/insert/elasticsearch/_bulk` (also', 'Bulk takes pairs of lines on both paths and answers IngestAck.', bulk('takes pairs'), journey('takes bulk on both hosts, gzipped, and rejects one by one')),
      row('| POST | `/loki/api/v1/push`', 'Loki push takes JSON and answers 204 without a body.', loki('keeps the order and the times of many lines'), loki('answers 204 to no streams and to no values'), lossless),
      row('| POST | `/loki/api/v1/push`', 'A shipper may send its key as Basic.', matrix),
      row('| POST | `/v1/logs`', 'OTLP logs are taken as JSON and as protobuf, and answered by 200.', otlp('gives the same entries for both encodings'), otlp('protobuf with nothing where nothing was rejected'), lossless),
      row('| POST | `/api/v1/syslog`', 'Syslog takes frames of RFC 5424 and RFC 3164, one a line.', syslog('reads the whole header'), syslog('reads ${frame}'), of('pipeline/normalizers/syslog/frames.test.ts')('come back as they were sent')),
      row('| POST | `/api/v1/ingest`', '`/api/v1/ingest` takes an array or NDJSON and answers `status` and `accepted`.', json('takes an array'), json('takes NDJSON'), json('answers with status and count')),
      row('| POST | `/api/v1/ingest`', 'All of them need the scope `ingest`.', matrix),
      row('| POST | `/api/v1/ingest`', 'All of them answer 401, 413 and 429 as they say.', ingest('the key comes before everything'), caps('caps of bodies on the logs paths'), overHttp('trial and quota come before pressure, pressure before the body, the body before the buckets')),
      row('Bodies may be compressed', 'Bodies may be compressed.', of('api/http/body.test.ts')('${name}: 200, with length and in chunks'), of('api/http/body.test.ts')('zstd')),
    ],
  },
  {
    document: 'interface.md', heading: 'Search and query (host `{base_url}`; key needs `read` scope)', rows: [
      row('All paths begin `/api/v1/tenants/{tenant_id}`', 'All paths of queries begin with `/api/v1/tenants/` and the tenant, and need the scope `read`.', matrix),
      row('results are newest first', 'Search finds by words and by fields with LogsQL.', journey('finds what was sent as JSON, field by field'), of('e2e/store/long/logsql.e2e.test.ts')('answers the conformance cases, as expected and as memory does')),
      row('results are newest first', 'Results are newest first.', journey('is newest first, pages without gap or repeat, also through equal times')),
      row('Query parameter `enrich`', '`enrich`, true unless set, adds what is known of its pattern to an error.', patterns('tells of entries that are errors when their pattern came first, and how often'), of('api/query/patterns/enrich.test.ts')('are enriched where they are errors whose pattern is known')),
      row('- Body (JSON):', 'The body of a search is JSON.', parameters('have defaults, and unknown keys are ignored'), of('api/http/body.test.ts')('JSON of the app plane')),
      row('| `query` | string | yes |', '`query` has 10,000 characters at most, and is required.', wrongQuery, parameters("refuse ${((JSON.stringify(body) as string | undefined) ?? 'nothing').slice(0, 40)}")),
      row('| `start` | string (relative or ISO)', '`start` is an hour ago unless set.', parameters('have defaults, and unknown keys are ignored')),
      row('| `end` | string | no | `now`', '`end` is now unless set.', parameters('have defaults, and unknown keys are ignored'), window('take relative, ISO and Unix times; the end includes its last unit')),
      row('| `limit` | integer | no | 1000', '`limit` of a search is 1000 unless set, from 1 to 10000.', parameters('have defaults, and unknown keys are ignored'), parameters("refuse ${((JSON.stringify(body) as string | undefined) ?? 'nothing').slice(0, 40)}")),
      row('| `before` | date-time or null', '`before` takes the `oldest_time` of an answer to get older entries.', queries('pages through runs of equal times without a gap or a repeat'), times('POST /search: ${name} that is no time is a 400 that names it')),
      row('- Response 200 SearchResponse', 'A search answers 400 for an empty query.', wrongQuery),
      row('- Response 200 SearchResponse', 'A search answers 401 without a key.', matrix),
      row('- Response 200 SearchResponse', 'A search answers 504 where it takes too long.', tooLong),
      row('**GET `/hits`**', '`/hits` is the volume by time.', counted),
      row('| `query` | string | `*` | LogsQL filter', '`query` of hits is `*` unless set.', parameters('have defaults')),
      row('| `start` | string | `-1h` |', '`start` of hits is an hour ago unless set.', parameters('have defaults')),
      row('| `end` | string | `now` |', '`end` of hits is now unless set.', parameters('have defaults')),
      row('| `step` | string | `1m`', '`step` is a minute unless set, and one of six.', of('api/query/parameters.test.ts')('take each step of the interface, a minute where none is named'), of('api/query/parameters.test.ts')('refuse ${text}')),
      row('| `fields_by` | array of string', '`fields_by` groups by 10 fields at most, and may be repeated.', parameters('take fields one by one and in a list, each once'), parameters('refuse ${text}'), counted),
      row('Response 200 HitsResponse', 'Hits answer 400 where a parameter is wrong, 401 without a key.', wrongQuery, matrix),
      row('Response 200 HitsResponse', 'Hits answer 429 beyond the rate.', rate),
      row('Response 200 HitsResponse', 'Queries of any path answer 504 where they take too long.', tooLong),
      row('**GET `/facets`**', '`/facets` has the most frequent values of each field.', facets('keeps level, service and _stream whatever they hold; leaves out fields of too many or too long values')),
      row('| `query` | string | `*` | |', '`query` of facets is `*` unless set.', of('api/query/parameters.test.ts')('of /facets have defaults, and 1 to 1000 values')),
      row('| `start`, `end` | string | `-1h`, `now`', '`start` and `end` of facets are the last hour unless set.', of('api/query/parameters.test.ts')('of /facets have defaults, and 1 to 1000 values'), times("GET ${path.split('?')[0] ?? ''}: ${name} that is no time is a 400 that names it")),
      row('| `limit` | integer | 20 | 1 to 1000', '`limit` of facets is 20 unless set, from 1 to 1000.', of('api/query/parameters.test.ts')('of /facets have defaults, and 1 to 1000 values')),
      row('Response 200 FacetsResponse', 'Facets answer 401 without a key and 429 beyond the rate.', matrix, rate),
      row('**GET `/streams`**', '`/streams` lists the streams of a window that match.', journey('counts, groups and lists streams'), parameters('have defaults'), queries('answers the conformance cases of hits, streams and field values')),
      row('**GET `/streams`**', 'Streams answer 401 without a key and 429 beyond the rate.', matrix, rate),
    ],
  },
  {
    document: 'interface.md', heading: 'Alerts (key needs `read`; resolving needs `write`)', rows: [
      row('**GET `/alerts`**: newest first', 'Alerts are listed newest first: those that fire, and those resolved lately.', alerts('gives the last word on each alert, with why it has come, newest first')),
      row('**GET `/alerts`**: newest first', 'Listing needs `read`.', resolves, matrix),
      row('| `state` | string | none', '`state` narrows alerts down.', narrows, noParameter),
      row('| `severity` | string | none', '`severity` is one of three, or `all`.', narrows, noParameter),
      row('| `detector_type` | string | none', '`detector_type` narrows alerts down.', narrows),
      row('| `service` | string | none', '`service` has 512 characters at most and finds alerts whose stream has this label.', narrows, noParameter),
      row('| `since` | date-time | none', '`since` finds alerts that fired after it.', narrows, noParameter),
      row('| `until` | date-time | none', '`until` finds alerts that fired before it.', narrows, noParameter),
      row('| `limit` | integer | 100', '`limit` of alerts is 100 unless set, from 1 to 2000.', alerts('gives the last word on each alert, with why it has come, newest first'), noParameter),
      row('| `offset` | integer | 0', '`offset` of alerts is 0 unless set, and not negative.', alerts('pages by limit and offset'), noParameter),
      row('Response 200 PaginatedAlerts', 'Alerts answer 401 without a key.', statuses('wants a key')),
      row('Response 200 PaginatedAlerts', 'Alerts are refused with a 429 where too much runs.', of('e2e/store/long/query-workers.e2e.test.ts')('run four of a tenant at once; more wait, and too many are refused, while another tenant has its answer')),
      row('**GET `/alerts/{alert_id}`**', '`alert_id` is an integer from 1 on.', noParameter),
      row('**GET `/alerts/{alert_id}`**', 'An alert that is not there is a 404.', alerts('shows a tenant its own alone, whatever is asked for, and with the wall of the engine gone too')),
      row('**POST `/alerts/{alert_id}/resolve`**', 'A resolution takes an optional `note` and answers the alert.', resolves),
      row('**POST `/alerts/{alert_id}/resolve`**', 'It is a 403 without `write` and for a demo tenant.', resolves, of('api/auth/authenticate.test.ts')('the demo tenant may read and ingest but not write')),
      row('**POST `/alerts/{alert_id}/resolve`**', "It is a 404 for another tenant's alert.", resolves),
    ],
  },
  {
    document: 'interface.md', heading: 'Patterns', rows: [
      row('**GET `/patterns`**', 'Patterns need `read`.', refused),
      row('| `sort` | string | `count`', '`sort` is `count` unless set, or `first_seen` or `last_seen`.', sorts, refused),
      row('| `order` | string | `desc`', '`order` is `desc` unless set, or `asc`.', sorts, refused),
      row('| `since` | string | `-24h`', '`since` is `-24h` unless set, and takes hours and days.', patterns('counts as the entries themselves are counted by their column'), refused, of('api/query/parameters.test.ts')('of /patterns have defaults')),
      row('| `search` | string | none', '`search` finds a part of the template.', sorts),
      row('| `service` | string | none', '`service` of patterns has 512 characters at most.', sorts, refused),
      row('| `limit` | integer | 50', '`limit` of patterns is 50 unless set, from 1 to 2000.', refused, of('api/query/parameters.test.ts')('of /patterns have defaults')),
      row('| `offset` | integer | 0', '`offset` of patterns is 0 unless set, and not negative.', sorts, refused),
      row('Response 200 PatternsResponse', 'Patterns answer 401 without a key and 429 beyond the rate.', statuses('wants a key'), statuses('is refused to a tenant that may ask and send nothing')),
    ],
  },
  {
    document: 'interface.md', heading: 'WebSockets (host `{base_url}`)', rows: [
      row('`/ws/livetail/{tenant_id}`', 'A live tail opens with 101, is told a `query`, and sends what matches.', live('send what matches, once, exactly as search gives it')),
      row('`/ws/livetail/{tenant_id}`', 'A live tail without a good key is a 401.', sockets('${name}: ${String(status)} before the upgrade, with a request id')),
      row('`/ws/alerts/{tenant_id}`', 'The stream of alerts tells at once what fires and what is resolved.', live('of alerts: fires and resolutions, updates on request, and what was said since a time')),
      row('`/ws/alerts/{tenant_id}`', 'It lets in as the live tail does, and is a 401 without a good key.', sockets('no key, alerts'), of('e2e/pages/live-browser.e2e.test.ts')('is let in by the subprotocol alone, and told of alerts')),
    ],
  },
  {
    document: 'interface.md', heading: 'Other paths', rows: [
      row('The following are named but their payloads', 'All paths that are named are there, each on its plane.', of('api/auth/matrix.test.ts')('every path that the interface names is on its plane, with its scope')),
      row('`/write` and `/api/v2/write` answer 204', '`/write` and `/api/v2/write` answer 204.', of('api/ingest/metrics-endpoints.test.ts')('answer line protocol and remote write by 204, without a body')),
    ],
    remarks: [
      { line: 'Request and response shapes of those paths', reason: 'not shown; decided under Answers the interface does not show' },
      { line: 'Bodies of the 200 responses from the OTLP', reason: 'not shown; decided under Answers the interface does not show' },
    ],
  },
];
