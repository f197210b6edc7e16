/** What the interface leaves open: alerts, patterns, plans and limits. */
import { of, row, type Section } from './row.ts';

const series = of('pipeline/detectors/series.test.ts');
const alerting = of('pipeline/alerting/streams/alerting.test.ts');
const book = of('pipeline/alerting/book/alert-book.test.ts');
const alerts = of('e2e/store/long/alerts-query.e2e.test.ts');
const patterns = of('e2e/store/patterns-query.e2e.test.ts');
const live = of('e2e/instance/live.e2e.test.ts');
const plans = of('api/tenants/plans.test.ts');
const daily = of('api/limits/daily-volume.test.ts');
const caps = of('api/http/body-caps.test.ts');
const admin = of('api/admin/admin-routes.test.ts');
const sweep = of('api/control/trial-sweep.test.ts');

const features = plans('${name}: its features');

// prettier-ignore
export const DECIDED_ALERTS: readonly Section[] = [
  {
    document: 'decisions.md', heading: 'Alerts and patterns', rows: [
      row('- Detectors shipped: `log_rate`', '`log_rate`, `error_rate` and `silence` fire where a stream leaves its past.', series('that falls to a part of it is a matter of log_rate, and one that stops of silence alone'), series('tells errors where they become more of all, and not where all become more')),
      row('- Detectors shipped: `log_rate`', '`new_pattern` and `pattern_rate` fire for new templates and for those that rise.', of('pipeline/alerting/patterns/new-patterns.test.ts')('are one alert from the sixth of an hour on'), of('pipeline/alerting/streams/pattern-alerts.test.ts')('fire once where the errors of the streams as a whole stay what they are, with evidence, and end')),
      row('- An alert is deduplicated by', '`fire_count` grows with each window, and the alert resolves itself with its note.', alerting('tells errors of a stream as an alert with its evidence, raises its fire count, and resolves it when it is over')),
      row('- An alert is deduplicated by', 'Within 30 minutes it fires again as the same alert, later as another one.', series('fires again as the same alert within half an hour, and as another one later'), book('say since when they fire this time')),
      row('- An alert is deduplicated by', 'After a resolution by hand it fires again, as another one, once it was back.', book('that a user has resolved fire again as other ones, once they were back, whatever is told late'), alerting('is quiet about what somebody has resolved, with the note, until it was back')),
      row('- An alert is deduplicated by', 'Resolving a resolved alert changes nothing but an empty note.', of('api/alerts/resolver.test.ts')('writes nothing for one that is resolved, unless a note is missing')),
      row('- `id`: a positive integer below 2^53', 'The id of an alert is the same after a replay.', of('pipeline/alerting/book/alerts.test.ts')('is a positive integer below 2^53, and the same for the same parts alone'), of('pipeline/alerting/streams/kills.test.ts')('tell the same alerts and fire counts after a hundred kills, and have the same states')),
      row('- Sensitivity (off, low, normal, high)', 'Sensitivity is set by tenant, detector and stream.', alerting('heeds how easily detectors shall fire: by tenant, detector and stream, from a snapshot on too')),
      row('- Sensitivity (off, low, normal, high)', 'A rule fires the same alerts.', of('e2e/detection/rules.e2e.test.ts')('made through the API fire on the entries that come, with evidence, and are resolved when they are deleted')),
      row('- `incident_id`: alerts of one tenant', 'Alerts of a service within 5 minutes share an incident.', of('pipeline/alerting/book/incidents.test.ts')('are the same for alerts of a service within five minutes'), alerting('gives alerts of a service that fire together one incident, and others another')),
      row('- `service` filters (alerts, patterns)', '`service` matches the label exactly.', alerts('narrows down by state, severity, detector, service and time'), patterns('sorts, pages, searches and narrows down to a service')),
      row('- `service` filters (alerts, patterns)', 'Without parameters alerts are those that fire and those resolved within a day.', alerts('gives the last word on each alert, with why it has come, newest first'), alerts('shows nothing that the plan does not keep any more')),
      row('- Patterns: one row for each cluster', 'A pattern is the root of its cluster and counts its aliases.', patterns('makes one of templates that differ in a word that is a value, and says of which'), patterns('counts as the entries themselves are counted by their column')),
      row('- Patterns: one row for each cluster', '`_fingerprint` finds the entries by a root or an alias.', patterns('leads from a root, or an alias, to the entries of its cluster')),
      row('- WebSocket frames are JSON text', 'A tail sends entries exactly as search gives them.', live('send what matches, once, exactly as search gives it'), of('e2e/instance/live-equal.e2e.test.ts')('give the same, for the public queries')),
      row('- WebSocket frames are JSON text', 'A new message with a query replaces the filter, and what is wrong is told in a control frame.', live('a new query takes the place of the one before, and one that is wrong does not')),
      row('- WebSocket frames are JSON text', 'Alerts come as `fired` and `resolved`, and as `updated` on request.', live('of alerts: fires and resolutions, updates on request, and what was said since a time')),
    ],
  },
  {
    document: 'decisions.md', heading: 'Plans, limits, gates', rows: [
      row('- Body caps are binary megabytes', 'Caps are binary megabytes, inclusive, and a 413 has both sizes.', caps('max_body_size_mb is in binary megabytes, 2 unless set'), caps('uncompressed ${how}: the cap passes, one byte more is a 413 as plain text')),
      row('- Body caps are binary megabytes', 'Line protocol, OTLP metrics and replay have 8 MB each way.', of('api/ingest/metrics-endpoints.test.ts')('have caps of their own, and name them alone'), of('api/ingest/replay-endpoints.test.ts')('has caps of 8 MB each way')),
      row('- Body caps are binary megabytes', 'JSON of the app plane has 1 MB, and headers 64 KiB.', of('api/http/body.test.ts')('compressed, and above 1 MiB'), of('api/http/http-server.test.ts')('headers of 60 KB pass'), of('api/http/every-error.test.ts')('headers of 70 KB')),
      row('- The billable unit: the decompressed bytes', 'The unit is the decompressed body of what was answered 2xx.', of('api/ingest/ingest-endpoints.test.ts')('counts decompressed bytes'), of('e2e/restarts/usage.e2e.test.ts')('is the decompressed size of all acknowledged bodies, to the byte, through kills and restarts')),
      row('- The platform-wide limiter is', 'The limiter of the platform is a setting, and off at 0.', of('pipeline/core/core.test.ts')('has the documented defaults'), of('api/limits/ingest-limits.test.ts')('have no platform bucket where it is off')),
      row('- The platform-wide limiter is', 'The plan `unlimited` has no bucket, no quota and no rate.', of('api/limits/tenant-bucket.test.ts')('is none on a plan without a rate'), daily("${plan} ${JSON.stringify(flags)} after ${bytes} bytes: ${taken ? 'taken' : '429'}"), of('api/limits/query-rate.test.ts')('is none where the plan has none, and no query at all where it is zero')),
      row('- The platform-wide limiter is', '`free` is trial and `enterprise` is custom.', plans('aliases, and names that are no plan')),
      row('| trial | on | off | off | on |', 'A trial has metrics and AI.', features),
      row('| team | on | on | off | on |', 'Team has metrics, replay and AI.', features),
      row('| growth | on | on | 5 | on |', 'Growth has metrics, replay, 5 projects and AI.', features),
      row('| custom | on | on | by contract | on |', 'Custom has metrics, replay, projects by contract and AI.', features),
      row('| trial_expired | off | off | off | off |', 'After a trial there is no feature.', features),
      row('| unlimited | on | on | 100 | on |', 'Unlimited has metrics, replay, 100 projects and AI.', features),
      row('Each is a flag of the plan with an override', 'Each feature has an override on the tenant.', plans('stand in for what the plan says')),
      row('Each is a flag of the plan with an override', 'After a trial metrics and replay answer their gates.', of('api/ingest/metrics-endpoints.test.ts')('answer the gate where the plan has no metrics, and after a trial whatever its flags are'), of('api/ingest/replay-endpoints.test.ts')('has the gate of the plan, behind the key and before the body')),
      row("- The expired trial's ceilings", 'After a trial a third key is a 403, and a third live tail before its upgrade.', sweep('two keys: a third is 403, unless one is revoked or has expired, or a payment comes'), of('api/live/sockets.test.ts')('the third of an expired trial is refused, until one closes')),
      row("- The expired trial's ceilings", 'After a trial a saved search beyond the ceiling is a 403.', of('api/account/saved-searches.test.ts')('the expired trial has 50, and any tenant a bounded number and length')),
      row("- The expired trial's ceilings", 'Credits that are used up are a 429 until 00:00 UTC, the sub-cap named before the total.', of('api/limits/ai-credits.test.ts')('${plan}: every limit at its boundary, through a kill in the middle')),
      row('- `pattern`, the first 8 bytes', '`pattern` is the first 8 bytes of the fingerprint, and no field of an answer.', of('pipeline/logs/message-patterns.test.ts')('is the first eight bytes of the fingerprint of its message'), of('e2e/store/query.e2e.test.ts')('answers with entries, and with the rows of pipes')),
      row('- The signup time is on the tenant', 'The sweep moves a trial whose signup was 14 days ago.', sweep('moves those that have ended, once')),
      row('- Administration is a CLI', 'The commands of administration print what is documented.', admin('tenant create prints the id and a key of all scopes'), admin('every other command')),
      row('- Administration is a CLI', 'Keys are shown once and stored hashed.', admin('keys: create, list, rotate, revoke'), of('api/admin/admin-audit.test.ts')('each change leaves a line: who, what, on which tenant and key, and never a secret')),
    ],
    remarks: [{ line: '- Plans and features:', reason: 'the table follows' }],
  },
];
