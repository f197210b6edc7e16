/** Finds Java and the jars of Kafka. What is missing is fetched, once for all data directories. */
export function prepareKafka(options: {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}): Promise<{ readonly java: string; readonly classpath: string }>;
