import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Clusterer, OVERFLOW_FINGERPRINT, OVERFLOW_TEMPLATE } from '../../../pipeline/clusterer/clusterer.ts';
import { clusterKey } from '../../../pipeline/clusterer/cluster-key.ts';
import { fingerprintOf } from '../../../pipeline/clusterer/shapes.ts';
import { extent } from '../../extent.ts';
import { sequence } from './generated-messages.ts';

const options = { maxTemplates: 50_000 };
const COLOURS = ['red', 'green', 'blue', 'white', 'black', 'brown', 'grey', 'pink'];

/** The clusters of templates that come at 0, 1, 2 …, each as the sorted templates of it. */
function clusters(templates: readonly string[], times = templates.map((_, index) => index)): string[][] {
  const clusterer = new Clusterer(options);
  templates.forEach((template, index) => clusterer.add(template, times[index] as number));
  const groups = new Map<string, string[]>();
  for (const template of templates) {
    const root = clusterer.rootOf(fingerprintOf(template)) as string;
    groups.set(root, [...(groups.get(root) ?? []), template]);
  }
  return [...groups.values()].map((group) => group.sort()).sort();
}

describe('the keys of clusters', () => {
  const SAME: readonly (readonly [string, string])[] = [
    ['took <N> in all', 'took <ID> in all'],
    ['list <N>, <N>', 'list <N>, <N>, <N>, <ID>'],
    ['from <IP> (<HOST>) at', 'from <IP> () at'],
    ['<N> (<N>) sent', '<N> sent'],
    ['search for "red chair" found <N> hits', 'search for "lamp" found <N> hits'],
    ["user 'o'neil' left", "user 'bob' left"],
    ['GET / took <N>', 'GET <PATH> took <N>'],
    ['"<URL>" <N> - "-"', '"<URL>" <N> <N> "curl"'],
    ['request path="<*>" took=<*>', 'request path=<*> took=<*>'],
    ['request method=GET path=<*>', 'request method=POST path=<*>'],
  ];
  const APART: readonly (readonly [string, string])[] = [
    ['a <N> b', 'a <N> c'],
    ['"order paid" id=<*>', '"order sent" id=<*>'],
    ['id=<*> msg="order paid"', 'id=<*> msg="order sent"'],
    ['{"level": "info", "message": "order paid"}', '{"level": "info", "message": "order sent"}'],
    ['{"level":"info","order":"<*>"}', '{"level":"info","mail":"<*>"}'],
    ['sent "GET <PATH>"', 'sent "POST <PATH>"'],
  ];
  for (const [a, b] of SAME) it(`${a} and ${b} have one`, () => expect(clusterKey(a)).to.equal(clusterKey(b)));
  for (const [a, b] of APART) it(`${a} and ${b} have others`, () => expect(clusterKey(a)).not.to.equal(clusterKey(b)));
});

describe('the clusterer', () => {
  it('leaves templates that differ in one word apart until five values were seen', () => {
    const templates = COLOURS.map((colour) => `the paint is ${colour} today`);
    expect(clusters(templates.slice(0, 4))).to.have.length(4);
    expect(clusters(templates.slice(0, 5))).to.have.length(1);
    expect(clusters(templates)).to.have.length(1);
  });

  it('never takes a clause without blanks for a value', () => {
    const clauses = ['用户登录失败', '磁盘空间不足', '订单已经支付', '服务正在重启', '数据库切换完成', '支付网关超时'];
    expect(clusters(clauses.map((clause) => `[<N>] 订单 服务 ${clause}`))).to.have.length(6);
    const names = ['张三', '李四', '王五', '赵六', '钱七'];
    expect(clusters(names.map((name) => `用户 ${name} 登录 失败`))).to.have.length(1);
  });

  it('needs one value fewer where one is a placeholder', () => {
    const templates = [...COLOURS.slice(0, 3).map((colour) => `the paint is ${colour} today`), 'the paint is <ID> today'];
    expect(clusters(templates)).to.have.length(1);
    expect(clusters(templates.slice(0, 3))).to.have.length(3);
  });

  it('needs three values that look like names, and four in capitals', () => {
    const tables = ['public.orders', 'public.users', 'order_items'].map((table) => `copied table ${table} again`);
    expect(clusters(tables)).to.have.length(1);
    expect(clusters(tables.slice(0, 2))).to.have.length(2);
    const states = ['PENDING', 'PAID', 'SHIPPED', 'IN_DOUBT'].map((state) => `the order is ${state} now`);
    expect(clusters(states)).to.have.length(1);
    expect(clusters(states.slice(0, 3))).to.have.length(3);
  });

  it('needs four methods of HTTP before a value, and no other word', () => {
    const requests = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => `${method} <PATH>`);
    expect(clusters(requests)).to.have.length(1);
    expect(clusters(requests.slice(0, 3))).to.have.length(3);
    expect(clusters([...requests, '<ID>', '<N>'])).to.have.length(2);
    expect(clusters(['GET', 'POST', 'PUT', 'DELETE'].map((method) => `${method} order`))).to.have.length(4);
    const clusterer = new Clusterer(options);
    requests.forEach((request, index) => clusterer.add(request, index));
    expect(clusterer.shownTemplate(fingerprintOf('GET <PATH>'))).to.equal('<*> <PATH>');
  });

  it('never merges on the first word, nor where fewer than two constant words are left', () => {
    expect(clusters(COLOURS.map((colour) => `${colour} paint is here`))).to.have.length(COLOURS.length);
    expect(clusters(COLOURS.map((colour) => `paint ${colour}`))).to.have.length(COLOURS.length);
    expect(clusters(COLOURS.map((colour) => `paint ${colour} <N>`))).to.have.length(COLOURS.length);
  });

  it('merges what is merged once more, at another word', () => {
    const templates = COLOURS.slice(0, 5).flatMap((a) => COLOURS.slice(0, 5).map((b) => `the paint goes from ${a} to ${b} today`));
    expect(clusters(templates)).to.have.length(1);
  });

  it('has the earliest as root, then the smallest hash, and tells who got another root', () => {
    const clusterer = new Clusterer(options);
    const templates = COLOURS.slice(0, 5).map((colour) => `the paint is ${colour} today`);
    for (const template of templates) clusterer.add(template, 7);
    const prints = templates.map(fingerprintOf);
    const smallest = [...prints].sort()[0] as string;
    for (const print of prints) expect(clusterer.rootOf(print)).to.equal(smallest);
    expect(clusterer.takeAliases().at(-1)?.root).to.equal(smallest);
    const root = clusterer.add('the paint is mauve today', 3);
    expect(root).to.equal(fingerprintOf('the paint is mauve today'));
    const moved = clusterer.takeAliases();
    expect(moved.map(({ alias }) => alias).sort()).to.deep.equal([...prints].sort());
    expect(new Set(moved.map((alias) => alias.root))).to.deep.equal(new Set([root]));
    expect(clusterer.aliasesOf(smallest)).to.deep.equal([root, ...prints]);
    expect(clusterer.shownTemplate(smallest)).to.equal('the paint is <*> today');
    expect(clusterer.takeAliases()).to.deep.equal([]);
  });

  it('gives the same clusters and roots in any order', () => {
    const random = sequence(4);
    for (let round = 0; round < extent(20, 500); round += 1) {
      const word = (): string => COLOURS[random(COLOURS.length)] as string;
      const templates = [
        ...new Set(Array.from({ length: 80 }, () => `the ${word()} paint goes <N> ${random(2) === 0 ? '<ID>' : word()} to ${word()}`)),
      ];
      const times = templates.map(() => random(5));
      const order = templates.map((_, index) => index).sort(() => random(3) - 1);
      const again = [order.map((index) => templates[index] as string), order.map((index) => times[index] as number)] as const;
      expect(clusters(...again)).to.deep.equal(clusters(templates, times));
      const roots = ([list, seen]: readonly [readonly string[], readonly number[]]): string[] => {
        const clusterer = new Clusterer(options);
        list.forEach((template, index) => clusterer.add(template, seen[index] as number));
        return templates.map(
          (template) => `${clusterer.rootOf(fingerprintOf(template)) ?? ''} ${clusterer.shownTemplate(fingerprintOf(template)) ?? ''}`,
        );
      };
      expect(roots(again)).to.deep.equal(roots([templates, times]));
    }
  });

  it('comes back from its snapshot', () => {
    const clusterer = new Clusterer({ maxTemplates: 30 });
    for (let index = 0; index < 40; index += 1)
      clusterer.add(`the paint is ${'x'.repeat(index + 1)} today, says ${COLOURS[index % 8] ?? ''}`, index);
    const snapshot = JSON.parse(JSON.stringify(clusterer.snapshot())) as ReturnType<Clusterer['snapshot']>;
    const restored = Clusterer.restored(snapshot, { maxTemplates: 30 });
    expect(restored.snapshot()).to.deep.equal(clusterer.snapshot());
    expect(restored.overflow).to.equal(10);
    for (const [template] of snapshot.templates)
      expect(restored.aliasesOf(fingerprintOf(template))).to.deep.equal(clusterer.aliasesOf(fingerprintOf(template)));
    expect(restored.takeAliases()).to.deep.equal([]);
  });

  it('counts what it has no room for under the overflow', () => {
    const clusterer = new Clusterer({ maxTemplates: 2 });
    clusterer.add('a', 1);
    clusterer.add('b', 2);
    expect(clusterer.add('c', 3)).to.equal(OVERFLOW_FINGERPRINT);
    expect(OVERFLOW_FINGERPRINT).to.equal(fingerprintOf(OVERFLOW_TEMPLATE));
    expect(clusterer.add('a', 4)).to.equal(fingerprintOf('a'));
    expect([clusterer.size, clusterer.overflow]).to.deep.equal([2, 1]);
  });

  it('holds 50,000 templates of a tenant in less than 100 MB, and takes no more', () => {
    const program = path.join(import.meta.dirname, 'held-memory.ts');
    const { megabytes, overflow } = JSON.parse(String(execFileSync(process.execPath, ['--expose-gc', program]))) as Record<string, number>;
    expect(overflow).to.equal(10_000);
    expect(megabytes).to.be.within(1, 100);
  });
});
