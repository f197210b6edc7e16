import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import type { Arguments } from './arguments.ts';

/** An answer of VictoriaLogs' read API, of checked and unchecked arguments. */
export type Select = (parameters: Arguments, request: Request, deps: Deps) => Promise<EngineAnswer>;
