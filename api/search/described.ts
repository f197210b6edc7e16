/** The description of the endpoints of `routes.ts`. */
import Joi from 'joi';
import {
  anyMembers,
  HINTS_MEMBER,
  jsonBody,
  list,
  members,
  moment,
  ok,
  text,
  whole,
  WINDOW_MEMBER,
  type Operation,
} from '../http/operation.ts';
import { facetsSchema, hitsSchema, searchSchema, time, windowSchema } from '../query/parameters.ts';

const page = { window: WINDOW_MEMBER };
const hints = { hints: HINTS_MEMBER };

/** An entry, or a row of the query's pipes. */
const ENTRY = Joi.object({
  _time: text('When it happened, ISO 8601 to the nanosecond.'),
  _stream: text('Its label set, as in `{service="web"}`.'),
  _msg: text('The message.'),
  level: text(),
  _fingerprint: text('Of an error: its pattern.'),
  _first_seen: text('Of an error: when its pattern came first.'),
  _occurrences: whole('Of an error: how often its pattern came.'),
})
  .pattern(Joi.string().allow(''), Joi.any())
  .description('An entry with its fields, or a row of the pipes.');

const explained = Joi.object()
  .pattern(Joi.string(), Joi.any())
  .description('With `explain=true`: the statements, what narrows them down, and the pipes that run in memory.');

const found = (member: string, what: string): Operation['answers'] =>
  ok(
    Joi.alternatives(
      members(
        {
          [member]: list(ENTRY),
          count: whole(`The number of ${what}.`),
          elapsed_ms: whole("The server's whole time."),
          has_more: Joi.boolean(),
          oldest_time: text('Where the next page begins: pass it as `before`.').allow(null),
          ...page,
        },
        { ...hints, truncated: Joi.boolean().description('Rows of pipes were cut at `limit`.') },
      ),
      members({ explain: explained }, hints),
    ),
  );

const TRUE_OR_FALSE = { 'boolean.base': '{#label} must be true or false' };
const flag = Joi.boolean().sensitive().messages(TRUE_OR_FALSE);
const explain = flag.default(false).description('Shows how the query would run; nothing is read.');
/** What the URL of a search may have. */
export const SEARCH_URL = Joi.object<{ readonly explain: boolean; readonly enrich: boolean }>({
  explain,
  enrich: flag.default(true).description("Adds an error's pattern."),
});
export const SPANS_URL = Joi.object<{ readonly explain: boolean }>({ explain });

const bucket = Joi.object({ time: moment('Where the bucket begins.').required(), hits: whole().required(), stream: text() })
  .unknown()
  .description('With the value of each field of `fields_by`.');
const hits = ok(members({ hits: list(bucket), ...page }, hints));
const facets = ok(
  members(
    {
      facets: anyMembers(list(members({ value: text(), hits: whole() }))),
      truncated_fields: whole('Fields that are left out.'),
      ...page,
    },
    hints,
  ),
);

const label = Joi.array()
  .items(Joi.string())
  .max(10)
  .description('`NAME:VALUE`, repeated: a series must have all of them.')
  .example(['zone:eu']);
const measuresQuery = Joi.object({
  ...{ name: Joi.string().max(100), service: Joi.string().allow('').max(4096), label },
  ...{ start: time.default('-1d'), end: time.default('now') },
});
const series = members({
  name: text(),
  labels: anyMembers(text()),
  span: whole('What a point measures, in seconds from its time on.'),
  points: list(Joi.array().ordered(moment(), Joi.number()).length(2)),
});

export const SEARCH: Operation = {
  ...{ id: 'searchEntries', tag: 'logs', summary: 'Entries that a query matches, newest first' },
  ...{ query: SEARCH_URL, body: jsonBody(searchSchema.unknown()), answers: found('logs', 'entries') },
};
export const HITS: Operation = {
  ...{ id: 'countEntries', tag: 'logs', summary: 'How many entries match, in buckets of time' },
  ...{ query: hitsSchema, answers: hits },
};
export const FACETS: Operation = {
  ...{ id: 'listFacets', tag: 'logs', summary: 'The most frequent values of each field' },
  ...{ query: facetsSchema, answers: facets },
};
export const STREAMS: Operation = {
  ...{ id: 'listStreams', tag: 'logs', summary: 'The streams of a window, those with most entries first' },
  query: windowSchema,
  answers: ok(members({ streams: list(members({ id: text('Its label set.'), hits: whole() })), ...page }, hints)),
};
export const MEASURES: Operation = {
  ...{ id: 'listMeasures', tag: 'logs', summary: 'Numbers that processors have found' },
  query: measuresQuery,
  answers: ok(members({ measures: list(series), ...page }, hints)),
};
export const SPANS: Operation = {
  ...{ id: 'searchSpans', tag: 'traces', summary: 'Spans that a query matches, newest first' },
  query: SPANS_URL,
  ...{ body: jsonBody(searchSchema.unknown()), answers: found('spans', 'spans') },
};
export const SPAN_HITS: Operation = {
  ...{ id: 'countSpans', tag: 'traces', summary: 'How many spans match, in buckets of time' },
  ...{ query: hitsSchema, answers: hits },
};
export const SPAN_FACETS: Operation = {
  ...{ id: 'listSpanFacets', tag: 'traces', summary: 'The most frequent values of each field of spans' },
  ...{ query: facetsSchema, answers: facets },
};
