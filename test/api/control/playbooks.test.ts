import { expect } from 'chai';
import { playbooksFor } from '../../../api/control/playbooks.ts';
import type { PlaybookRecord } from '../../../api/control/records.ts';

const empty = { services: [], detectors: [], rules: [], pattern: '' };
const alert = {
  ...{
    detector_type: 'rule',
    stream: '{service="payments",pod="p-1"}',
    title: 'Errors of payments rose to 9',
    description: 'Card Refused',
  },
  evidence: { rule: { id: 'r_1', name: 'Card errors' }, normalized_message: 'card <*> refused by bank', fingerprint: 'ab12' },
};

/** Whether a playbook with this selector fits. */
const fits = (selector: Partial<typeof empty> | object, subject: unknown, tenantId = 1): boolean => {
  const record = { ...empty, ...selector, id: 'pb_1', tenantId: 1, slot: 1, createdAt: '2026-11-28T00:00:00Z', isDeleted: false };
  const slots = (_kind: string, of: number): ReadonlyMap<number, PlaybookRecord> =>
    new Map(of === 1 ? [[1, record as unknown as PlaybookRecord]] : []);
  return playbooksFor({ slots }, tenantId, subject).length === 1;
};

describe('for which alerts a playbook is', () => {
  const fitting: object[] = [{ services: ['web', 'payments'] }, { detectors: ['rule'] }, { rules: ['r_1'] }, { rules: ['Card errors'] }, { pattern: 'CARD REF' }, { pattern: 'refused by bank' }, { pattern: 'ab12' }, { services: ['payments'], pattern: 'rose' }]; // prettier-ignore
  const others: object[] = [{ services: ['pay'] }, { services: ['p-1'] }, { detectors: ['silence'] }, { rules: ['r_2'] }, { pattern: '.*' }, { services: ['payments'], pattern: 'silent' }, { services: ['web'], pattern: 'rose' }]; // prettier-ignore
  for (const selector of fitting) it(`${JSON.stringify(selector)} fits`, () => expect(fits(selector, alert)).to.equal(true));
  for (const selector of others) it(`${JSON.stringify(selector)} does not`, () => expect(fits(selector, alert)).to.equal(false));

  it('of an incident one of its alerts has to fit all of it; one without a service of its own has that of the incident', () => {
    const many = { ...alert, stream: '{}', detector_type: 'silence', title: 'quiet', description: '', evidence: {} };
    const incident = { service: 'shop', alerts: [alert, many] };
    expect(fits({ services: ['payments'], detectors: ['rule'] }, incident)).to.equal(true);
    expect(fits({ services: ['shop'], detectors: ['silence'] }, incident)).to.equal(true);
    expect(fits({ services: ['payments'], detectors: ['silence'] }, incident)).to.equal(false);
  });

  it('is of the tenant alone, and holds what is no alert to fit nothing', () => {
    expect(fits({ services: ['payments'] }, alert, 2)).to.equal(false);
    const wrong = [null, 1, 'x', [], {}, { alerts: [null, 1] }, { ...alert, stream: '{service="pay… (9 characters)' }, { stream: 7, evidence: { rule: 'x' } }, JSON.parse('{"__proto__":{"stream":"{service=\\"payments\\"}"}}')]; // prettier-ignore
    for (const subject of wrong) expect(fits({ services: ['payments'] }, subject), JSON.stringify(subject)).to.equal(false);
  });
});
