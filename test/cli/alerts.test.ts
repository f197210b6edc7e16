import { expect } from 'chai';
import { alertLine } from '../../cli/alerts.ts';
import { plain } from '../../cli/output.ts';

describe('logweir alerts', () => {
  const alert = {
    ...{ id: 1, severity: 'critical', title: 'Errors of web rose', description: 'They came.\u001b[2J', state: 'firing', stream: '{}' },
    ...{ fired_at: '2026-01-01T00:01:00Z', last_updated_at: '2026-01-01T00:09:00Z', resolved_at: null },
  };

  it('says since when an alert is what it is, and its description below', () => {
    const lines = [
      alertLine('firing', alert),
      alertLine('fired', alert),
      alertLine('updated', alert),
      alertLine('resolved', { ...alert, resolved_at: '2026-01-01T00:08:00Z' }),
    ];
    expect(lines.map((line) => plain(line).split('\n')[0])).to.deep.equal([
      '2026-01-01T00:01:00Z FIRING   critical Errors of web rose',
      '2026-01-01T00:01:00Z FIRED    critical Errors of web rose',
      '2026-01-01T00:09:00Z UPDATED  critical Errors of web rose',
      '2026-01-01T00:08:00Z RESOLVED critical Errors of web rose',
    ]);
    expect(plain(lines[0] ?? ''))
      .to.match(/\n {2}.*They came\./)
      .and.not.include('\u001b[2J');
  });
});
