import { from, type Section } from './limit.ts';

const courier = from('pipeline/alerting/announcements/courier.ts');
const outbox = from('pipeline/alerting/announcements/outbox.ts');
const delivery = from('pipeline/alerting/announcements/delivery.ts');
const names = from('pipeline/alerting/announcements/name-resolver.ts');
const alertmanager = from('pipeline/alerting/announcements/alertmanager.ts');
const routes = from('api/alerts/described-webhooks.ts');

/** What is sent to receivers that tenants choose. */
export const NOTIFICATIONS: Section = {
  title: 'Notifications',
  rows: [
    {
      what: 'Webhooks',
      of: 'a tenant',
      bound: [from('api/control/records.ts')('MAX_WEBHOOKS', '')],
      beyond: '409',
      others: 'nothing',
      attack: ['rules-of-many-groups'],
      test: 'test/api/alerts/webhook-routes.test.ts',
    },
    {
      what: 'What a webhook is set to',
      of: 'a request',
      bound: [
        from('pipeline/alerting/announcements/webhook.ts')('MAX_URL', 'characters of a URL'),
        routes('MAX_NAMES', 'names in a list'),
        routes('MAX_NAME', 'characters of one'),
      ],
      beyond: '400',
      others: 'nothing',
      test: 'test/pipeline/alerting/announcements/webhook.test.ts',
    },
    {
      what: 'Deliveries that are pending or have failed',
      of: 'a tenant',
      bound: [outbox('MOST_OF_TENANT', '', 'count'), outbox('MOST_OF_TENANT', 'bytes', 'bytes')],
      beyond: 'The oldest that has failed makes room; where all are pending, a new one is refused, and counted.',
      others: 'nothing',
      attack: ['rules-of-many-groups'],
      test: 'test/pipeline/alerting/announcements/deliveries.test.ts',
    },
    {
      what: 'The same',
      of: 'all tenants',
      bound: [outbox('MOST', '', 'count'), outbox('MOST', 'bytes', 'bytes')],
      beyond: 'A new one is refused, and counted.',
      others: 'Theirs are refused too.',
      attack: ['rules-of-many-groups'],
    },
    {
      what: 'Deliveries on their way',
      of: 'a tenant',
      bound: [courier('MOST_OF_TENANT', '')],
      beyond: 'The next ones wait.',
      others: 'nothing',
      attack: ['rules-of-many-groups'],
      test: 'test/pipeline/alerting/announcements/deliveries.test.ts',
    },
    {
      what: 'The same',
      of: 'a process',
      bound: [courier('MOST', '')],
      beyond: 'The next ones wait.',
      others: 'Theirs wait too, once many have slow receivers.',
      test: 'test/pipeline/alerting/announcements/deliveries.test.ts',
    },
    {
      what: 'Time for a receiver to answer',
      of: 'a request',
      bound: [from('pipeline/alerting/announcements/webhook-sender.ts')('TIMEOUT_MS', 'ms')],
      beyond: 'It is tried again later.',
      others: 'nothing',
      attack: ['rules-of-many-groups'],
      test: 'test/pipeline/alerting/announcements/http-post.test.ts',
    },
    {
      what: 'Time for which a delivery is tried; for which a failed one is kept',
      of: 'a tenant',
      bound: [delivery('GIVE_UP', 'ms'), delivery('KEPT_MS', 'ms')],
      beyond: 'It has failed; it is forgotten.',
      others: 'nothing',
      test: 'test/pipeline/alerting/announcements/deliveries.test.ts',
    },
    {
      what: 'What of an alert is sent',
      of: 'an alert',
      bound: [delivery('MAX_ALERT', 'bytes')],
      beyond: 'Samples are left out, and then the evidence.',
      others: 'nothing',
      test: 'test/pipeline/alerting/announcements/deliveries.test.ts',
    },
    {
      what: 'Wait for why an alert has come',
      of: 'an alert',
      bound: [from('pipeline/alerting/announcements/webhook-listener.ts')('WHY_MS', 'ms')],
      beyond: 'It is sent without.',
      others: 'nothing',
      test: 'test/pipeline/alerting/announcements/deliveries.test.ts',
    },
    {
      what: 'Time of a server of names',
      of: 'a request',
      bound: [names('DNS', 'ms', 'timeout'), names('DNS', 'tries', 'tries')],
      beyond: 'The delivery is tried again later.',
      others: 'nothing',
      attack: ['rules-of-many-groups'],
    },
    {
      what: 'Names that the system looks up at once',
      of: 'a tenant',
      bound: [names('MOST_OF_TENANT', ''), names('MOST_WAITING', 'waiting')],
      beyond: 'The delivery is tried again later.',
      others: 'nothing',
      attack: ['rules-of-many-groups'],
      test: 'test/pipeline/alerting/announcements/name-resolver.test.ts',
    },
    {
      what: 'The same',
      of: 'a process',
      bound: [names('MOST', '')],
      beyond: 'The next ones wait.',
      others: 'Names that the DNS does not know wait too, while some tenants have slow ones.',
      test: 'test/pipeline/alerting/announcements/name-resolver.test.ts',
    },
    {
      what: 'Alerts that Alertmanagers are sent, the newest',
      of: 'a tenant',
      bound: [alertmanager('MOST_OF_TENANT', '')],
      beyond: 'Older ones are not sent.',
      others: 'nothing',
      attack: ['rules-of-many-groups'],
      test: 'test/pipeline/alerting/announcements/alertmanager.test.ts',
    },
    {
      what: 'The same',
      of: 'a process',
      bound: [alertmanager('MOST', ''), from('api/alerts/firing-alerts.ts')('MOST', 'at the start')],
      beyond: 'Older ones are not sent.',
      others: 'Their older ones are not sent either, once some have filled it.',
      test: 'test/pipeline/alerting/announcements/alertmanager.test.ts',
    },
  ],
};
