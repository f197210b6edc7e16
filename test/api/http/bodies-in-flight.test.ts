import { expect } from 'chai';
import { BodiesInFlight, type BodyInFlight } from '../../../api/http/bodies-in-flight.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

class Node {
  now = 0;
  readonly bodies = new BodiesInFlight({ maxBytes: 1_000_000, now: () => this.now });
  body(tenantId: number, bytes = 0): BodyInFlight {
    const body = this.bodies.enter(tenantId);
    body.add(bytes);
    return body;
  }
}

const refusal = (action: () => unknown): string => {
  try {
    action();
    return 'taken';
  } catch (error) {
    expect(error).to.be.instanceOf(HttpError).and.to.include({ status: 429, slug: 'backpressure' });
    return (error as HttpError).message.includes('of this tenant') ? 'tenant' : 'all';
  }
};

describe('bodies in flight', () => {
  it('of a tenant are a quarter at most, until others of it have left', () => {
    const node = new Node();
    const first = node.body(1, 150_000);
    const second = node.body(1, 100_000);
    expect(refusal(() => node.body(1, 1))).to.equal('tenant');
    expect(refusal(() => { second.add(1); })).to.equal('tenant'); // prettier-ignore
    expect(refusal(() => node.body(2, 1))).to.equal('taken');
    first.leave();
    expect(refusal(() => node.body(1, 150_000))).to.equal('taken');
  });

  it('of all are bounded', () => {
    const node = new Node();
    const all = [1, 2, 3, 4].map((tenant) => node.body(tenant, 250_000));
    expect(refusal(() => node.body(5, 1))).to.equal('all');
    for (const body of all) body.leave();
    expect(refusal(() => node.body(5, 250_000))).to.equal('taken');
  });

  it('count what has come: many that send a byte and wait shut out nobody', () => {
    const node = new Node();
    for (let n = 0; n < 1000; n++) node.body(1, 1);
    expect(refusal(() => node.body(2, 200_000))).to.equal('taken');
    expect(refusal(() => node.body(1, 200_000))).to.equal('taken');
  });

  it('one alone may always come, however large', () => {
    const node = new Node();
    const body = node.body(1, 1_500_000);
    expect(refusal(() => { body.add(1_500_000); })).to.equal('taken'); // prettier-ignore
    expect(refusal(() => node.body(2, 1))).to.equal('all');
    body.leave();
    expect(refusal(() => node.body(2, 1))).to.equal('taken');
  });

  it('that come slowly are refused while more than half is taken, and no others', () => {
    const node = new Node();
    const refused: string[] = [];
    const watched = (name: string, tenantId: number, bytes: number): BodyInFlight => {
      const body = node.body(tenantId, bytes);
      body.refuse = ({ status, slug }) => refused.push(`${name} ${String(status)} ${slug}`);
      return body;
    };
    watched('slow', 1, 100_000);
    watched('fast', 2, 200_000);
    watched('whole', 3, 10).received();
    node.now = 2500;
    watched('new', 4, 10);
    expect(refused).to.deep.equal([]);
    node.body(5, 230_000);
    expect(refused).to.deep.equal(['slow 408 request_timeout']);
  });
});
