import type { ObjectScanner } from '../wasm/object-scanner.ts';
import type { Name, Names, Spelling } from './names.ts';

/** Who has taught the scanner the names that it knows. */
let owner: ScannedNames | null = null;

/** The names that the scanner of this process knows, by the numbers that it has for them. It forgets those of another `Names`. */
export class ScannedNames {
  readonly scanner: ObjectScanner;
  list: Name[] = [];
  readonly #names: Names;
  readonly #whole: Name;
  #age = -1;

  /** `whole`: the name whose objects are kept as JSON text. */
  constructor(scanner: ObjectScanner, names: Names, whole: Name) {
    this.scanner = scanner;
    this.#names = names;
    this.#whole = whole;
  }

  /** Scans the object that begins at `at` in a body; gives the offset after it, -1 where it is left to the caller. */
  scan(body: Buffer, at: number, end: number): number {
    if (owner !== this || this.#age !== this.#names.age) this.#take();
    return this.scanner.scan(body, at, end);
  }

  /** Teaches the scanner how a name is spelled in an object below `parent`. */
  teach(parent: Name | null, spelling: Spelling): void {
    const { epoch } = this.scanner;
    if (spelling.taught === epoch || owner !== this) return;
    spelling.taught = epoch;
    if (!spelling.name.tooLong)
      this.scanner.learn(parent === null ? -1 : this.#number(parent), spelling.token, this.#number(spelling.name));
  }

  #take(): void {
    this.scanner.forget();
    this.list = [];
    this.#age = this.#names.age;
    this.scanner.keepWhole(this.#number(this.#whole));
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    owner = this;
  }

  #number(name: Name): number {
    const { epoch } = this.scanner;
    if (name.numbered !== epoch) {
      name.numbered = epoch;
      name.number = this.list.length;
      this.list.push(name);
    }
    return name.number;
  }
}
