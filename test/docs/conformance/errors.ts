/** Section 7 of the interface: errors. */
import { of, row, type Section } from './row.ts';

const render = of('api/http/render-error.test.ts');
const every = of('api/http/every-error.test.ts');
const caps = of('api/http/body-caps.test.ts');
const body = of('api/http/body.test.ts');
const metrics = of('api/ingest/metrics-endpoints.test.ts');
const overHttp = of('api/limits/ingest-limits.test.ts');
const ingest = of('api/ingest/ingest-endpoints.test.ts');
const daily = of('api/limits/daily-volume.test.ts');
const journey = of('e2e/instance/journey.e2e.test.ts');
const queries = of('e2e/store/query.e2e.test.ts');
const tenantBucket = of('api/limits/tenant-bucket.test.ts');
const platform = of('api/limits/platform-bucket.test.ts');
const limits = of('e2e/instance/limits.e2e.test.ts');
const keys = of('e2e/instance/keys.e2e.test.ts');

const perQuery = of('e2e/instance/paging.e2e.test.ts')(
  'the query rate is that of the plan: a burst of a minute, then 429 with the seconds to wait',
);
const gates = keys('gates: projects are off, for a key that may ask; so are metrics and replay where a flag says it');
const wrong = journey('keeps tenants apart, and says what is wrong');

// prettier-ignore
export const ERRORS: readonly Section[] = [
  { document: 'interface.md', heading: '7. Errors', rows: [] },
  {
    document: 'interface.md', heading: 'Shapes', rows: [
      row('- Query and alert endpoints: ErrorResponse', 'Queries and alerts answer errors with `detail`, `request_id` and the header.', render('metrics: the detail alone; everything else: detail and request id'), every('${String(status)}: ${name}')),
      row('- Logs and traces ingest: JSON with `error`', 'Logs and traces answer `error`, `detail` and, on 429, `retry_after`.', render('logs and traces: slug, detail, request id, and on 429 the wait')),
      row('- Metrics endpoints: `detail` only', 'Metrics answer `detail` alone.', render('metrics: the detail alone; everything else: detail and request id'), metrics('answer the gate where the plan has no metrics, and after a trial whatever its flags are')),
      row('- Clients must read `detail`', 'Every error has a `detail`.', every('${String(status)}: ${name}')),
      row('- An uncompressed body above the cap', 'An uncompressed body over the cap is answered in plain text.', caps('uncompressed ${how}: the cap passes, one byte more is a 413 as plain text')),
    ],
  },
  {
    document: 'interface.md', heading: 'Status codes', rows: [
      row('| 400 | malformed request', 'Wrong syntax, a parameter out of range and an empty query are a 400.', queries('says what is wrong with a query'), wrong),
      row('| 400 | malformed request', 'A body that cannot be parsed and a corrupt compressed stream are a 400.', of('pipeline/normalizers/json-entries.test.ts')('names the line that is no JSON'), body('corrupt ${coding}: 400 invalid_body')),
      row('| 400 | malformed request', '`gzip`, `zstd` and `snappy` are taken; `deflate` and `br` are refused by name.', caps('${coding} is refused by its name, whatever the body'), body('${name}: 200, with length and in chunks'), body('zstd')),
      row('| 400 | malformed request', 'Bytes that are neither JSON nor protobuf of OTLP are a 400 on the path of metrics.', metrics('take nothing of bodies that are not what they state')),
      row('| 401 | no credential extracted', 'A request without a credential is a 401.', wrong, of('e2e/instance/long/described-statuses.e2e.test.ts')('wants a key')),
      row('| 403 | credential rejected', 'A rejected credential, a missing scope, the demo tenant and a gate are a 403.', of('api/http/host.test.ts')('${name}: ${status}'), of('api/account/projects.test.ts')('${name}, flag ${String(flag)}: ${String(most)}')),
      row('| 404 | resource missing or invisible', 'What is missing, or is another tenant’s, is a 404.', of('e2e/store/long/alerts-query.e2e.test.ts')('shows a tenant its own alone, whatever is asked for, and with the wall of the engine gone too')),
      row('| 404 | resource missing or invisible', 'A path of queries is a 404 on the ingest host.', wrong, of('api/auth/matrix.test.ts')('${path} on the ingest host: 404, with a key, a wrong one, or none')),
      row('| 413 | body above the plane', 'The cap holds for the body as it comes and decompressed.', caps('${coding} ${how}: the cap as received passes, one byte more is a 413 as JSON'), caps('${coding} ${how}: the cap decompressed passes, one byte more is a 413 as JSON')),
      row('| 413 | body above the plane', 'On logs and traces `error` is `payload_too_large`, and `detail` has both sizes.', caps('${coding} ${how}: the cap as received passes, one byte more is a 413 as JSON')),
      row('| 413 | body above the plane', 'On metrics `detail` names the cap alone.', metrics('have caps of their own, and name them alone')),
      row('| 429 | per-key query rate limit', 'Queries beyond the rate of a key are a 429 with `Retry-After`.', perQuery),
      row('| 429 | per-key query rate limit', 'Ingest beyond the rate of a tenant is a 429 `rate_limited`.', overHttp('the tenant’s bucket in debt'), limits('a trial: what fits inside the burst is taken, in debt a larger batch waits as long as it is told')),
      row('| 429 | per-key query rate limit', 'The daily volume is a 429 `rate_limited` that names it.', daily('${plan}: the sentence says what is used up and when it clears'), limits('a volume: the request that crosses the ceiling is taken whole, then none on either host until more is allowed')),
      row('| 429 | per-key query rate limit', 'A full log is a 429 `wal_full`, after 10 s.', overHttp('trial and quota come before pressure, pressure before the body, the body before the buckets'), of('e2e/restarts/usage.e2e.test.ts')('stops growing with 429 `wal_full` while the disk of the log is too full')),
      row('| 429 | per-key query rate limit', 'Pressure behind the service is a 429 `backpressure`, after 5 s.', ingest('then pressure'), of('api/http/host.test.ts')('429 carries retry_after and Retry-After')),
      row('| 503 | authentication backend unreachable', 'Keys that cannot be read are a 503 that passes.', of('api/auth/outage.test.ts')('a process that never read them answers 503, to be tried again, in the style of each path'), of('api/auth/outage.test.ts')('one that has read them keeps its last answers')),
      row('| 503 | authentication backend unreachable', 'A 503 of a gate names its feature.', gates),
      row('| 504 | log backend query timed out', 'A query that takes too long is a 504.', queries('ends queries that take too long, or whose client has gone, in ClickHouse too')),
    ],
  },
  {
    document: 'interface.md', heading: '429 rules', rows: [
      row('1. For `rate_limited`, read `detail`', 'What is of a day says so: `retry_after` is 60, and it clears at 00:00 UTC.', daily('${plan}: the sentence says what is used up and when it clears'), daily('begins anew at 00:00 UTC, whatever the zone of the machine')),
      row('1. For `rate_limited`, read `detail`', 'What is of no day speaks neither of a day nor of a quota.', tenantBucket('says what the limit is, and does not speak of a day'), platform('is one for all tenants, and refuses small requests too')),
      row('2. A 429 from the per-tenant limiter', '`retry_after` of a tenant’s bucket is what its debt takes.', of('api/limits/token-bucket.test.ts')('a tenant with ${tokens} sends ${count}'), limits('a trial: what fits inside the burst is taken, in debt a larger batch waits as long as it is told')),
      row('3. After trial expiry, every log and trace', 'After a trial every ingest of logs and traces is a 429 that says why.', daily('after the trial: the sentence that clients test for'), limits('an expired trial: ingest is refused on both hosts, queries go on, two keys are all; a payment ends it')),
      row('4. A 429 may also come from the platform-wide', 'The limiter of the platform answers 429 as well.', overHttp('the platform’s bucket refuses a small batch of who is beyond its share')),
    ],
  },
  {
    document: 'interface.md', heading: 'Plan gates (not outages)', rows: [
      row('| POST `/v1/metrics` (and every metrics', 'Where metrics are off every path of them is a 503 that says that metrics ingest is not enabled.', gates, metrics('answer the gate where the plan has no metrics, and after a trial whatever its flags are')),
      row('| POST `/v1/metrics` (and every metrics', 'Logs and traces go on where metrics are off.', ingest('takes logs where the plan has neither metrics nor replay')),
      row('| POST `/v1/rum/replay`', 'Where replay is off its path is a 503 that says that session replay is not enabled.', gates, of('api/ingest/replay-endpoints.test.ts')('has the gate of the plan, behind the key and before the body')),
      row('| POST `/api/v1/account/projects`', 'Where projects are off their path is a 403 that says that multi-project is not enabled.', gates, of('api/account/projects.test.ts')('${name}, flag ${String(flag)}: ${String(most)}')),
      row('| same path | 403', 'Where a plan has no more projects its path is a 403 that says that the project limit was reached.', of('api/account/projects.test.ts')('${name}, flag ${String(flag)}: ${String(most)}')),
      row('| AI endpoints | 403', 'Where a plan has no AI its paths are a 403 that says that they are not available on your plan.', of('api/ai/endpoints.test.ts')('${path}: ${name}, flag ${String(flag)}')),
      row('A 503 naming a feature is a gate', 'A 503 that passes names no feature, and one of keys speaks of authentication.', of('api/http/host.test.ts')('a transient 503 carries Retry-After, a gate does not'), of('api/auth/authenticate.test.ts')('says 503 with "authentication" while keys were never read, but 401 without a credential')),
    ],
  },
];
