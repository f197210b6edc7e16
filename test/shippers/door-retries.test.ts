import { expect } from 'chai';
import type { OtlpGrpcDoor } from '../../api/doors/doors-file.ts';
import { OtlpGrpcListener } from '../../api/doors/otlp-grpc-door.ts';
import type { SignalIntake } from '../../api/ingest/signal-intake.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { doorWorld } from '../fakes/door-world.ts';
import { clearUp, layOut, node, python } from './programs.ts';
import { installToolset, NotHere } from './toolsets.ts';

const door: OtlpGrpcDoor = {
  ...{ name: 'otlp', kind: 'otlp_grpc', host: '127.0.0.1', port: 0, key: null, parameters: {} },
  ...{ tls: null, clients: [], maxConnections: 50, maxConnectionsOfAddress: 50, maxConnectionsOfTenant: 50 },
};
const RETRY_SECONDS = 3;

/** An intake of a signal that takes everything and keeps nothing: what is looked at here are logs. */
const taking = (name: string): SignalIntake =>
  ({
    normalizers: [{ name, signal: name }],
    capsOf: () => ({ inflated: 1_000_000 }),
    take: () => Promise.resolve({ status: 200 }),
  }) as unknown as SignalIntake;

describe('SDKs of OpenTelemetry that are refused for a while at the door of gRPC', function () {
  this.timeout(900_000);

  /** What came of a program whose logs are refused twice: what it printed, and what was published. */
  const refusedTwice = async (toolset: 'node' | 'python', example: string, run: ReturnType<typeof node>) => {
    const { folder } = await installToolset(toolset, (line) => console.log(`  ${line}`));
    let calls = 0;
    const admit = (): void => {
      calls += 1;
      if (calls <= 2) throw new HttpError(429, 'rate_limited', 'Later.', { retryAfter: RETRY_SECONDS });
    };
    const world = doorWorld([{ name: 'not yet', admit }]);
    const intakes = new Map([['traces', taking('otlp_traces')], ['metrics', taking('otlp_metrics')], ...world.context.intakes] as const);
    const listener = new OtlpGrpcListener({ ...world.context, intakes, door, tls: null });
    await listener.start();
    const place = layOut(example, folder, { port: listener.port, key: 'one' });
    try {
      const sender = await run(place);
      await sender.ended;
      expect(sender.exitCode(), sender.output()).to.equal(0);
      return { output: sender.output(), published: world.published(), calls, refused: world.refused(1) };
    } finally {
      clearUp(place);
      await listener.stop();
    }
  };
  const orSkip = (test: Mocha.Context, error: unknown): never => {
    if (!(error instanceof NotHere)) throw error;
    console.log(`  NOT RUN: ${error.message}`);
    return test.skip();
  };

  it('Python waits as long as RetryInfo says, and sends again: found once', async function () {
    const seen = await refusedTwice('python', 'doors/opentelemetry-python-grpc', python('app.py')).catch((error: unknown) =>
      orSkip(this, error),
    );
    // it prints what is equal once
    expect(seen.output).to.match(/RESOURCE_EXHAUSTED encountered while exporting logs [^\n]*retrying in 3\.00s/);
    expect(seen.calls).to.equal(3);
    expect(seen.published).to.deep.equal(['1 order created for Zoë ☕']);
    expect(seen.refused[0]).to.include({ status: 429, error: 'rate_limited', requests: 2 });
  });

  it('Node sends nothing again, which is counted as refused', async function () {
    const seen = await refusedTwice('node', 'doors/opentelemetry-js-grpc', node('app.mjs')).catch((error: unknown) => orSkip(this, error));
    expect([seen.calls, seen.published]).to.deep.equal([1, []]);
    expect(seen.refused[0]).to.include({ status: 429, error: 'rate_limited', requests: 1 });
  });
});
