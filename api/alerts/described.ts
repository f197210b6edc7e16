/** The description of the endpoints of alerts, incidents and detectors. */
import Joi from 'joi';
import { pageAnswer } from '../http/lists.ts';
import { anyMembers, HINTS_MEMBER, jsonBody, list, members, moment, ok, text, whole, type Operation } from '../http/operation.ts';
import { alertsSchema, incidentsSchema, resolveSchema } from '../query/parameters.ts';

/** An alert as it is shown. */
const ALERT = members({
  id: whole(),
  detector_type: text('Which detector has found it.'),
  stream: text('The label set that it is about.'),
  severity: Joi.string().valid('info', 'warning', 'critical'),
  title: text(),
  description: text(),
  evidence: anyMembers().description('Numbers, windows and links that led to it, by detector.'),
  state: Joi.string().valid('firing', 'resolved'),
  fired_at: moment(),
  fire_count: whole('In how many windows it has fired.'),
  resolved_at: moment().allow(null),
  last_updated_at: moment(),
  resolution_note: text().allow(null),
  incident_id: whole().allow(null),
});

const incident = members({
  id: whole(),
  service: text(),
  state: Joi.string().valid('firing', 'resolved'),
  severity: Joi.string().valid('info', 'warning', 'critical'),
  started_at: moment(),
  ended_at: moment().allow(null),
  last_updated_at: moment(),
  alert_count: whole(),
  alerts: list(ALERT),
});

const page = (items: Joi.Schema): Operation['answers'] => pageAnswer(items, {}, { hints: HINTS_MEMBER });

const id = Joi.number().integer().min(1);

export const ALERTS: Operation = {
  ...{ id: 'listAlerts', tag: 'alerts', summary: 'What detectors have found, newest first' },
  ...{ query: alertsSchema, answers: page(ALERT) },
};
const playbooks = list(members({ id: text(), name: text() })).description('Playbooks that fit it, where there are any.');
export const ONE_ALERT: Operation = {
  ...{ id: 'getAlert', tag: 'alerts', summary: 'One alert' },
  ...{ path: Joi.object({ alert_id: id }), answers: ok(ALERT.keys({ playbooks })), errors: [404] },
};
export const RESOLVE: Operation = {
  ...{ id: 'resolveAlert', tag: 'alerts', summary: 'Resolves an alert, with a note' },
  path: Joi.object({ alert_id: id }),
  body: { ...jsonBody(resolveSchema), isOptional: true },
  ...{ answers: ok(ALERT, 'The alert, once every node shows it as resolved.'), errors: [404] },
};
export const INCIDENTS: Operation = {
  ...{ id: 'listIncidents', tag: 'alerts', summary: 'Alerts of a service that fired together, newest first' },
  ...{ query: incidentsSchema, answers: page(incident) },
};
export const ONE_INCIDENT: Operation = {
  ...{ id: 'getIncident', tag: 'alerts', summary: 'One incident' },
  ...{ path: Joi.object({ incident_id: id }), answers: ok(incident), errors: [404] },
};

const sensitivityRule = Joi.object({
  detector: text('All of them without it.'),
  stream: text('A label set: streams that have these labels.'),
  sensitivity: Joi.string().valid('off', 'low', 'normal', 'high').required(),
}).unknown();
const detectors = ok(
  members({
    detectors: list(members({ name: text(), description: text('When it fires.') })),
    rules: list(sensitivityRule).description('Of this tenant; the first one that fits counts.'),
    defaults: list(sensitivityRule).description('Of all tenants.'),
  }),
);

export const DETECTORS: Operation = {
  ...{ id: 'listDetectors', tag: 'alerts', summary: 'The detectors, and how easily they fire', answers: detectors },
};
export const SET_DETECTORS: Operation = {
  ...{ id: 'setSensitivity', tag: 'alerts', summary: 'Sets how easily detectors fire: all rules of the tenant at once' },
  ...{ body: jsonBody(Joi.object({ rules: Joi.array().items(sensitivityRule).required() })), answers: detectors, errors: [409] },
};
