import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { generated, variables } from '../../docs/generate.ts';
import { PLANS } from '../../api/tenants/plans.ts';
import { burst } from '../../api/limits/token-bucket.ts';
import { ADMIN_COMMANDS } from '../../cli/admin-commands.ts';
import { commands } from '../../cli/main.ts';
import { Metrics } from '../../pipeline/core/metrics.ts';
import { normalizers, spanNormalizers } from '../../pipeline/normalizers/index.ts';
import { anchors } from './anchors.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Every page of the documentation, by its path from the root. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];
const packageJson = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  dependencies: object;
  optionalDependencies?: object;
  devDependencies: object;
};
/** Variables of the command line and of the tests, which the service does not read. */
const FOREIGN = ['LOGWEIR_URL', 'LOGWEIR_INGEST_URL', 'LOGWEIR_TENANT', 'LOGWEIR_API_KEY', 'LOGWEIR_SHARED'];

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? '');

describe('documentation: generated parts', () => {
  for (const { file, is, should } of generated()) it(`${file} is up to date (npm run docs)`, () => expect(is).to.equal(should));

  it('every variable has a meaning', () => {
    expect(variables().filter(({ meaning }) => meaning === '')).to.deep.equal([]);
  });
});

for (const page of pages) {
  describe(`documentation: ${page}`, () => {
    const text = read(page);

    it('links lead somewhere', () => {
      const dead = matches(text, /\]\(([^)\s]+)\)/g).filter((link) => {
        if (/^https?:/.test(link)) return false;
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? page : path.join(path.dirname(page), file);
        if (!existsSync(path.join(root, target))) return true;
        return anchor !== undefined && !anchors(read(target)).includes(anchor);
      });
      expect(dead).to.deep.equal([]);
    });

    it('names scripts of package.json, files and commands that exist', () => {
      const scripts = matches(text, /npm run ([a-z][a-z0-9:-]*)/g);
      expect(scripts.filter((name) => packageJson.scripts[name] === undefined)).to.deep.equal([]);
      const files = matches(text, /`((?:api|cli|compose|examples|logsql|main|pipeline|sinks|test)\/[\w./-]+\.(?:ts|mjs|sql|sh|xml))`/g);
      // docs/extending says which files a reader is to make
      const missing = files.filter((file) => !existsSync(path.join(root, file)) && !/\/lines(\.test)?\.ts$/.test(file));
      expect(missing).to.deep.equal([]);
      const known = ['ps', 'audit', 'topic', 'processor', 'detector', ...commands.map(({ name }) => name)];
      expect(matches(text, /npx --no-install logweir ([a-z]+)/g).filter((name) => !known.includes(name))).to.deep.equal([]);
      const admin = ADMIN_COMMANDS.map(({ name }) => name);
      expect(matches(text, /logweir admin ((?:tenant|key) [a-z-]+)/g).filter((name) => !admin.includes(name))).to.deep.equal([]);
    });

    it('names variables that exist', () => {
      const known = [...variables().map(({ name }) => name), ...FOREIGN];
      expect(matches(text, /\b(LOGWEIR_[A-Z_]*[A-Z])\b/g).filter((name) => !known.includes(name))).to.deep.equal([]);
    });
  });
}

describe('documentation: lists that the code has too', () => {
  it('docs/dependencies.md gives a reason for every dependency, and names no other', () => {
    const rows = matches(read('docs/dependencies.md'), /^\| `([^`]+)` \|/gm);
    expect(rows.sort()).to.deep.equal(Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies }).sort());
    const development = /For development: ([^]*?)\n\n/.exec(read('docs/dependencies.md'))?.[1] ?? '';
    expect(matches(development, /`([^`]+)`/g).sort()).to.deep.equal(Object.keys(packageJson.devDependencies).sort());
  });

  it('docs/cli.md has every admin command, docs/ingest.md every path, docs/metrics.md every metric', async () => {
    for (const { name } of ADMIN_COMMANDS) expect(read('docs/cli.md')).to.contain(`\`admin ${name}\``);
    for (const { paths } of [...normalizers.members, ...spanNormalizers.members])
      for (const at of paths) expect(read('docs/ingest.md')).to.contain(at.replace(/:(\w+)/g, '{$1}'));
    const metrics = await new Metrics('docs').registry.getMetricsAsJSON();
    for (const { name } of metrics.filter((metric) => metric.name.startsWith('logweir_')))
      expect(read('docs/metrics.md')).to.contain(`\`${name}\``);
  });

  it('docs/ingest.md has the numbers of every plan', () => {
    const count = (value: number): string => value.toLocaleString('en-US');
    for (const { name, entriesPerSecond: rate, dailyBytes, ceilingBytes, retentionDays } of PLANS) {
      const row = read('docs/ingest.md')
        .split('\n')
        .find((line) => line.startsWith(`| \`${name}\` |`));
      const numbers = [
        ...(rate === Infinity || name === 'custom' ? [] : [count(rate), count(burst(rate))]),
        ...(dailyBytes === Infinity || dailyBytes === 0 ? [] : [`${dailyBytes / 1e9} GB`]),
        ...(ceilingBytes === Infinity || ceilingBytes === dailyBytes ? [] : [`${count(ceilingBytes / 1e9)} GB`]),
        ...(retentionDays === 0 ? ['for ever'] : [`${retentionDays} days`]),
      ];
      for (const number of numbers) expect(row).to.contain(number);
    }
  });

  it('no page has paths of the machine it was written on', () => {
    for (const page of pages) expect(read(page), page).to.not.match(/\/(?:home|root|work|Users)\//);
  });
});
