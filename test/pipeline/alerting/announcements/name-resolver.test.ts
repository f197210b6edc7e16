import { expect } from 'chai';
import type { LookupAddress } from 'node:dns';
import { NameResolver } from '../../../../pipeline/alerting/announcements/name-resolver.ts';

type Code = string;

/** An address, or the code of an error. */
async function found(
  names: NameResolver,
  tenantId: number,
  name: string,
  options: { all?: boolean; family?: number } = {},
): Promise<unknown> {
  return await new Promise((resolve) => {
    names.of(tenantId)(name, options, (error, address) => {
      resolve(error === null ? address : error.code);
    });
  });
}
const failing = (code: Code): Promise<never> => Promise.reject(Object.assign(new Error('no'), { code }));
const FOUR: LookupAddress = { address: '192.0.2.1', family: 4 };
const SIX: LookupAddress = { address: '2001:db8::1', family: 6 };

describe('names of receivers', () => {
  it('are asked of the DNS, and of the system where the DNS does not know them', async () => {
    const asked: string[] = [];
    const names = new NameResolver({
      resolve: (name) => (name === 'known' ? Promise.resolve([FOUR, SIX]) : failing(name === 'slow' ? 'ETIMEOUT' : 'ENOTFOUND')),
      system: (name) => {
        asked.push(name);
        return name === 'hosts' ? Promise.resolve([FOUR]) : failing('ENOTFOUND');
      },
    });
    expect(await found(names, 1, 'known')).to.equal(FOUR.address);
    expect(await found(names, 1, 'known', { all: true })).to.deep.equal([FOUR, SIX]);
    expect(await found(names, 1, 'known', { family: 6 })).to.equal(SIX.address);
    expect(await found(names, 1, 'hosts')).to.equal(FOUR.address);
    expect(await found(names, 1, 'hosts', { family: 6 })).to.equal('ENOTFOUND');
    expect(await found(names, 1, 'nowhere')).to.equal('ENOTFOUND');
    expect(await found(names, 1, 'slow')).to.equal('EAI_AGAIN');
    expect(asked).to.deep.equal(['hosts', 'hosts', 'nowhere']);
  });

  it('that the system answers slowly hold one place of their tenant, and none of others', async () => {
    const waits = new Map<string, (found: LookupAddress[]) => void>();
    const begun: string[] = [];
    const names = new NameResolver({
      resolve: () => failing('ENOTFOUND'),
      system: (name) => {
        begun.push(name);
        return new Promise((resolve) => waits.set(name, resolve));
      },
    });
    const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => found(names, name.charCodeAt(0), name));
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await settled();
    expect(begun).to.deep.equal(['a1', 'b1']);
    waits.get('b1')?.([FOUR]);
    await settled();
    expect(begun).to.deep.equal(['a1', 'b1', 'c1']);
    waits.get('a1')?.([FOUR]);
    await settled();
    expect(begun).to.deep.equal(['a1', 'b1', 'c1', 'a2']);
    for (const name of ['c1', 'a2', 'a3']) {
      waits.get(name)?.([FOUR]);
      await settled();
    }
    expect(await Promise.all(all)).to.deep.equal(Array.from({ length: 5 }, () => FOUR.address));
  });

  it('wait for a place in a line of their tenant, which ends, and takes no place in the line of others', async () => {
    const names = new NameResolver({
      resolve: () => failing('ENOTFOUND'),
      system: (name) => (name === 'quick' ? Promise.resolve([FOUR]) : new Promise(() => undefined)),
    });
    const all = Array.from({ length: 150 }, (_none, index) => found(names, 1, `n${String(index)}`));
    expect(await Promise.race(all)).to.equal('EAI_AGAIN');
    expect(await found(names, 2, 'quick')).to.equal(FOUR.address);
  });

  it('that the machine has are found', async () => {
    expect(await found(new NameResolver(), 1, 'localhost')).to.be.oneOf(['127.0.0.1', '::1']);
  });
});
