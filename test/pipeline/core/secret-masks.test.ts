import { expect } from 'chai';
import { masked } from '../../../pipeline/core/secret-masks.ts';
import { cpuMs } from '../../cpu-time.ts';

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';

describe('masks of secrets', () => {
  const cases: [text: string, result: string][] = [
    ['password=hunter2', 'password=[masked secret]'],
    ['"password":"hunter2","user":"ann"', '"password":"[masked secret]","user":"ann"'],
    ['{\\"api_key\\": \\"abcdef123\\"}', '{\\"api_key\\": \\"[masked secret]\\"}'],
    ['db_password: s3cr3t!', 'db_password: [masked secret]'],
    ['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [masked credential]'],
    ['postgres://app:topsecret@db:5432/x', 'postgres://app:[masked password]@db:5432/x'],
    [`jwt ${TOKEN}`, 'jwt [masked token]'],
    ['key AKIAIOSFODNN7EXAMPLE', 'key [masked aws key]'],
    ['ghp_0123456789abcdefghijABCDEFGHIJ012345', '[masked github token]'],
    ['xoxb-123456789012-abcdefABCDEF', '[masked slack token]'],
    ['sk-proj-0123456789abcdefghij', '[masked api key]'],
    ['lw_0123456789abcdefghijklmnopqrstuvwxyz-_ABCDE', '[masked logweir key]'],
    ['card 4111 1111 1111 1111 declined', 'card [masked card number] declined'],
    ['mail to ann.b@example.co.uk failed', 'mail to [masked mail address] failed'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----', '[masked private key]'],
  ];
  for (const [text, result] of cases)
    it(`masks ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(masked(text).text).to.equal(result);
      expect(masked(text).count).to.be.at.least(1);
    });

  const kept = [
    'GET /cart took 12 ms',
    'order o-1234567890123456 placed',
    '2026-11-21T14:00:00.123456789Z',
    'trace_id 0af7651916cd43dd8448eb211c80319c',
    'the password was wrong',
    '"token":null,"tokens":12',
    'payment of 12.5 EUR: CardError: card declined',
    '1795840917759000000',
  ];
  for (const text of kept) it(`keeps ${JSON.stringify(text)}`, () => expect(masked(text)).to.deep.equal({ text, count: 0 }));

  it('takes a time that grows with the text alone', () => {
    const bombs = [
      'password=',
      'a'.repeat(50),
      '1 ',
      '1-',
      'eyJ.',
      '://a:',
      '@a.',
      '-----BEGIN PRIVATE KEY-----',
      'secret\\":"',
      'a.',
      'bearer ',
    ];
    for (const bomb of bombs) {
      const text = bomb.repeat(Math.ceil(200_000 / bomb.length));
      const before = cpuMs();
      masked(text);
      expect(cpuMs() - before, bomb).to.be.lessThan(2000);
    }
  });
});
