/** The description of the previews: what would have fired. */
import Joi from 'joi';
import { anyMembers, jsonBody, list, members, moment, ok, text, whole, WINDOW_MEMBER, type Operation } from '../http/operation.ts';
import { previewQuery } from '../query/parameters.ts';
import { METRIC_RULE_BODY, RULE_BODY } from './described-rules.ts';

const alert = members({
  fired_at: moment(),
  resolved_at: moment().allow(null).description('Null where it fires still.'),
  side: Joi.string().valid('up', 'down'),
  value: Joi.number().allow(null),
  expected: members({ low: Joi.number().allow(null), high: Joi.number().allow(null) }),
  fire_count: whole('In how many windows it fires.'),
});

export const RULE_PREVIEW: Operation = {
  ...{ id: 'previewRule', tag: 'rules', summary: 'What a rule would have fired in the last 24 hours, by what is stored; nothing is saved' },
  body: jsonBody(RULE_BODY),
  answers: ok(
    members({
      window: WINDOW_MEMBER,
      every: text('The length of a window of the rule.'),
      fired: whole('Alerts of all series.'),
      has_more_groups: Joi.boolean().description('There are more groups than those with the most entries, which are in `series`.'),
      series: list(
        members({
          labels: anyMembers(text()).description('The group.'),
          values: list(Joi.number().allow(null)).description('Of each window; null where it has none.'),
          alerts: list(alert),
        }),
      ),
    }),
  ),
};

export const METRIC_RULE_PREVIEW: Operation = {
  ...{ id: 'previewMetricRule', tag: 'rules' },
  summary: 'What a rule over metrics that watches would have fired in the last 24 hours, by what is stored; nothing is saved',
  body: jsonBody(METRIC_RULE_BODY),
  answers: ok(
    members({
      window: WINDOW_MEMBER,
      every: text('The interval of the rule.'),
      fired: whole('Alerts of all series.'),
      has_more_series: Joi.boolean().description('There are more series than those in `series`.'),
      series: list(
        members({
          labels: anyMembers(text()),
          values: list(Joi.number().allow(null)).description('Of each time; null where it has none.'),
          alerts: list(alert),
        }),
      ),
    }),
  ),
};

/** What `POST /detectors/preview` takes. */
export const DETECTOR_PREVIEW_BODY = Joi.object<{ readonly detector: string; readonly query: string }>({
  detector: text('One of `log_rate`, `error_rate`, `silence`, `pattern_rate`.').required(),
  query: previewQuery.default('*'),
});

const bySensitivity = (of: Joi.Schema): Joi.Schema => members({ low: of, normal: of, high: of });

export const DETECTOR_PREVIEW: Operation = {
  ...{ id: 'previewDetector', tag: 'alerts' },
  summary: 'What a detector would have fired in the last 24 hours with each sensitivity, by what is stored; nothing is set',
  body: jsonBody(DETECTOR_PREVIEW_BODY),
  answers: ok(
    members({
      window: WINDOW_MEMBER,
      fired: bySensitivity(whole()).description('Alerts of all streams.'),
      has_more_streams: Joi.boolean().description('There are more streams than those with the most entries, which are in `series`.'),
      series: list(members({ stream: text('Empty where all are together, as of `pattern_rate`.'), alerts: bySensitivity(list(alert)) })),
    }),
  ),
};
