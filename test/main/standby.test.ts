import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { beginWith } from '../../main/standby.ts';

const MODULE = path.resolve(import.meta.dirname, '..', '..', 'main', 'standby.ts');
/** Tells its variables of ours when it may begin. */
const PROGRAM = `
const { untilBegun } = await import(${JSON.stringify(MODULE)});
process.send('loaded');
await untilBegun(['node', 'x', ...process.env.ARGS.split(' ')]);
process.send(Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('LOGWEIR_'))));
process.disconnect();
`;

describe('standby', () => {
  const start = (args: string): ReturnType<typeof fork> =>
    fork('-e', [PROGRAM], {
      execArgv: ['--input-type=module'],
      env: { PATH: process.env['PATH'], ARGS: args, LOGWEIR_A: '1', LOGWEIR_B: '1', LOGWEIR_C_FILE: '/x' },
    });
  const nextMessage = async (child: ReturnType<typeof fork>): Promise<unknown> => ((await once(child, 'message')) as unknown[])[0];

  it('begins with the variables that it is sent, and no other ones of ours', async () => {
    const child = start('--standby');
    expect(await nextMessage(child)).to.equal('loaded');
    const told = nextMessage(child);
    child.send(beginWith({ PATH: '/elsewhere', LOGWEIR_A: '2', LOGWEIR_B: undefined, LOGWEIR_D: '3' }));
    expect(await told).to.deep.equal({ LOGWEIR_A: '2', LOGWEIR_D: '3' });
  });

  it('begins at once where it does not stand by', async () => {
    const child = start('--name sink');
    const told: unknown[] = [];
    child.on('message', (message) => told.push(message));
    await once(child, 'exit');
    expect(told).to.deep.equal(['loaded', { LOGWEIR_A: '1', LOGWEIR_B: '1', LOGWEIR_C_FILE: '/x' }]);
  });

  it('ends when its supervisor is gone', async () => {
    const child = start('--standby');
    await nextMessage(child);
    child.disconnect();
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});
