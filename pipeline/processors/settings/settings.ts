import { CutOff, type ByteReader, type ByteWriter } from '../../core/snapshot-bytes.ts';
import { MAX_SETTINGS, parseSetting, settingText, type Setting } from '../../core/setting.ts';

const placeOf = ({ tenantId, key }: Setting): string => `${String(tenantId)}:${key}`;

/** The newest version of each setting of one processor that a partition has had. */
export class Settings {
  readonly #newest = new Map<string, Setting>();
  readonly #most: number;

  constructor(most = MAX_SETTINGS) {
    this.#most = most;
  }

  /** All of them, in an order that depends on nothing but them. */
  get all(): readonly Setting[] {
    return [...this.#newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, setting]) => setting);
  }

  /** False for one that is not new, or is one too many. */
  take(setting: Setting): boolean {
    if (!this.isNew(setting)) return false;
    this.#newest.set(placeOf(setting), setting);
    return true;
  }

  isNew(setting: Setting): boolean {
    const known = this.#newest.get(placeOf(setting));
    return known === undefined ? this.#newest.size < this.#most : setting.version > known.version;
  }

  write(to: ByteWriter): void {
    const { all } = this;
    to.count(all.length);
    for (const setting of all) to.text(Buffer.from(settingText(setting)).toString('latin1'));
  }

  /** Throws CutOff where the bytes are others. */
  static read(from: ByteReader, most = MAX_SETTINGS): Settings {
    const settings = new Settings(most);
    for (let left = from.count(most); left > 0; left--) {
      const setting = parseSetting(Buffer.from(from.text(), 'latin1').toString());
      if (setting === null || !settings.take(setting)) throw new CutOff();
    }
    return settings;
  }
}
