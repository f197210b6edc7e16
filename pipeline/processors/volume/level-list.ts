/** Different levels by number, in the order in which they came. Their names are the producers' own: bytes of any length. */
export class LevelList {
  /** Bytes of all names. */
  bytes = 0;
  /** By name, a character for each byte. */
  readonly #numbers = new Map<string, number>();
  readonly texts: string[] = [];

  /** The number of a level, whose name has a character for each byte. */
  number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.length;
    this.#numbers.set(text, number);
    this.texts.push(text);
    this.bytes += text.length;
    return number;
  }
}
