import { expect } from 'chai';
import { balancerConfig } from '../../compose/cluster/balancer.ts';

describe('the balancer of a cluster', () => {
  const nodes = [
    { name: 'app-1', port: 20_001, adminPort: 20_002 },
    { name: 'app-2', port: 20_003, adminPort: 20_004 },
  ];
  const config = balancerConfig([{ name: 'app', port: 8080, nodes }]);

  it('listens on the loopback alone', () => {
    expect(config.match(/bind .*/g)).to.deep.equal(['bind 127.0.0.1:8080']);
  });

  it('asks /ready of each node, and where none is ready passes requests to any', () => {
    expect(config.match(/(?<= {2}server ).*/g)).to.deep.equal([
      'app-1 127.0.0.1:20001 check port 20002 inter 500 fall 2 rise 1',
      'app-2 127.0.0.1:20003 check port 20004 inter 500 fall 2 rise 1',
      'app-1-any 127.0.0.1:20001 backup',
      'app-2-any 127.0.0.1:20003 backup',
    ]);
    expect(config).to.include('option httpchk GET /ready\n  option allbackups\n');
  });

  it('tries again only what no node has seen', () => {
    expect(config.match(/retry-on .*/g)).to.deep.equal(['retry-on conn-failure']);
  });
});
