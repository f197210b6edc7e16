/** The description of what a tenant uses. */
import Joi from 'joi';
import { list, members, moment, ok, text, whole, type Operation } from '../http/operation.ts';

export type UsageParameters = { readonly day: string | null };

export const USAGE_QUERY = Joi.object<UsageParameters>({
  day: Joi.string()
    .pattern(/^\d{4}-\d{2}-\d{2}$/)
    .messages({
      'string.pattern.base': '"day" must be a UTC day such as 2026-11-21',
      'string.empty': '"day" must be a UTC day such as 2026-11-21',
    })
    .allow(null)
    .default(null)
    .description('The UTC day of `keys`, `services` and `refused`: today, or one of the two before.')
    .example('2026-11-21'),
});

const bytes = whole('Bytes.');
const ofSignal = Joi.object().pattern(Joi.string(), bytes);
const dollars = Joi.number().description('US dollars.');
const day = members({
  ...{ day: text('UTC.'), bytes: whole('Of request bodies that were accepted, decompressed.'), pending_bytes: bytes },
  ...{ signals: ofSignal.description('The same by signal.'), included_bytes: whole('Null: no limit.').allow(null) },
  ceiling_bytes: whole('At which ingest stops; null: no limit.').allow(null),
  over_bytes: whole('Beyond the included volume, of a plan that is paid.'),
  cost: dollars.description('What `over_bytes` cost at the price of the plan. US dollars.'),
});
const key = members({
  ...{ key_id: text('Empty: of keys beyond the first 2,000 by signal.'), name: text().allow(null), signal: text(), bytes },
  ...{ entries: whole('Of the signal: entries, spans, samples, events.'), requests: whole() },
});
const refused = members({
  signal: text('`requests`: of what asks, and sends nothing.'),
  status: whole('200: entries of requests that were taken.'),
  ...{ error: text('The slug of the error, or the class of the reason.'), requests: whole(), entries: whole() },
  ...{ last_at: moment(), reason: text('The sentence of the last one.') },
});
const limit = members({
  ...{ name: text(), unit: text(), limit: Joi.number().allow(null).description('Null: none.') },
  used: Joi.number()
    .allow(null)
    .description(
      'Of the process that answers: `query_rate`, `queries_at_once`, `live_tails`. `ingest_rate` is the mean of the last ten seconds over all nodes, of the signal that has most; others come half a second late. `streams_per_day` and `series_per_day` are what is stored of today, while each process that takes data holds its own count against the limit; null where storage could not count them.',
    ),
  clears_at: moment('Null: see `clears`.').allow(null),
  clears: text('What ends a refusal.'),
});

export const USAGE: Operation = {
  ...{ id: 'getUsage', tag: 'account', summary: 'What the tenant uses: by day, signal, service and key; limits, refusals and costs' },
  description:
    'Bytes by day are what is billed, exact over all nodes. Keys and refusals are counted by each process and shared every three seconds; what a killed process had not shared is missing. Services are counted in entries of logs by their times.',
  query: USAGE_QUERY,
  answers: ok(
    members(
      {
        ...{ plan: text(), paid: Joi.boolean(), day: text('Of `keys`, `services` and `refused`.'), days: list(day) },
        price: members({ per_gb_over: dollars.allow(null), currency: text() }).description('Null: the plan stops at its volume.'),
        ...{ keys: list(key), refused: list(refused), limits: list(limit) },
        services: list(members({ service: text(), entries: whole() }))
          .allow(null)
          .description('The hundred with most entries; null where they could not be counted.'),
      },
      { hints: list(text()).description('Why services, or streams and series, are not counted.') },
    ),
  ),
};
