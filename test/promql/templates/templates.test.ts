import { expect } from 'chai';
import fc from 'fast-check';
import { expandTemplate, readTemplate } from '../../../promql/templates/expand.ts';
import { TemplateError } from '../../../promql/templates/tree.ts';

const LABELS = new Map([
  ['instance', 'web-1.example.com:8080'],
  ['job', 'api'],
  ['severity', 'page'],
]);
const expanded = (source: string, value = 1234.5678): string => expandTemplate(readTemplate(source), { labels: LABELS, value });

/** As Prometheus' own tests of its templates have them, where they need no query. */
const CASES: readonly (readonly [template: string, text: string, value?: number])[] = [
  ['plain', 'plain'],
  ['{{ $labels.instance }} is {{ $value }}', 'web-1.example.com:8080 is 1234.5678'],
  ['{{ .Labels.job }}/{{ .Value }}/{{ $labels.none }}/{{ $.Labels.job }}', 'api/1234.5678//api'],
  ['{{ "a" }} {{ `b"` }} {{ 1.5e3 }} {{ true }}', 'a b" 1500 true'],
  ['a {{- " b " -}} c', 'a b c'],
  ['{{/* a comment */}}x', 'x'],
  ['{{ $value | humanize }}', '1.235k'],
  ['{{ humanize 0.0123 }} {{ humanize 0.0 }} {{ humanize 1e9 }} {{ humanize "12345" }}', '12.3m 0 1G 12.35k'],
  ['{{ humanize1024 1048576.0 }} {{ humanize1024 1.0 }} {{ humanize1024 1536 }}', '1Mi 1 1.5ki'],
  [
    '{{ humanizeDuration 0.0 }} {{ humanizeDuration 0.1 }} {{ humanizeDuration 60 }} {{ humanizeDuration 90061 }}',
    '0s 100ms 1m 0s 1d 1h 1m 1s',
  ],
  ['{{ humanizeDuration -1.5 }} {{ humanizeDuration 3600 }} {{ humanizeDuration 12.345678 }}', '-1.5s 1h 0m 0s 12.35s'],
  ['{{ 0.1234567 | humanizePercentage }} {{ humanizePercentage -0.22222 }} {{ humanizePercentage 1 }}', '12.35% -22.22% 100%'],
  ['{{ 1435065584.128 | humanizeTimestamp }} {{ humanizeTimestamp 0 }}', '2015-06-23 13:19:44.128 +0000 UTC 1970-01-01 00:00:00 +0000 UTC'],
  ['{{ $value | humanize }} {{ humanizePercentage $value }} {{ humanizeDuration $value }}', 'NaN NaN% NaN', NaN],
  ['{{ humanize $value }}', '+Inf', Infinity],
  ['{{ printf "%.2f %s %v %5.1f|%-5s|%05.1f" $value $labels.job true 1.25 "x" 2.5 }}', '1234.57 api true   1.3|x    |002.5'],
  [
    '{{ printf "%d" $value }} {{ printf "%s" }} {{ printf "x" 1 }} {{ printf "100%%" }}',
    '%!d(float64=1234.5678) %!s(MISSING) x%!(EXTRA float64=1) 100%',
  ],
  [
    '{{ $labels.instance | stripPort }} {{ stripDomain $labels.instance }} {{ stripDomain "10.0.0.1:9090" }}',
    'web-1.example.com web-1:8080 10.0.0.1:9090',
  ],
  ['{{ reReplaceAll "(.*):(.*)" "$2-$1" $labels.instance }}', '8080-web-1.example.com'],
  ['{{ if match "web-.*" $labels.instance }}web{{ else }}other{{ end }}', 'web'],
  ['{{ title "ab cd" }} {{ toUpper "ab" }} {{ toLower "AB" }} {{ len "abc" }} {{ parseDuration "1m30s" }}', 'Ab Cd AB ab 3 90'],
  ['{{ if gt $value 1000.0 }}high{{ else if gt $value 10.0 }}middle{{ else }}low{{ end }}', 'middle', 50],
  ['{{ if and (eq $labels.job "api") (not (lt $value 1)) }}yes{{ end }}', 'yes'],
  ['{{ if or $labels.none (ne $labels.job "api" | not) }}yes{{ end }}', 'yes'],
  ['{{ with $labels.job }}<{{ . }}>{{ end }}{{ with $labels.none }}no{{ else }}none{{ end }}', '<api>none'],
  ['{{ with $x := index $labels "job" }}{{ $x }}{{ end }}{{ $y := printf "%.0f" $value }} {{ $y }}', 'api 1235'],
  ['{{ ($labels.job | toUpper) }} {{ (index $labels "severity") }}', 'API page'],
  ['{{ $value }}', '1e+21', 1e21],
  ['{{ $value }}', '0.0001', 0.0001],
  ['{{ $value }}', '1e-05', 0.00001],
];

/** What cannot be read, and a part of the reason. */
const WRONG: readonly (readonly [string, RegExp])[] = [
  ['{{ $labels.x', /unclosed action/],
  ['{{ if $value }}x', /unclosed \{\{if\}\}/],
  ['{{ end }}', /unexpected \{\{end\}\}/],
  ['{{ nosuch $value }}', /function "nosuch" not defined/],
  ['{{ query "up" | first | value }}', /function "query" not defined/],
  ['{{ range $labels }}x{{ end }}', /function "range" not defined/],
  ['{{ }}', /missing value for command/],
  ['{{ ( $value }}', /unclosed left paren/],
  ['{{ $value | }}', /missing value for command/],
  ['{{ $labels.a $value }}', /argument/],
  ['{{ "a\\z" }}', /invalid escape/],
  ['{{ ! }}', /unexpected "!"/],
  [`${'{{ if true }}'.repeat(30)}x${'{{ end }}'.repeat(30)}`, /more than 20 levels/],
  [`{{ ${'('.repeat(30)}1${')'.repeat(30)} }}`, /more than 20 levels/],
];

describe('templates of rules', () => {
  for (const [template, text, value] of CASES)
    it(`give what Prometheus gives: ${template}`, () => {
      expect(expanded(template, value)).to.equal(text);
    });

  for (const [template, reason] of WRONG)
    it(`refuse ${template.slice(0, 60)}`, () => {
      expect(() => readTemplate(template)).to.throw(TemplateError, reason);
    });

  it('say in their place why they cannot be expanded', () => {
    expect(expanded('x {{ $none }}')).to.equal('<error expanding template: undefined variable "$none">');
    expect(expanded('{{ humanize "many" }}')).to.match(/^<error expanding template: can't convert many to a number>$/);
    expect(expanded('{{ gt $labels.job 1 }}')).to.match(/incompatible types/);
    expect(expanded('{{ reReplaceAll "(" "" "x" }}')).to.match(/error parsing regexp/);
    expect(expanded('{{ printf "%999999f" 1.0 }}')).to.match(/at most 100/);
    expect(expanded('{{ reReplaceAll "a" "$0$0$0$0$0$0$0$0$0$0" $labels.x }}')).to.equal('');
  });

  it('are bounded, whatever labels and sources are', () => {
    const labels = new Map([['x', 'a'.repeat(8000)]]);
    const text = expandTemplate(readTemplate('{{ $labels.x }}{{ reReplaceAll "a" "bbbbbbbbbb" $labels.x }}'), { labels, value: 1 });
    expect(text.length).to.be.below(20_000);
    fc.assert(
      fc.property(fc.array(fc.constantFrom('{{', '}}', '$labels', '.x', '|', '(', ')', '"', '`', 'if ', 'with ', 'else ', 'end', ' humanize ', '$value', ':=', ' $y ', '-', 'a', '\\', 'printf "%v"', '1', '/*', '*/'), { maxLength: 30 }), (parts) => {
        try {
          expandTemplate(readTemplate(parts.join('')), { labels: LABELS, value: 2 });
        } catch (error) {
          if (!(error instanceof TemplateError)) throw error;
        }
      }),
      { numRuns: 2000 },
    ); // prettier-ignore
  });
});
