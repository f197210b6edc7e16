/** What the interface leaves open: answers, credentials, and search. */
import { of, row, type Section } from './row.ts';

const otlp = of('pipeline/normalizers/otlp-logs.test.ts');
const hec = of('api/ingest/hec-endpoints.test.ts');
const render = of('api/http/render-error.test.ts');
const every = of('api/http/every-error.test.ts');
const host = of('api/http/host.test.ts');
const forms = of('api/auth/forms.test.ts');
const authenticate = of('api/auth/authenticate.test.ts');
const sockets = of('api/live/sockets.test.ts');
const alerts = of('e2e/store/long/alerts-query.e2e.test.ts');
const queries = of('e2e/store/query.e2e.test.ts');
const facets = of('e2e/store/long/facets.e2e.test.ts');
const patterns = of('e2e/store/patterns-query.e2e.test.ts');
const window = of('api/query/window.test.ts');
const parameters = of('api/query/parameters.test.ts');
const hints = of('e2e/store/hints.e2e.test.ts');
const select = of('e2e/store/select.e2e.test.ts');
const journey = of('e2e/instance/journey.e2e.test.ts');
const overHttp = of('api/limits/ingest-limits.test.ts');
const workers = of('e2e/store/long/query-workers.e2e.test.ts');

const order = overHttp('trial and quota come before pressure, pressure before the body, the body before the buckets');
const counted = queries('counts hits in steps of UTC, with zeroes between, grouped without');
const rows = queries('answers with entries, and with the rows of pipes');

// prettier-ignore
export const DECIDED_ANSWERS: readonly Section[] = [
  {
    document: 'decisions.md', heading: 'Answers the interface does not show', rows: [
      row('- OTLP: 200 with `ExportLogsServiceResponse`', 'OTLP answers in the encoding of the request.', otlp('protobuf with nothing where nothing was rejected'), otlp('JSON')),
      row('- OTLP: 200 with `ExportLogsServiceResponse`', 'HEC answers `Success`, acknowledges what has a channel, and its health needs a key.', of('pipeline/normalizers/hec-raw.test.ts')('answers as Splunk does'), of('pipeline/normalizers/hec-event.test.ts')('answers with an id where the request has a channel'), hec('acknowledges what it handed out'), hec('is healthy at ${target}, for those with a key')),
      row('- OTLP: 200 with `ExportLogsServiceResponse`', 'GELF answers 202, drains how many they took.', of('pipeline/normalizers/gelf.test.ts')('answers 202 without a body'), of('pipeline/normalizers/drain.test.ts')('answers how many it took, and in a header how many not')),
      row('- OTLP: 200 with `ExportLogsServiceResponse`', 'Firehose gets its request id back, and its key counts on its path alone.', of('pipeline/normalizers/cloudwatch.test.ts')('echoes the request id, of the header before that of the body, and the time in milliseconds'), forms("Firehose's access key elsewhere"), forms("Firehose's access key after the others")),
      row('- OTLP: 200 with `ExportLogsServiceResponse`', 'Remote write answers 204, replay 202.', of('api/ingest/metrics-endpoints.test.ts')('answer line protocol and remote write by 204, without a body'), of('api/ingest/replay-endpoints.test.ts')('answers 202 {"status":"ok"}, plain, as gzip and as zstd')),
      row('- Error bodies: logs and traces', 'Each plane has its body of errors; HEC and Firehose have what their clients read.', render('logs and traces: slug, detail, request id, and on 429 the wait'), render('metrics: the detail alone; everything else: detail and request id'), render('HEC adds what its clients read'), render('Firehose adds what it reads')),
      row('- Error bodies: logs and traces', '`X-Request-Id` is on every error, also of the parser, and a valid one of the client is kept.', every('${String(status)}: ${name}'), host("keeps the client's ${id.slice(0, 20)} on success and error")),
      row('- Error bodies: logs and traces', '`Retry-After` is a header of each 429 and each 503 that passes.', render('headers: Retry-After on 429 and on a 503 that passes, Allow on 405, WWW-Authenticate on 401')),
      row('- Slugs on logs and traces', 'Each status of logs and traces has its slug.', host('${method} ${path}: 405 without a key, Allow: ${allow}'), authenticate('${String(secret)}: ${status} ${slug}'), order, of('api/http/body-caps.test.ts')('${coding} is refused by its name, whatever the body'), host('auth unavailable: 503 with Retry-After, but 401 and 404 stay')),
      row('- Details that clients test for', 'Sentences of limits have the words that clients test for.', of('api/limits/daily-volume.test.ts')('${plan}: the sentence says what is used up and when it clears'), of('api/limits/daily-volume.test.ts')('after the trial: the sentence that clients test for')),
      row('- Details that clients test for', 'Sentences of gates have the words that clients test for.', of('e2e/instance/keys.e2e.test.ts')('gates: projects are off, for a key that may ask; so are metrics and replay where a flag says it')),
      row('- Order of checks: route', 'Checks come in their order: route, credential, key, tenant, scope.', host('${name}: ${status}')),
      row('- Order of checks: route', 'Then come quota, pressure, body and buckets.', order, of('api/ingest/ingest-endpoints.test.ts')('the key comes before everything'), of('api/ingest/ingest-endpoints.test.ts')('then the buckets, and nothing is written')),
    ],
  },
  {
    document: 'decisions.md', heading: 'Credentials', rows: [
      row('- Any non-empty key that is unknown is 403', 'Any key that is not known is a 403, whatever it looks like.', authenticate('${String(secret)}: ${status} ${slug}')),
      row('- Any non-empty key that is unknown is 403', 'A bare scheme, base64 that cannot be decoded and a Basic without a colon are a 401.', forms('Basic without a colon'), forms('Basic, not base64'), forms('Bearer alone')),
      row('- Scopes: logs, traces, metrics and replay', 'No scope implies another.', authenticate("scope ${held}, needed ${needed}: ${held === needed ? 'goes' : '403'}")),
      row('- Scopes: logs, traces, metrics and replay', 'A key that is made without scopes may read.', of('e2e/instance/keys.e2e.test.ts')('a key has the scopes it was given, and no other'), of('api/admin/admin-routes.test.ts')('every other command')),
      row('- WebSockets: no credential or a rejected key', 'A WebSocket is refused before the upgrade: 401 without a good key, 403 otherwise.', sockets('${name}: ${String(status)} before the upgrade, with a request id')),
      row('- WebSockets: no credential or a rejected key', 'Any prefix, the headers and two parameters are taken, and `logweir.v1` is selected where it is offered.', sockets('are let in with a key in any of the forms, and get a subprotocol that was offered')),
      row('- `tenant_id` or `alert_id` that is no positive', 'An id that is no positive integer is a 400 after the credential.', host('a tenant that is no integer'), host('no credential before a bad tenant'), alerts('refuses what is no parameter of it')),
      row('- `tenant_id` or `alert_id` that is no positive', 'An alert that is not there, or another tenant’s, is a 404.', alerts('shows a tenant its own alone, whatever is asked for, and with the wall of the engine gone too')),
      row('- Demo tenant: operations that need `write`', 'A demo tenant changes nothing, and may ingest.', authenticate('the demo tenant may read and ingest but not write'), of('api/ingest/ingest-endpoints.test.ts')('the demo tenant may ingest')),
    ],
  },
  {
    document: 'decisions.md', heading: 'Search', rows: [
      row('- `query`: LogsQL as `conformance/logsql/`', 'Queries answer as the cases of conformance say.', of('e2e/store/long/logsql.e2e.test.ts')('answers the conformance cases, as expected and as memory does'), of('logsql/conformance.test.ts')("${feature} (${String(own.length)} cases")),
      row('- `query`: LogsQL as `conformance/logsql/`', 'Where a pipe ends a query `logs` has its rows, and `oldest_time` is null.', rows),
      row('- `query`: LogsQL as `conformance/logsql/`', 'Filters of time narrow the window and never widen it.', of('logsql/planner/planner.test.ts')('narrows the window by time filters, and never widens it')),
      row('- `query`: LogsQL as `conformance/logsql/`', 'Hits drop the pipes of a query.', counted),
      row('- Windows, everywhere: `now`', 'Windows take durations, ISO and Unix times; the end includes its last unit.', window('take relative, ISO and Unix times; the end includes its last unit')),
      row('- Windows, everywhere: `now`', 'What cannot be read, and a start after the end, is a 400.', window('refuse ${JSON.stringify([start, end])}'), of('api/query/time-parameters.test.ts')('POST /search: ${name} that is no time is a 400 that names it')),
      row('- Order: newest first', 'Pages neither repeat nor skip an entry, and are filled.', queries('pages through runs of equal times without a gap or a repeat'), of('e2e/instance/paging.e2e.test.ts')('pages show every entry that was there once, and none twice, though others arrive with the same times')),
      row('- Order: newest first', '`oldest_time` carries more digits inside a run of equal times.', window('are times that carry the place of an entry')),
      row('- `count` is the number of `logs`', 'An answer has `count`, `elapsed_ms`, an exact `has_more`, `window`, and `truncated` where rows of a pipe were cut.', rows, queries('pages through runs of equal times without a gap or a repeat')),
      row('- `count` is the number of `logs`', 'An answer is cut at 32 MiB.', of('e2e/store/long/large-pages.e2e.test.ts')('${query}: pages of at most 32 MiB and ${String(limit)} entries have each entry once')),
      row('- `count` is the number of `logs`', '`hints` tell of other languages, of fields and levels that are not there, and of parameters that are not known.', hints('/search of ${query}'), hints('name members and parameters that are not known, with the nearest known one, and are said beside results too'), of('logsql/parser/hints.test.ts')('${query} is run, with a hint')),
      row('- `count` is the number of `logs`', 'An `enrich` that is no boolean is a 400.', of('api/query/rate.test.ts')('an `${name}` of /${path} that is no boolean is refused before the query counts')),
      row('- `enrich=true`: entries', 'Errors get fingerprint, first time and number of their pattern where it is known.', patterns('tells of entries that are errors when their pattern came first, and how often')),
      row('- `hits` buckets are aligned', 'Buckets are aligned in UTC, and empty ones are there where nothing is grouped.', counted),
      row('- `hits` buckets are aligned', 'Fields of the grouping are each counted once, and those with names of a bucket are a 400.', parameters('take fields one by one and in a list, each once'), parameters('refuse ${text}')),
      row('- `facets`: at most 50 fields', 'Facets keep the fields with the most hits, and count those that were cut.', facets('cuts the fields with the fewest hits, and counts them')),
      row('- `facets`: at most 50 fields', 'Fields of too many or too long values are left out, but for level, service and stream.', facets('keeps level, service and _stream whatever they hold; leaves out fields of too many or too long values')),
      row('- `streams`: by hits', 'Streams are ordered by hits, then by id.', journey('counts, groups and lists streams'), queries('answers the conformance cases of hits, streams and field values')),
      row('- Running queries of one tenant: 4', 'Four queries of a tenant run at once, others wait, and too many are a 429.', workers('run four of a tenant at once; more wait, and too many are refused, while another tenant has its answer'), of('api/tenants/plans.test.ts')('the queries of a tenant that run at once')),
      row('- Running queries of one tenant: 4', 'An answer that streams goes on as long as rows flow.', of('e2e/store/long/exports.e2e.test.ts')('an export goes on as long as it is taken, however long that takes')),
      row('- A query that runs longer than 30 s', 'A query that takes too long or too much is a 504.', queries('ends queries that take too long, or whose client has gone, in ClickHouse too'), workers('end a query that takes too much memory, name its pipes, and no other one')),
      row('- A query that runs longer than 30 s', 'Where ClickHouse does not answer it is a 503.', queries('says 503 when the store does not answer')),
      row('- A query that runs longer than 30 s', 'The burst of the rate is that of a minute.', of('api/limits/query-rate.test.ts')('${rate} a minute: a burst of as many, then as many in each minute, each after the wait that was told'), of('api/query/rate.test.ts')("VictoriaLogs' paths ask the same rate")),
      row('- A subquery without a `_time` of its own', 'A query inside a query takes the outer window, and `hints` says so.', queries('searches with a query inside the whole window of the outer one, and reports that')),
      row("- VictoriaLogs' own endpoints", "VictoriaLogs' endpoints keep its rules.", select('answers the conformance cases'), of('e2e/instance/tools.e2e.test.ts')('asks by a form, in the canonical form of the query, and reads the duration (getQueryResponse)')),
      row("- VictoriaLogs' own endpoints", 'Its ingest paths and parameters are taken.', of('api/ingest/ingest-endpoints.test.ts')('by parameter, or by header'), of('api/auth/matrix.test.ts')('the ingest paths of VictoriaLogs are aliases on the ingest plane')),
    ],
  },
];
