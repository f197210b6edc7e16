export { FakeLog as FakeControlLog, FakeTopic as FakeControlTopic } from './compacted-log.ts';
