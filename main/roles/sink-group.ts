/** The consumer group of a sink. */
export const sinkGroup = (sink: string): string => `logweir-sink-${sink}`;
