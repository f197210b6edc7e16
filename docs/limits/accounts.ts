import { from, type Section } from './limit.ts';

const control = from('api/control/bounds.ts');
const session = from('api/account/described-session.ts');
const keys = from('api/account/described-keys.ts');
const searches = from('api/account/described-searches.ts');
const playbooks = from('api/ai/described-playbooks.ts');
const projects = from('api/account/described-projects.ts');
const tallies = from('api/limits/tallies.ts');
const usage = from('api/account/usage-route.ts');
const projectPatterns = from('api/search/project-patterns.ts');
const projectAlerts = from('api/query/project-alerts.ts');
const token = from('api/auth/session-token.ts');

/** What tenants keep of their accounts. */
export const ACCOUNTS: Section = {
  title: 'Accounts',
  rows: [
    {
      what: 'Sign-in codes that can be used',
      of: 'a tenant',
      bound: [control('MAX_CODES', '')],
      beyond: '409',
      others: 'nothing',
      test: 'test/api/account/sessions.test.ts',
    },
    {
      what: 'Sessions that have signed out before their time',
      of: 'a key',
      bound: [control('MAX_ENDED', '')],
      beyond: 'All sessions of the key that began before end.',
      others: 'nothing',
      test: 'test/api/control/ended-sessions.test.ts',
    },
    {
      what: 'A key or a code that signs in, and the cookie',
      of: 'a request',
      bound: [session('MAX_SECRET', 'characters'), token('MAX_TOKEN', 'characters of the cookie')],
      beyond: '400, and no session',
      others: 'nothing',
      test: 'test/api/auth/session-token.test.ts',
    },
    {
      what: 'Keys that are not revoked, and revoked ones that are kept',
      of: 'a tenant',
      bound: [control('MAX_KEYS', 'keys'), control('MAX_REVOKED_KEYS', 'revoked')],
      beyond: '409; 403 at the ceiling of the plan. The record of the key that was revoked first is used again.',
      others: 'nothing',
      test: 'test/api/account/keys.test.ts',
    },
    {
      what: 'A key as it is created',
      of: 'a request',
      bound: [keys('MAX_NAME', 'characters of a name'), keys('MAX_ID', "characters of a project's id")],
      beyond: '400',
      others: 'nothing',
      test: 'test/api/account/keys.test.ts',
    },
    {
      what: 'Saved searches',
      of: 'a tenant',
      bound: [control('MAX_SAVED_SEARCHES', ''), control('MAX_SAVED_CHARACTERS', 'characters of all')],
      beyond: '409; 403 at the ceiling of the plan',
      others: 'nothing',
      test: 'test/api/account/saved-searches.test.ts',
    },
    {
      what: 'A saved search',
      of: 'a request',
      bound: [
        searches('MAX_NAME', 'characters of a name'),
        searches('MAX_QUERY', 'characters of a query'),
        searches('MAX_TIME', 'characters of a time'),
        searches('MAX_COLUMNS', 'columns'),
        searches('MAX_COLUMN', 'characters of one'),
      ],
      beyond: '400',
      others: 'nothing',
      test: 'test/api/account/saved-searches.test.ts',
    },
    {
      what: 'Playbooks',
      of: 'a tenant',
      bound: [control('MAX_PLAYBOOKS', ''), control('MAX_PLAYBOOK_CHARACTERS', 'characters of all')],
      beyond: '409',
      others: 'nothing',
      test: 'test/api/ai/playbooks.test.ts',
    },
    {
      what: 'A playbook',
      of: 'a request',
      bound: [
        playbooks('MAX_TEXT', 'characters'),
        playbooks('MAX_NAME', 'characters of its name'),
        playbooks('MAX_NAMES', 'names of a part of the selector'),
        playbooks('MAX_SELECTED', 'characters of one'),
        playbooks('MAX_PATTERN', 'characters of a pattern'),
      ],
      beyond: '400',
      others: 'nothing',
      test: 'test/api/ai/playbooks.test.ts',
    },
    {
      what: 'Projects',
      of: 'a tenant',
      bound: [control('MAX_PROJECTS', '')],
      beyond: '403, and at the number of the plan',
      others: 'nothing',
      test: 'test/api/account/projects.test.ts',
    },
    {
      what: 'A project',
      of: 'a request',
      bound: [
        projects('MAX_NAME', 'characters of a name'),
        projects('MAX_FILTER', 'characters of a filter'),
        projects('MAX_LABELS', 'labels'),
        projects('MAX_LABEL', "characters of a label's name"),
        projects('MAX_VALUE', 'characters of its value'),
      ],
      beyond: '400',
      others: 'nothing',
      test: 'test/api/account/projects.test.ts',
    },
    {
      what: 'What is counted of keys and refusals on a day',
      of: 'a tenant',
      bound: [
        tallies('MAX_TALLIED_KEYS', 'keys by signals'),
        tallies('MAX_TALLIED_REASONS', 'reasons'),
        tallies('MAX_REASON', 'characters of a sentence'),
        usage('MOST_SERVICES', 'services of an answer'),
      ],
      beyond: 'Counted under no name; services with fewer entries are not listed.',
      others: 'nothing',
      test: 'test/api/limits/tallies.test.ts',
    },
    {
      what: 'Tenants whose rate of entries in the last ten seconds is known',
      of: 'a process',
      bound: [from('api/limits/recent-rate.ts')('KEPT_TENANTS', '')],
      beyond: 'Usage shows a rate of 0 for those that were counted longest ago.',
      others: 'the same',
      test: 'test/api/limits/recent-rate.test.ts',
    },
    {
      what: 'What keys sent, in one publication',
      of: 'a process',
      bound: [tallies('MOST_AT_ONCE', "tenants' days")],
      beyond: 'The others come with the next ones, three seconds later.',
      others: 'They are told later.',
      test: 'test/api/limits/tallies.test.ts',
    },
    {
      what: 'Patterns by stream and level that a key of a project is shown at once, streams of one, and messages whose values are looked at',
      of: 'a query',
      bound: [
        projectPatterns('MOST_GROUPS', 'patterns'),
        projectPatterns('MOST_STREAMS', 'streams'),
        projectPatterns('SAMPLED', 'messages'),
      ],
      beyond: '400: a narrower window or a service is needed; fewer streams and messages are shown',
      others: 'nothing',
      test: 'test/e2e/instance/long/projects.e2e.test.ts',
    },
    {
      what: "Streams with alerts that are looked at for a project's key",
      of: 'a query',
      bound: [projectAlerts('MOST_STREAMS', '')],
      beyond: 'Alerts of further ones are not shown.',
      others: 'nothing',
      test: 'test/e2e/instance/long/projects.e2e.test.ts',
    },
  ],
};
