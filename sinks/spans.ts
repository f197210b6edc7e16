import { spanLayout } from '../pipeline/traces/span.ts';
import { spansSignal } from '../pipeline/traces/spans-signal.ts';
import { tenantRowsSink } from './rows-sink.ts';

/** Spans into `spans`. */
export const spansSink = tenantRowsSink('spans', spansSignal, spanLayout);
