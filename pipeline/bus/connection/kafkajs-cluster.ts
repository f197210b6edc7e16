import type { Kafka } from 'kafkajs';
import './kafkajs.ts';

/** A cluster of this client as kafkajs makes them inside, not connected yet; it never makes a topic. An inner part of kafkajs, whose version is pinned. */
export function clusterOf(kafka: Kafka): unknown {
  const key = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === 'private:Kafka:createCluster');
  if (key === undefined) throw new Error('BUG: This kafkajs makes clusters in another way.');
  return (kafka as unknown as Record<symbol, (options: object) => unknown>)[key]?.({ allowAutoTopicCreation: false });
}
