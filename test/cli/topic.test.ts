import { expect } from 'chai';
import { topicCommand, type ReadTopic } from '../../cli/topic.ts';

/** What the command read, wrote and ended with. */
async function run(argv: readonly string[], failure?: Error): Promise<{ code: number; out: string; err: string; asked: unknown }> {
  const said = { code: -1, out: '', err: '', asked: null as unknown };
  const read: ReadTopic = async (request, _env, { lines, unreadable }) => {
    said.asked = request;
    await lines('{"_msg":"a"}\n');
    if (failure?.name === 'unreadable') unreadable('Record 0:7: why');
    else if (failure !== undefined) throw failure;
  };
  const output = { out: (text: string) => void (said.out += text), err: (text: string) => void (said.err += text), isTerminal: false };
  said.code = await topicCommand(argv, read, {}, output);
  return said;
}

describe('logweir topic', () => {
  it('prints what is on a topic', async () =>
    expect(await run(['read', 'logs.v1'])).to.deep.equal({ code: 0, out: '{"_msg":"a"}\n', err: '', asked: { topic: 'logs.v1' } }));

  it('takes flags with a space or =, and values that begin with a dash', async () => {
    const { asked } = await run(['read', 'logs.v1', '--from', '-1h', '--to=now', '--tenant', '7']);
    expect(asked).to.deep.equal({ topic: 'logs.v1', from: '-1h', to: 'now', tenant: 7 });
  });

  it('names a record that cannot be read, and ends with 1', async () => {
    const { code, err } = await run(['read', 'logs.v1'], Object.assign(new Error(), { name: 'unreadable' }));
    expect([code, err]).to.deep.equal([1, 'Record 0:7: why\n']);
  });

  it('ends with 1 where Kafka does not answer, and with 2 where the request is wrong', async () => {
    expect((await run(['read', 'logs.v1'], new Error('no'))).code).to.equal(1);
    expect((await run(['read', 'x'], Object.assign(new Error('no'), { name: 'UsageError' }))).code).to.equal(2);
  });

  for (const argv of [
    [],
    ['write', 'logs.v1'],
    ['read'],
    ['read', '--from', '-1h'],
    ['read', 'logs.v1', '--nope'],
    ['read', 'logs.v1', '--from'],
    ['read', 'logs.v1', '--tenant', '0'],
  ])
    it(`does not take: ${argv.join(' ')}`, async () => {
      const { code, err } = await run(argv);
      expect(code).to.be.oneOf([1, 2]);
      expect(err).to.contain('Usage: logweir topic read');
    });

  it('has a help', async () => expect((await run(['--help'])).out).to.match(/^Usage: logweir topic read/));
});
