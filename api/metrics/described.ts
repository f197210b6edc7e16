/** The description of the endpoints of metrics. */
import Joi from 'joi';
import { HINTS_MEMBER, list, members, ok, text, whole, type Operation } from '../http/operation.ts';

export const CARDINALITY: Operation = {
  ...{ id: 'getCardinality', tag: 'metrics', summary: 'How many series are active today, and how many may be' },
  answers: ok(
    members(
      {
        day: Joi.string().description('Of UTC.').example('2026-11-21'),
        active_series: whole(),
        limit: whole('Of the plan; null for any number.').allow(null),
        metrics: list(members({ metric: text(), series: whole() })),
        labels: list(members({ label: text(), values: whole() })),
      },
      { hints: HINTS_MEMBER },
    ),
  ),
};
