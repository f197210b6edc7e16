import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { OWN_ALERTS, ownExpressions } from '../../docs/monitoring.ts';
import { Metrics } from '../../pipeline/core/metrics.ts';
import { anchors } from './anchors.ts';

const operations = readFileSync(path.resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');

describe("rules and dashboard for the service's own operators", () => {
  it('use metrics that there are', async () => {
    const metrics = new Metrics('docs');
    metrics.watchProcessors(() => []);
    const known = new Set((await metrics.registry.getMetricsAsJSON()).map(({ name }) => name));
    const used = ownExpressions().flatMap((expr) => expr.match(/\blogweir_\w+/g) ?? []);
    expect(used).to.have.length.above(20);
    expect(used.filter((name) => !known.has(name) && !known.has(name.replace(/_bucket$/, '')))).to.deep.equal([]);
  });
  for (const { name, section } of OWN_ALERTS)
    it(`${name}: docs/operations.md has what to do`, () => expect(anchors(operations)).to.include(section));
});
