import { BACKUP_DISK } from '../../pipeline/core/config-backups.ts';
import { COLD_VOLUME, OWN_POLICY } from '../../pipeline/core/config-cold.ts';
import { isS3, type StoragePlace } from '../../pipeline/core/storage-place.ts';

/** Escapes what stands between two tags. */
type XmlText = (text: string) => string;

/**
 * How long a store that hangs may hold a read or a move of old rows: a request is given up after three seconds and tried once more, of which ClickHouse
 * makes some 25 s (without it: hours). Nothing is written there by an insert or a merge, so that these go on whatever the store does.
 */
const OF_OLD_ROWS = { requestMs: 3000, attempts: 1 };
/** A backup has more patience: nothing waits for it. */
const OF_BACKUPS = { requestMs: 10_000, attempts: 2 };

/** The disks beside the engine's own, and the policy that has a cold volume; empty where there is neither. */
export function storageXml(
  { cold, backups }: { readonly cold: StoragePlace | null; readonly backups: StoragePlace | null },
  xmlText: XmlText,
): string {
  if (cold === null && backups === null) return '';
  // `plain`: objects are called as files of a backup are, so that any server reads them by their URL
  const disks = [
    cold === null ? '' : diskXml(COLD_VOLUME, cold, { type: 's3', ...OF_OLD_ROWS }, xmlText),
    backups === null ? '' : diskXml(BACKUP_DISK, backups, { type: 's3_plain', ...OF_BACKUPS }, xmlText),
  ];
  return `<storage_configuration>
    <disks>${disks.join('')}</disks>${cold === null ? '' : POLICY}
  </storage_configuration>`;
}

function diskXml(
  name: string,
  { at, accessKey, secretKey }: StoragePlace,
  { type, requestMs, attempts }: { readonly type: string; readonly requestMs: number; readonly attempts: number },
  xmlText: XmlText,
): string {
  const place = xmlText(at.replace(/\/*$/, '/'));
  if (!isS3(at)) return `<${name}><path>${place}</path></${name}>`;
  const keys = accessKey === '' ? '<use_environment_credentials>true</use_environment_credentials>' : `<access_key_id>${xmlText(accessKey)}</access_key_id><secret_access_key>${xmlText(secretKey)}</secret_access_key>`; // prettier-ignore
  const [request, tries] = [String(requestMs), String(attempts)];
  const timeouts = `<connect_timeout_ms>2000</connect_timeout_ms><request_timeout_ms>${request}</request_timeout_ms><use_adaptive_timeouts>false</use_adaptive_timeouts><retry_attempts>${tries}</retry_attempts><s3_retry_attempts>${tries}</s3_retry_attempts><max_single_read_retries>${tries}</max_single_read_retries>`;
  return `<${name}><type>${type}</type><endpoint>${place}</endpoint>${keys}<skip_access_check>true</skip_access_check>${timeouts}</${name}>`;
}

const POLICY = `
    <policies><${OWN_POLICY}>
      <volumes>
        <default><disk>default</disk></default>
        <${COLD_VOLUME}><disk>${COLD_VOLUME}</disk><perform_ttl_move_on_insert>false</perform_ttl_move_on_insert><prefer_not_to_merge>true</prefer_not_to_merge></${COLD_VOLUME}>
      </volumes>
      <move_factor>0</move_factor>
    </${OWN_POLICY}></policies>`;
