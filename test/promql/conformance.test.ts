import { expect } from 'chai';
import { answer, difference, isPresent, loadCases, loadSource } from './conformance.ts';

describe('PromQL conformance, in memory', function () {
  if (!isPresent) {
    it('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED', () => expect.fail('no conformance/promql beside the clone'));
    return;
  }
  const source = loadSource();

  it("answers as Prometheus does, in all cases, with the same errors' texts", async () => {
    const faults: string[] = [];
    for (const test of loadCases()) {
      const given = await answer(test, source);
      const fault = difference(test, given);
      if (fault !== null) faults.push(`${test.endpoint} ${test.params.query}\n    ${fault}`);
      else if (test.answer.error !== given.error)
        faults.push(`${test.params.query}\n    ${String(given.error)}\n    ${String(test.answer.error)}`);
    }
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });
});
