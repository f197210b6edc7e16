import { from, type Section } from './limit.ts';

const control = from('api/control/bounds.ts');
const session = from('api/account/described-session.ts');
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
  ],
};
