/** What the interface leaves open: hosts, the start, and entries. */
import { of, row, type Section } from './row.ts';

const core = of('pipeline/core/core.test.ts');
const supervisor = of('main/supervisor.test.ts');
const start = of('e2e/restarts/start.e2e.test.ts');
const internal = of('api/admin/internal.test.ts');
const admin = of('api/admin/admin-routes.test.ts');
const host = of('api/http/host.test.ts');
const hosts = of('api/http/host-lists.test.ts');
const journey = of('e2e/instance/journey.e2e.test.ts');
const openapi = of('e2e/instance/openapi.e2e.test.ts');
const canonical = of('pipeline/logs/canonical.test.ts');
const fields = of('pipeline/logs/client-fields.test.ts');
const loki = of('pipeline/normalizers/loki.test.ts');
const bulk = of('pipeline/normalizers/es-bulk.test.ts');
const json = of('pipeline/normalizers/json-entries.test.ts');
const streams = of('pipeline/logs/streams.test.ts');
const ingest = of('api/ingest/ingest-endpoints.test.ts');
const otlp = of('pipeline/normalizers/otlp-logs.test.ts');
const lines = of('pipeline/logs/fields.test.ts');

// prettier-ignore
export const DECIDED_ENTRIES: readonly Section[] = [
  {
    document: 'decisions.md', heading: 'What the interface leaves open, decided', rows: [],
    remarks: [{ line: '`interface.md` is the contract, word for word', reason: 'what the document is' }],
  },
  {
    document: 'decisions.md', heading: 'Hosts, ports, start', rows: [
      row('environment variables begin with `LOGWEIR_`', 'Variables begin with `LOGWEIR_`; one that is not known is an error at the start.', core('names all faults at once, unknown names among them')),
      row('- Two public listeners on `LOGWEIR_HOST`', 'Hosts and ports have their defaults.', core('has the documented defaults')),
      row('- Two public listeners on `LOGWEIR_HOST`', 'The internal listener serves `/ready` and `/metrics`, and its routes need a token.', internal('200 only if every check of every process holds, else 503 and which do not'), internal('merges all processes: HELP and TYPE once, each series with its role'), admin('need the token'), admin('reads the token from the data directory')),
      row('- Two public listeners on `LOGWEIR_HOST`', 'The secrets of an instance are made once, for their owner alone.', supervisor('keeps its secrets, for its owner alone, from one start to the next')),
      row('- Two public listeners on `LOGWEIR_HOST`', '`/health` answers on both public hosts.', hosts('/health is on both'), journey('is healthy, ready, and measured')),
      row('- `npm start` on a fresh clone does everything', '`npm start` installs, builds and starts, and prints one line when all is ready.', of('main/start.test.ts')('installs the packages, once, and hands the command line over'), supervisor('says when all is ready, in exactly one line')),
      row('- `npm start` on a fresh clone does everything', 'It embeds no engine that the environment names.', supervisor('embeds no engine that the environment names')),
      row('- Data lives under `LOGWEIR_DATA_DIR`', 'The first start makes tenant 1 with one key of all scopes, whose value `LOGWEIR_BOOTSTRAP_KEY` sets.', of('api/control/accounts.test.ts')('makes tenant 1 and its key, once'), of('api/control/accounts.test.ts')('replaces the key when it has changed'), supervisor('refuses the key ${key}, and keeps it nowhere')),
      row('- `npm test` runs lint, types, unit', '`npm test` runs all parts, and each test is in one.', of('runner/select.test.ts')('has every test file in one part'), of('runner/run.test.ts')('counts what passed, failed and was skipped, and names what failed')),
      row('- Two instances with different ports', 'A process that ends is started again, later and later where it keeps ending.', supervisor('starts ${role} again, and counts it'), supervisor('waits longer each time when a process keeps dying')),
      row('- Two instances with different ports', 'A supervisor that is killed leaves no engine running.', start('leaves no process when it is killed, and the next start has the data')),
      row('- Two instances with different ports', '`ps --json` lists role, pid and restarts of every process.', supervisor('lists its processes')),
      row('- What is on the app host only', 'What is on the app host alone is a 404 on the ingest host, before credentials are read.', hosts('${path} is on the app host only; on the ingest host 404 before credentials'), of('api/auth/matrix.test.ts')('${path} on the ingest host: 404, with a key, a wrong one, or none')),
      row('- The UI is served under `/ui/`', 'The UI is under `/ui/`, without a key.', of('api/ui/endpoints.test.ts')('${at} is the index, which is looked up each time')),
      row('- The UI is served under `/ui/`', '`GET /` of a browser leads to `/ui/`.', of('api/ui/endpoints.test.ts')('${who}: ${String(status)}')),
      row('- The UI is served under `/ui/`', 'Otherwise `GET /` is the probe of Elasticsearch, which needs a key.', of('api/ingest/elastic-probes.test.ts')('needs a key with the scope ingest, and says so as Elastic would')),
      row('- The UI is served under `/ui/`', '`/openapi.json` needs a key.', openapi('needs a key, and is on the app host alone')),
      row('- The UI is served under `/ui/`', 'A path that is not there is a 404 without a key, a wrong method a 405 with `Allow`.', host('${path}: 404, with a key or without'), host('${method} ${path}: 405 without a key, Allow: ${allow}')),
      row('- The UI is served under `/ui/`', 'Preflights need no key, and only the listed origins are let in.', host('answers a preflight without a key'), host('gives another origin no leave')),
    ],
  },
  {
    document: 'decisions.md', heading: 'Entries', rows: [
      row('- Nested JSON objects in an entry', 'Nested objects become dotted names, and arrays JSON text.', canonical('flattens objects'), canonical('keeps arrays as compact JSON text')),
      row('- Nested JSON objects in an entry', 'Numbers and booleans keep type and digits.', canonical('keeps every digit'), of('e2e/store/long/logsql.e2e.test.ts')('keeps the types of values'), journey('finds what was sent as JSON, field by field')),
      row('- Nested JSON objects in an entry', '`null` and empty strings are no fields.', canonical('drops null and empty')),
      row('- Nested JSON objects in an entry', '`_msg`, `level` and `service` are strings, and a `_stream` of the producer is ignored.', canonical('makes a message that is no string its JSON text'), canonical('makes other numbers text'), canonical("ignores a producer's own _stream")),
      row('- `_time` keeps nanoseconds', '`_time` keeps nanoseconds and is read in each of its forms.', canonical('canonical entry: time'), canonical('"2026-11-20T10:00:00.123456789+02:00"')),
      row('- `_time` keeps nanoseconds', 'Without `_time` the first readable one of the other names is the time, and moved.', canonical('takes the first readable of the other names, and moves it'), canonical('prefers @timestamp')),
      row('- `_time` keeps nanoseconds', 'An entry whose `_time` cannot be read is rejected with a reason.', canonical('rejects ${bad}')),
      row('- Bounds of `_time`', 'An entry older than the retention, or two days ahead, is rejected, and the request keeps its 2xx.', canonical('rejects what is older than the retention, or more than two days ahead'), json('answers 200 where entries were rejected for their time alone')),
      row('- Bounds of `_time`', 'The years 1900 to 2262 bound every plan.', canonical('rejects what is outside 1900 to 2262')),
      row('- The message is `_msg`', 'The message is what the request names, else the first of the known names.', fields('names the message: the first one that is there goes before all, and is moved'), canonical('takes the first of them and leaves the others'), fields('has its time, level, service and message: ${who}')),
      row('- The message is `_msg`', 'In bulk it is also a field whose last part is one of the names.', bulk('takes the message of a field whose last part is the name of one, where the document has none of its own')),
      row('- The message is `_msg`', 'An entry with nothing but time, level, service and labels is rejected.', fields('is rejected where it has nothing but a time, a level, a service and labels')),
      row('- The message is `_msg`', 'An empty line of Loki is kept.', loki('keeps an empty line'), of('api/query/required-members.test.ts')('has every required member, whatever lines Loki pushes')),
      row('- A Loki, syslog, raw or drain line', 'A line that is JSON keeps its text, and its keys override no label.', loki('reads a line that is a JSON object, which overrides nothing'), lines('keeps its text, and its members become fields that override nothing')),
      row('- `level`: a string in the field `level` stays', '`level` stays as it was sent, else it is read from the known names in lower case.', canonical('keeps the level as sent'), canonical('reads the level from severity, in lower case'), canonical("reads pino's numbers"), fields('has its time, level, service and message: ${who}')),
      row('- `level`: a string in the field `level` stays', 'The header of a raw line is read where the entry has no level or time.', of('pipeline/logs/raw-header.test.ts')('says the level and the time of an entry that has neither: ${what}')),
      row('- `level`: a string in the field `level` stays', '`status` is never a level.', canonical('never takes status for a level')),
      row("- `service` is the producer's `service`", '`service` is `service.name` where there is no other, and never `app`.', fields('has its time, level, service and message: ${who}'), canonical('never takes app for the service')),
      row('- Stream labels. Loki: its own labels', 'Labels are those of the protocol, else the known names.', loki('takes any label'), canonical('makes the stream of its labels, sorted')),
      row('- Stream labels. Loki: its own labels', 'A request names labels by header or parameter.', ingest('a header before the query'), canonical('takes the labels that the request names')),
      row('- Stream labels. Loki: its own labels', 'A value of a label has 2,048 bytes at most.', streams('has values of 2,048 bytes at most, cut between characters; the field stays whole')),
      row('- Stream labels. Loki: its own labels', 'Beyond the streams of a day entries go to `{}`, which is told.', ingest('tells how many entries went to {} since the tenant has too many streams'), of('pipeline/intake/day-streams.test.ts')('has the entries of further ones in the stream {}, with their fields')),
      row('- Limits for one entry', 'An entry has 1,000 fields, names of 256 bytes and a depth of 64 at most.', canonical('takes 1,000 fields and no more'), canonical('takes names of 256 bytes and no more'), canonical('takes a depth of 64 and no more')),
      row('- Limits for one entry', '`__proto__` is a name like others.', canonical('keeps __proto__ and its like as plain names')),
      row('- Bad entries in a request', 'Bulk answers for each entry; an action that cannot be read is a 400.', bulk('rejects bad documents one by one, in order, and keeps the others'), bulk('refuses an unreadable action')),
      row('- Bad entries in a request', 'OTLP answers with a partial success.', otlp('protobuf with a partial success'), otlp('JSON with a partial success')),
      row('- Bad entries in a request', '`/api/v1/ingest` answers how many were rejected and the first 100 reasons, and a 400 that names the line of text that is no JSON.', json('lists the first 100 rejections'), json('names the line that is no JSON'), json('refuses a body without a single entry'), json('takes an empty array')),
      row('- Bad entries in a request', 'Others answer `X-Rejected-Entries`, or 400 where nothing could be read.', loki('rejects an element without a line'), loki('refuses a body of which nothing could be read'), of('pipeline/normalizers/syslog.test.ts')('that cannot be taken are counted in a header')),
      row('- Empty and odd bodies', 'An empty body is a 400 in JSON and a 200 in protobuf; no streams of Loki are a 204.', json('refuses an empty body'), otlp('an empty protobuf body'), loki('answers 204 to no streams and to no values')),
      row('- Empty and odd bodies', 'Keys that are not known are ignored, but not in changes of settings.', loki('finds the labels behind the values, and passes over what it does not know'), of('api/alerts/rule-routes.test.ts')('refuses what is wrong with a sentence that says so')),
      row('- Bulk `items` is empty', "Elastic's clients and `?items=true` get the full list.", bulk("gives every item to ${headers['user-agent']}"), bulk('gives every item where it is asked for')),
      row('- Bulk `items` is empty', 'Every answer on these paths has `X-Elastic-Product`; `PUT` and an index in the path are taken.', ingest("Elasticsearch's answers carry the product header, whatever they are"), host('${method} ${path} ${status}: product header and plain media type')),
      row('- Content types are matched on the media type', 'The media type alone counts, and a wrong one is found out.', ingest('gives the format its request as it needs it'), otlp('by the body, where no media type was sent or the wrong one')),
      row('- Content types are matched on the media type', 'One reader of bodies serves both planes.', of('api/http/body.test.ts')('the caps are inclusive, on the wire and decompressed'), of('api/http/body.test.ts')('the app plane says 413 as JSON without a slug')),
    ],
  },
];
