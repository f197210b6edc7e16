import { expect } from 'chai';
import { metricWords, type MetricSubject } from '../../../../pipeline/alerting/metrics/metric-words.ts';

describe('the words of alerts of rules over metrics', () => {
  const severityOf = (severity: string): string => {
    const alert = { labels: [['severity', severity]], annotations: [], value: 1 };
    const subject = { read: { name: 'High', forMs: 0, rule: { expr: 'up' } }, alert } as unknown as MetricSubject;
    return metricWords.text(undefined as never, subject).severity;
  };

  it('have the severity that the label names, whatever its case; a warning for all else, names of objects too', () => {
    expect(['Page', 'LOW', 'error'].map(severityOf)).to.deep.equal(['critical', 'info', 'critical']);
    expect(['', 'x', 'constructor', '__proto__', 'toString'].map(severityOf)).to.deep.equal(Array.from({ length: 5 }, () => 'warning'));
  });
});
