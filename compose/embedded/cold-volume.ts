import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { COLD_VOLUME, OWN_POLICY, type ColdVolume } from '../../pipeline/core/config-cold.ts';
import { StartError } from './start-error.ts';

/**
 * How long a store that hangs may hold a read or a move: a request is given up after three seconds and tried once more, of which ClickHouse makes
 * some 25 s (without it: hours). Nothing is written there by an insert or a merge, so that these go on whatever the store does.
 */
const TIMEOUTS = `<connect_timeout_ms>2000</connect_timeout_ms><request_timeout_ms>3000</request_timeout_ms><use_adaptive_timeouts>false</use_adaptive_timeouts><retry_attempts>1</retry_attempts><s3_retry_attempts>1</s3_retry_attempts><max_single_read_retries>1</max_single_read_retries>`;

/** The part of the configuration with the policy that has a cold volume; empty without one. */
export function coldVolumeXml(cold: ColdVolume | null, xmlText: (text: string) => string): string {
  if (cold === null) return '';
  const at = xmlText(cold.at.replace(/\/*$/, '/'));
  const keys = cold.accessKey === '' ? '<use_environment_credentials>true</use_environment_credentials>' : `<access_key_id>${xmlText(cold.accessKey)}</access_key_id><secret_access_key>${xmlText(cold.secretKey)}</secret_access_key>`; // prettier-ignore
  const disk = isUrl(cold.at)
    ? `<type>s3</type><endpoint>${at}</endpoint>${keys}<skip_access_check>true</skip_access_check>${TIMEOUTS}`
    : `<path>${at}</path>`;
  return `<storage_configuration>
    <disks><${COLD_VOLUME}>${disk}</${COLD_VOLUME}></disks>
    <policies><${OWN_POLICY}>
      <volumes>
        <default><disk>default</disk></default>
        <${COLD_VOLUME}><disk>${COLD_VOLUME}</disk><perform_ttl_move_on_insert>false</perform_ttl_move_on_insert><prefer_not_to_merge>true</prefer_not_to_merge></${COLD_VOLUME}>
      </volumes>
      <move_factor>0</move_factor>
    </${OWN_POLICY}></policies>
  </storage_configuration>`;
}

/** Notes in the engine's folder where its cold volume is. Throws StartError where it has had one that is not named any more, or another: rows would be missing. */
export function keepColdVolume(folder: string, cold: ColdVolume | null): void {
  const file = path.join(folder, 'cold-volume');
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
  if (known !== null && known !== cold?.at)
    throw new StartError(
      `The tables of this ClickHouse have rows on ${known}: name it in LOGWEIR_COLD_VOLUME (LOGWEIR_COLD_AFTER_DAYS=0 moves no more). Where all of it was moved to another place, write that into ${file}.`,
    );
  if (cold === null) return;
  if (!isUrl(cold.at)) mkdirSync(cold.at, { recursive: true });
  writeFileSync(file, `${cold.at}\n`, { mode: 0o600 });
}

const isUrl = (text: string): boolean => /^https?:/.test(text);
