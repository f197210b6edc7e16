import { Masker } from '../../pipeline/clusterer/masker.ts';
import { SESSION_ID } from '../../pipeline/replay/chunk.ts';

/** How many messages are shown, how many sessions, and how many templates; characters of each. */
const SAMPLES = 5;
const SESSIONS = 5;
const TEMPLATES = 3;
const SAMPLE_LENGTH = 500;
const TEMPLATE_LENGTH = 200;
/** From this share on a template is what most of them are. */
const MOST = 0.5;

/** A template (docs/patterns.md), and the share of the messages that have it, from 0 to 1. */
export type TemplateShare = { readonly template: string; readonly share: number };
/** Of some messages: examples, each template once, and their most frequent templates, the largest first. */
export type Messages = { readonly samples: readonly string[]; readonly templates: readonly TemplateShare[] };

/** What messages are, the newest first; empty ones are passed over. */
export function messagesOf(texts: readonly string[]): Messages {
  const masker = new Masker();
  const found = new Map<string, { readonly sample: string; count: number }>();
  let all = 0;
  for (const text of texts) {
    if (text === '') continue;
    const bytes = Buffer.from(text);
    const length = masker.mask(bytes, 0, bytes.length);
    const template = Buffer.from(masker.out.subarray(0, length)).toString();
    const known = found.get(template);
    if (known === undefined) found.set(template, { sample: text.slice(0, SAMPLE_LENGTH), count: 1 });
    else known.count += 1;
    all += 1;
  }
  const templates = [...found].sort(([, a], [, b]) => b.count - a.count).slice(0, TEMPLATES);
  return {
    samples: [...found.values()].slice(0, SAMPLES).map(({ sample }) => sample),
    templates: templates.map(([template, { count }]) => ({
      template: template.slice(0, TEMPLATE_LENGTH),
      share: Number((count / all).toFixed(3)),
    })),
  };
}

/** Ids of a session replay (docs/replay.md), each once, the newest first: whose users saw it. What can be no id is left out. */
export const sessionsOf = (ids: readonly unknown[]): readonly string[] =>
  [...new Set(ids.filter((id): id is string => typeof id === 'string' && SESSION_ID.test(id)))].slice(0, SESSIONS);

/** What most of the messages are, as the end of a title and as a sentence; empty strings where no template has half of them. */
export function mostText([first]: readonly TemplateShare[]): { readonly title: string; readonly sentence: string } {
  if (first === undefined || first.share < MOST) return { title: '', sentence: '' };
  const { template, share } = first;
  return { title: `most are \`${template}\``, sentence: `Most are \`${template}\` (${String(Math.round(share * 100))} %).` };
}
