/** Sections 8 and 9 of the interface: limits, and versioning. */
import { of, row, type Section } from './row.ts';

const parameters = of('api/query/parameters.test.ts');
const alerts = of('e2e/store/long/alerts-query.e2e.test.ts');
const patterns = of('e2e/store/patterns-query.e2e.test.ts');
const facets = of('e2e/store/long/facets.e2e.test.ts');
const caps = of('api/http/body-caps.test.ts');
const metrics = of('api/ingest/metrics-endpoints.test.ts');
const plans = of('api/tenants/plans.test.ts');
const daily = of('api/limits/daily-volume.test.ts');
const bucket = of('api/limits/token-bucket.test.ts');
const tenantBucket = of('api/limits/tenant-bucket.test.ts');
const platform = of('api/limits/platform-bucket.test.ts');
const queryRate = of('api/limits/query-rate.test.ts');
const usage = of('e2e/restarts/usage.e2e.test.ts');
const sweep = of('api/control/trial-sweep.test.ts');
const credits = of('api/limits/ai-credits.test.ts');
const document = of('api/openapi/document.test.ts');

const refusedSearch = parameters("refuse ${((JSON.stringify(body) as string | undefined) ?? 'nothing').slice(0, 40)}");
const numbers = plans("${name}: the contract's numbers");
const perMinute = queryRate('${rate} a minute: a burst of as many, then as many in each minute, each after the wait that was told');
const rowByRow = bucket('a tenant with ${tokens} sends ${count}');
const ofPlatform = bucket('the platform with ${tokens} gets ${count}');
const toTheByte = usage('is the decompressed size of all acknowledged bodies, to the byte, through kills and restarts');

// prettier-ignore
export const LIMITS: readonly Section[] = [
  { document: 'interface.md', heading: '8. Limits', rows: [] },
  {
    document: 'interface.md', heading: 'Request and query bounds', rows: [
      row('| search `query` length |', 'A query has 10,000 characters at most.', refusedSearch, of('e2e/store/query.e2e.test.ts')('says what is wrong with a query')),
      row('| search `limit` |', 'A search has a limit of 1000 unless set, from 1 to 10000.', parameters('have defaults, and unknown keys are ignored'), refusedSearch),
      row('| alerts `limit` |', 'Alerts have a limit of 100 unless set, from 1 to 2000.', alerts('refuses what is no parameter of it'), alerts('gives the last word on each alert, with why it has come, newest first')),
      row('| patterns `limit` |', 'Patterns have a limit of 50 unless set, from 1 to 2000.', patterns('refuses what is no parameter, and whoever may not read'), parameters('of /patterns have defaults')),
      row('| facets `limit` |', 'Facets have a limit of 20 unless set, from 1 to 1000.', parameters('of /facets have defaults, and 1 to 1000 values')),
      row('| hits `fields_by` |', 'Hits are grouped by 10 fields at most.', parameters('refuse ${text}')),
      row('| `service` filter |', 'The filter `service` has 512 characters at most.', alerts('refuses what is no parameter of it'), patterns('refuses what is no parameter, and whoever may not read')),
      row('| hits `step` |', 'The step of hits is one of six.', parameters('take each step of the interface, a minute where none is named'), parameters('refuse ${text}')),
      row('| facets per-request field cap', 'Facets have a cap of fields, which `truncated_fields` counts from.', facets('cuts the fields with the fewest hits, and counts them')),
    ],
  },
  {
    document: 'interface.md', heading: 'Body size caps', rows: [
      row('| logs and traces: `/api/v1/ingest`', 'Bodies of logs and traces have 2 MB at most, as they come and decompressed, unless set.', caps('max_body_size_mb is in binary megabytes, 2 unless set'), caps('${coding} ${how}: the cap decompressed passes, one byte more is a 413 as JSON')),
      row('| logs and traces: `/api/v1/ingest`', 'The cap holds on every path of logs and traces.', of('e2e/instance/long/described-statuses.e2e.test.ts')('refuses a body that is announced too large, before it comes'), of('e2e/failures/spans.e2e.test.ts')('are rejected by themselves, and refused as all paths of ingest refuse')),
      row('| `/v1/metrics` | 8 MB', 'OTLP metrics have 8 MB at most.', metrics('have caps of their own, and name them alone')),
      row('| `/api/v1/write` | 8 MB compressed', 'Remote write has 8 MB at most as it comes, 64 MB decompressed.', metrics('have caps of their own, and name them alone')),
      row('| `/api/v1/write` | 8 MB compressed', 'Remote write has 500,000 samples at most.', of('pipeline/samples/samples-writer.test.ts')('takes 500,000 samples of a request and no more'), of('e2e/failures/samples.e2e.test.ts')('are refused as the contract says: alone, with their number, by the gate, and over the ceiling')),
    ],
  },
  {
    document: 'interface.md', heading: 'Billable unit and daily total', rows: [
      row('- The unit is bytes of request body', 'What counts are bytes of accepted bodies of all signals together, by UTC day, also over restarts.', toTheByte, of('api/limits/daily-volume.test.ts')('begins anew at 00:00 UTC, whatever the zone of the machine'), of('api/limits/usage-view.test.ts')('sums all signals, and has each by itself')),
      row('- Reads (searches, dashboards, live tail', 'Reads do not count.', toTheByte),
      row('- Trial and free accounts stop at', 'A trial stops at its volume; paid plans go on to a ceiling, and then it is a 429.', daily("${plan} ${JSON.stringify(flags)} after ${bytes} bytes: ${taken ? 'taken' : '429'}"), of('e2e/instance/limits.e2e.test.ts')('a volume: the request that crosses the ceiling is taken whole, then none on either host until more is allowed')),
    ],
  },
  {
    document: 'interface.md', heading: 'Per-plan limits', rows: [
      row('| Trial | 500 entries/s', 'A trial has 500 entries/s, 73 GB, 1,200 queries a minute and 14 days.', numbers),
      row('| Team | 500 entries/s', 'Team has 500 entries/s, 34 GB, 1,200 queries a minute and 30 days.', numbers),
      row('| Growth | 2,000 entries/s', 'Growth has 2,000 entries/s, 135 GB, 3,000 queries a minute and 30 days.', numbers),
      row('| Custom | per contract', 'Custom is by contract, with up to 365 days and no limit of queries.', plans('stand in for what the plan says'), plans('${flag}=${text} on ${plan}: 400'), plans('custom: no rate of queries unless its contract has one')),
      row('| Trial expired | 100 entries/s', 'After a trial there are 0 bytes, 300 queries a minute and 14 days.', numbers, daily('after the trial: the sentence that clients test for')),
      row('Query endpoints (`/search`, `/hits`, `/facets`', 'The five paths of queries are limited by key, with `Retry-After`.', perMinute, queryRate('is of each key of each tenant'), of('api/query/rate.test.ts')('the five paths of queries ask the rate of the key, and the others do not')),
    ],
  },
  {
    document: 'interface.md', heading: 'Ingest token bucket (per tenant)', rows: [
      row('1. Sustained rate is the refill rate', 'The burst is 5 times the rate.', bucket('bursts of the plans'), bucket('of every rate fills from its floor to its burst in FULL_AFTER, and stays whole')),
      row('2. The bucket may go negative', 'Debt is 5 times the rate at most, and is refilled.', rowByRow, tenantBucket('lets the burst through, then debt, then refuses what is larger than the burst until the debt is paid')),
      row('3. A request that fits inside the burst', 'A request that fits inside the burst is never refused.', rowByRow, tenantBucket('never refuses a request that fits inside the burst, however deep the debt'), of('e2e/instance/limits.e2e.test.ts')('a trial: what fits inside the burst is taken, in debt a larger batch waits as long as it is told')),
      row('4. A platform-wide limiter', 'The platform has 50,000 entries/s unless set, and refuses small requests as well.', ofPlatform, platform('is one for all tenants, and refuses small requests too'), of('pipeline/core/core.test.ts')('has the documented defaults')),
    ],
  },
  {
    document: 'interface.md', heading: 'Expired-trial ceilings', rows: [
      row('3 users, 2 API keys, 2 live-tail sessions', 'The ceilings after a trial are 3 users, 2 keys, 2 live tails, 25 dashboards and 50 saved searches.', sweep('are the contract’s')),
      row('3 users, 2 API keys, 2 live-tail sessions', 'After a trial there are 2 keys.', sweep('two keys: a third is 403, unless one is revoked or has expired, or a payment comes')),
      row('3 users, 2 API keys, 2 live-tail sessions', 'After a trial there are 2 live tails.', of('api/live/sockets.test.ts')('the third of an expired trial is refused, until one closes')),
      row('3 users, 2 API keys, 2 live-tail sessions', 'After a trial there are 50 saved searches.', of('api/account/saved-searches.test.ts')('the expired trial has 50, and any tenant a bounded number and length')),
      row('3 users, 2 API keys, 2 live-tail sessions', 'Detectors keep running after a trial, and sensitivity can still be set.', of('api/alerts/detector-routes.test.ts')("are a tenant's also when its trial has expired")),
      row('3 users, 2 API keys, 2 live-tail sessions', 'Search works after a trial, at its rate.', of('e2e/instance/paging.e2e.test.ts')('the query rate is that of the plan: a burst of a minute, then 429 with the seconds to wait')),
    ],
  },
  {
    document: 'interface.md', heading: 'AI credits (daily, reset each day)', rows: [
      row('| Trial | 200', 'A trial has 200 credits a day, 40 of deep analysis, 20 of imports.', credits('${plan}: every limit at its boundary, through a kill in the middle')),
      row('| Team | 200', 'Team has 200 credits a day, 40 of deep analysis, 20 of imports.', credits('${plan}: every limit at its boundary, through a kill in the middle')),
      row('| Growth | 500', 'Growth has 500 credits a day, 100 of deep analysis, 50 of imports.', credits('${plan}: every limit at its boundary, through a kill in the middle')),
      row('| Custom | unlimited', 'Custom has no limit of credits; its sub-caps are by contract.', credits('of every plan and flag: the gate, or no limit')),
      row('| Trial expired | 0, AI off', 'After a trial there are no credits.', credits('of every plan and flag: the gate, or no limit')),
      row('| Trial | 200', 'An import of a playbook is counted in its share, through a kill, and refused beyond it.', of('api/ai/playbooks.test.ts')('stop at the share of the plan, which is exact over a node that was killed and started again, and is named before the total')),
      row('Features without a sub-cap', 'A sub-cap binds before the total of the day.', credits('${plan}: every limit at its boundary, through a kill in the middle')),
    ],
  },
  {
    document: 'interface.md', heading: '9. Versioning', rows: [
      row('- The interface description version is 1.0.0', 'The version of the description is 1.0.0.', document('has the version of the interface')),
      row('- Query, alert and pattern paths carry', 'Paths of queries begin with `/api/v1`; OTLP logs are at `/v1/logs`.', of('api/auth/matrix.test.ts')('every path that the interface names is on its plane, with its scope')),
      row('- Admin, OAuth, team-management', 'Routes of administration are on no public host.', of('api/auth/matrix.test.ts')('routes of administration are on no public host')),
    ],
    remarks: [{ line: '- Deprecation policy and compatibility', reason: 'not shown' }],
  },
];
