import type { Difference } from './differences.ts';

type Reason = { readonly question: RegExp; readonly at: RegExp; readonly jaeger?: RegExp; readonly reason: string };

/** Why an answer may differ from Jaeger's: a question, a member of its answer, what Jaeger says there, and the reason. */
const REASONS: readonly Reason[] = [
  {
    question: /./,
    at: /\/(warnings|attributes)/,
    jaeger: /^\["Negative duration|"Negative duration detected/,
    reason: 'Jaeger makes a span without a duration a nanosecond longer, and warns of it; here it stays as it was sent',
  },
  {
    question: /\/v3\/traces/,
    at: /\/span\/endTimeUnixNano$/,
    reason: 'Jaeger makes a span without a duration a nanosecond longer, and warns of it; here it stays as it was sent',
  },
  {
    question: /\/v3\/traces/,
    at: /\/(schemaUrl|span\/flags)$|\/scope\/scope\/attributes|\/span\/(attributes\/\d+\/value|events|links)/,
    reason:
      'all-in-one keeps spans in the form of its version 1, which loses types, schemas, scopes’ attributes, flags, and what links have',
  },
  {
    question: /\/v3\/traces/,
    at: /\/resource(\/attributes.*)?$/,
    jaeger: /missing-service-name/,
    reason: 'Jaeger writes a name into resources without one; here they stay as they were sent',
  },
  {
    question: /^\/api\/v3\/traces\?query\.service_name=shop$/,
    at: /\/message$/,
    reason: 'the sentence has the names that later releases give the parameters',
  },
  { question: /^\/api\/services\/none\/operations/, at: /\/body\/data$/, reason: 'an empty list in place of null' },
  { question: /^\/api\/traces\/$/, at: /./, reason: 'Jaeger shows its user interface' },
  { question: /^\/api\/traces\/\w+%3D%3D|%2F/, at: /./, reason: 'ids in base64, which later releases have' },
  { question: /exception\.message/, at: /\/body\/data/, reason: 'tags are not looked for in events' },
  {
    question: /limit=(0|-1|1501)$/,
    at: /./,
    reason: 'a limit has bounds here; later releases refuse those below 1, too',
  },
  {
    question: /^\/api\/traces\?service=shop&start=\d+&end=\d+$/,
    at: /./,
    reason: 'a window that ends before it starts is refused, as later releases do',
  },
  { question: /^\/api\/dependencies/, at: /callCount$/, reason: 'calls between spans that share an id, as Zipkin’s do, are not counted' },
];

/** Why a member differs; null for no reason. */
export function reasonOf(asked: string, { at, jaeger }: Difference): string | null {
  const said = jaeger === undefined ? '' : JSON.stringify(jaeger);
  return REASONS.find((one) => one.question.test(asked) && one.at.test(at) && (one.jaeger?.test(said) ?? true))?.reason ?? null;
}
