/** An explicit, ordered, frozen list of extensions with look-up by name. */
export type Registry<Member> = {
  readonly members: readonly Member[];
  /** The member of this name (or alias), or undefined. */
  find(name: string): Member | undefined;
  readonly names: readonly string[];
};

/** Builds a registry; two members with the same name are a bug and throw at once. */
export function registry<Member>(namesOf: (member: Member) => readonly string[], members: readonly Member[]): Registry<Member> {
  const byName = new Map<string, Member>();
  for (const member of members) {
    for (const name of namesOf(member)) {
      if (byName.has(name)) throw new Error(`BUG: the name ${JSON.stringify(name)} is registered twice.`);
      byName.set(name, member);
    }
  }
  return Object.freeze({ members: Object.freeze([...members]), find: (name: string) => byName.get(name), names: [...byName.keys()] });
}
