import { httpErrorOf, overloaded } from '../../pipeline/core/errors.ts';
import type { RowWriter } from '../../pipeline/intake/rows.ts';
import type { Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import { QUERY_KEY_PATHS } from '../auth/planes.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RouteAnswer } from '../http/route.ts';
import { describedFormat } from './described.ts';
import { SignalIntake, type IngestOptions } from './signal-intake.ts';

/** One endpoint for each path of each wire format of a signal. */
export const ingestEndpoints = (options: IngestOptions): Endpoint[] => intakeEndpoints(new SignalIntake(options));

/** The same of an intake that other doors share. */
export function intakeEndpoints(intake: SignalIntake): Endpoint[] {
  return intake.normalizers.flatMap((normalizer) => {
    const take = normalizer.errors === 'metrics' ? takeMetrics : takeExchange;
    return normalizer.paths.map((path): Endpoint => {
      if ((normalizer.keyInQuery === true) !== QUERY_KEY_PATHS.has(path))
        throw new Error(`BUG: ${normalizer.name} and the credential forms differ on api_key at ${path}.`);
      return {
        methods: normalizer.methods,
        path,
        errors: normalizer.errors ?? 'ingest',
        access: { plane: normalizer.plane ?? 'ingest', scope: 'ingest' },
        ...(normalizer.answerHeaders === undefined ? {} : { answerHeaders: normalizer.answerHeaders }),
        ...describedFormat(normalizer.name, path),
        handle: (exchange) => take(exchange, normalizer, intake),
      };
    });
  });
}

type Take = (exchange: Exchange, normalizer: Normalizer<RowWriter>, intake: SignalIntake) => Promise<RouteAnswer>;

const takeExchange: Take = (exchange, normalizer, intake) => intake.take(exchange, normalizer);

/** The same where a 429 that is over soon is a 503. That of the daily volume stays one. */
const takeMetrics: Take = async (exchange, normalizer, intake) => {
  try {
    return await intake.take(exchange, normalizer);
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    throw error?.status === 429 && error.slug !== 'rate_limited' ? overloaded(error) : thrown;
  }
};
