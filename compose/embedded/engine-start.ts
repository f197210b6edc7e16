import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EngineOptions } from './engine-process.ts';
import { onFreePorts } from './ports.ts';

export type EngineAddress<Engine> = {
  readonly name: string;
  /** Of the data directory. */
  readonly folder: string;
  /** As many as are needed, where they are given; without them free ones are taken. */
  readonly ports: readonly number[] | undefined;
  readonly portCount: number;
  /** What clients connect to, and the file of its folder where people and scripts find it: ports differ from start to start. */
  readonly addressOf: (engine: Engine) => string;
  readonly addressFile: string;
};

/** Starts an engine in its folder, on the ports that are given or free ones, and notes its address there. */
export async function startInFolder<Engine>(
  { dataDir, log = () => undefined }: Pick<EngineOptions, 'dataDir' | 'log'>,
  { name, folder: own, ports, portCount, addressOf, addressFile }: EngineAddress<Engine>,
  start: (folder: string, ports: readonly number[]) => Promise<Engine>,
): Promise<Engine> {
  const folder = path.resolve(dataDir, own);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const begin = (taken: readonly number[]): Promise<Engine> => start(folder, taken);
  const engine = await (ports === undefined ? onFreePorts(portCount, begin) : begin(ports));
  writeFileSync(path.join(folder, addressFile), `${addressOf(engine)}\n`);
  log(`${name} is up on ${addressOf(engine)}`);
  return engine;
}
