/**
 * Run by main/start.mjs from the source, while the compiler is busy: fetches what the embedded Kafka needs, so that the supervisor finds it. What fails
 * here is reported by the supervisor, which tries again.
 */
import { prepareKafka } from '../compose/embedded/kafka-jars.ts';
import { log } from './foreground.ts';
import { readSettings } from './settings.ts';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stopping.abort());
try {
  const { isKafkaEmbedded, mayInstall } = readSettings(process.env, []);
  if (isKafkaEmbedded) await prepareKafka({ log, mayInstall, signal: stopping.signal });
} catch {
  process.exitCode = 1;
}
