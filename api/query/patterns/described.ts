/** The description of the endpoints of patterns. */
import Joi from 'joi';
import { anyMembers, HINTS_MEMBER, list, members, moment, ok, text, whole, WINDOW_MEMBER, type Operation } from '../../http/operation.ts';
import { diffSchema, patternSchema, patternsSchema } from './parameters.ts';

const hints = { hints: HINTS_MEMBER };
const fingerprint = Joi.string().hex().length(64);

const shown = {
  fingerprint: text('The pattern, in 64 hexadecimal digits.'),
  normalized_message: text('The template, with placeholders for what differs.'),
  first_seen: moment(),
  last_seen: moment().allow(null),
  count: whole('Entries of the window.'),
  streams: list(text()),
};
const more = {
  example_raw_message: text(),
  level: text(),
  trend: list(Joi.number()).description('Entries in equal parts of the window.'),
  is_new: Joi.boolean(),
};
const aliases = list(text()).description('Fingerprints that were joined to this one.');

const changed = list(
  members({ fingerprint: text(), normalized_message: text(), a: whole(), b: whole(), expected: Joi.number() }),
).description('With the entries of both windows, and how many were to be expected in the second one.');

export const PATTERNS: Operation = {
  ...{ id: 'listPatterns', tag: 'patterns', summary: 'Message templates of a window' },
  query: patternsSchema,
  answers: ok(members({ patterns: list(members(shown, { ...more, aliases })), has_more: Joi.boolean(), window: WINDOW_MEMBER }, hints)),
};
export const DIFF: Operation = {
  ...{ id: 'diffPatterns', tag: 'patterns', summary: 'Which patterns are new, gone or changed from one window to another' },
  query: diffSchema,
  answers: ok(members({ new: changed, gone: changed, changed, a: WINDOW_MEMBER, b: WINDOW_MEMBER }, hints)),
};
export const PATTERN: Operation = {
  ...{ id: 'getPattern', tag: 'patterns', summary: 'A pattern, with its history and the values of its placeholders' },
  ...{ path: Joi.object({ fingerprint }), query: patternSchema },
  answers: ok(
    members(
      {
        pattern: members(shown, { ...more, aliases }),
        history: list(anyMembers()).description('Entries by hour.'),
        placeholders: list(
          members({ placeholder: text(), position: whole(), values: list(members({ value: text(), hits: whole() })) }, { others: whole() }),
        ),
        sampled: whole('How many of the newest entries were looked at for the values.'),
        first_example: text().allow(null),
        last_example: text().allow(null),
        window: WINDOW_MEMBER,
      },
      hints,
    ),
  ),
  errors: [404],
};
