import { registry } from '../../../pipeline/core/registry.ts';
import type { Scenario } from '../scenario.ts';
import { killHostWhileAlerting } from './alerts.ts';
import { isolateABroker, isolateAMinority, oneWayLoss, unplugAMinority } from './broker-partitions.ts';
import { killABroker, killTwoBrokers, pauseABroker, rollBrokers } from './brokers.ts';
import { clusterIsolateAMinority, clusterKillABroker, clusterOneWayLoss } from './cluster-brokers.ts';
import { clusterClocksOff } from './cluster-clocks.ts';
import { clusterLoseASet } from './cluster-lost-set.ts';
import { clusterKillAClickHouse, clusterSetBehind } from './cluster-sets.ts';
import { cutRequests, truncatedInserts } from './cut-requests.ts';
import { droppedInsertAnswers, droppedProduceAnswers } from './dropped-answers.ts';
import { forgottenTokens, killHostAtPoints, killSinkAtPoints, stallSinkAtPoints } from './fault-points.ts';
import { clickhouseDiskFull, kafkaDiskFull } from './full-disks.ts';
import { heldInserts } from './held-inserts.ts';
import {
  killAll,
  killApi,
  killApiAndKafka,
  killClickHouse,
  killHost,
  killKafka,
  killSink,
  killSinkAndClickHouse,
  killSinkAndKafka,
} from './kills.ts';
import { clickhouseOutage, kafkaOutage } from './outages.ts';
import { liveTails } from './live-tails.ts';
import { noisyNeighbour } from './noisy-neighbour.ts';
import { overload } from './overload.ts';
import { pauseApi, pauseClickHouse, pauseKafka, pauseSink } from './pauses.ts';
import { rebalanceStorm } from './rebalance-storm.ts';
import { retentionRace } from './retention-race.ts';
import { rollingRestart } from './rolling-restart.ts';
import { blackHoleClickHouse, blackHoleKafka, deadConnections, lateClickHouse, lateKafka } from './silence.ts';
import { highLatency, lowBandwidth } from './slow-links.ts';

/** Every scenario. Adding one: a file, a line here. */
export const scenarios = registry<Scenario>(
  (scenario) => [scenario.name],
  [
    killApi,
    killSink,
    killHost,
    killClickHouse,
    killKafka,
    killAll,
    killSinkAndClickHouse,
    killApiAndKafka,
    killSinkAndKafka,
    killSinkAtPoints,
    killHostAtPoints,
    killHostWhileAlerting,
    liveTails,
    stallSinkAtPoints,
    forgottenTokens,
    pauseApi,
    pauseSink,
    pauseKafka,
    pauseClickHouse,
    clickhouseOutage,
    kafkaOutage,
    kafkaDiskFull,
    clickhouseDiskFull,
    retentionRace,
    overload,
    noisyNeighbour,
    rollingRestart,
    droppedProduceAnswers,
    droppedInsertAnswers,
    truncatedInserts,
    heldInserts,
    cutRequests,
    blackHoleKafka,
    blackHoleClickHouse,
    deadConnections,
    lateKafka,
    lateClickHouse,
    highLatency,
    lowBandwidth,
    rebalanceStorm,
    killABroker,
    pauseABroker,
    rollBrokers,
    killTwoBrokers,
    isolateABroker,
    isolateAMinority,
    unplugAMinority,
    oneWayLoss,
    clusterKillABroker,
    clusterKillAClickHouse,
    clusterLoseASet,
    clusterSetBehind,
    clusterIsolateAMinority,
    clusterOneWayLoss,
    clusterClocksOff,
  ],
);
