import { expect } from 'chai';
import { GroupCommits, type Commit, type GroupCommit } from '../../../../pipeline/bus/consumer/group-commits.ts';

describe('group commits', () => {
  const sent: unknown[] = [];
  const commit: Commit = (offsets) => Promise.resolve(void sent.push(offsets));
  const of = (partition: number, own: Partial<GroupCommit> = {}): GroupCommit => ({
    ...{ partition, offset: 10 + partition, metadata: `m${String(partition)}`, commit, isCurrent: () => true },
    ...own,
  });
  const errorOf = (promise: Promise<void>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: unknown) => String(error),
    );
  let commits: GroupCommits;
  let silent = 0;
  beforeEach(() => {
    [sent.length, silent] = [0, 0];
    commits = new GroupCommits({ topic: 't', deadlineMs: 50, onSilence: () => (silent += 1) });
  });

  it('are one request where they are asked for at the same time', async () => {
    await Promise.all([commits.commit(of(1)), commits.commit(of(2))]);
    await commits.commit(of(1, { offset: 30 }));
    expect(sent).to.deep.equal([
      {
        topics: [
          {
            topic: 't',
            partitions: [
              { partition: 1, offset: '11', metadata: 'm1' },
              { partition: 2, offset: '12', metadata: 'm2' },
            ],
          },
        ],
      },
      { topics: [{ topic: 't', partitions: [{ partition: 1, offset: '30', metadata: 'm1' }] }] },
    ]);
  });

  it('leave out a partition that was lost since it asked', async () => {
    let isOwnRecord = true;
    const lost = errorOf(commits.commit(of(1, { isCurrent: () => isOwnRecord })));
    const kept = commits.commit(of(2));
    isOwnRecord = false;
    await kept;
    expect(await lost).to.contain('no longer assigned');
    expect(JSON.stringify(sent)).not.to.contain('m1');
    expect(sent).to.have.length(1);
  });

  it('fail for all that were in a request that failed', async () => {
    const refuse: Commit = () => Promise.reject(new Error('rebalancing'));
    const both = [commits.commit(of(1, { commit: refuse })), commits.commit(of(2, { commit: refuse }))];
    for (const one of both.map(errorOf)) expect(await one).to.contain('rebalancing');
  });

  it('end where Kafka does not answer, which is told', async () => {
    const never: Commit = () => new Promise(() => undefined);
    expect(await errorOf(commits.commit(of(1, { commit: never })))).to.contain('did not answer');
    expect(silent).to.equal(1);
  });
});
