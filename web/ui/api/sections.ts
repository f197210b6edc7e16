/** The description by sections: all operations at once are too much for a page. */
type Operation = { readonly operationId?: string; readonly summary?: string; readonly tags?: readonly string[] };
export type Description = {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
/** An operation as it is found: `name` is its method and path with its summary. */
type Found = { readonly name: string; readonly section: string; readonly href: string };

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];
const sectionOf = (item: unknown): string | undefined => (item as Operation).tags?.[0];

/** Names of the sections, in the order of the description. */
export const sectionsOf = ({ tags = [] }: Description): string[] => tags.map(({ name }) => name);

/** The section that an address names, or else the first. */
export function sectionIn(description: Description, search: string): string {
  const sections = sectionsOf(description);
  const named = new URLSearchParams(search).get('section');
  return sections.find((name) => name === named) ?? sections[0] ?? '';
}

export const hrefOfSection = (section: string): string => `?section=${encodeURIComponent(section)}`;

/** The operations of one section alone. They have no tag there: Redoc lists them without a level above, and the section's text is the head. */
export function withSection(description: Description, section: string): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, item] of Object.entries(description.paths)) {
    const members = Object.entries(item).filter(([name, member]) => !METHODS.includes(name) || sectionOf(member) === section);
    if (!members.some(([name]) => METHODS.includes(name))) continue;
    paths[path] = Object.fromEntries(
      members.map(([name, member]) => [name, METHODS.includes(name) ? { ...(member as object), tags: [] } : member]),
    );
  }
  const about = description.tags?.find(({ name }) => name === section)?.description ?? '';
  return { ...description, info: { title: section, version: description.info.version, description: about }, tags: [], paths };
}

/** All operations, to be found by name. */
export const operationsOf = (description: Description): Found[] =>
  Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, member]) => {
        const { operationId = '', summary = '' } = member as Operation;
        const section = sectionOf(member) ?? '';
        const href = `${hrefOfSection(section)}#operation/${encodeURIComponent(operationId)}`;
        return { name: `${method.toUpperCase()} ${path} · ${summary}`, section, href };
      }),
  );
