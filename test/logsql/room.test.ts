import { expect } from 'chai';
import { MAX_VALUE, StatementBudget, inChunks, sizeOf } from '../../logsql/sql/statement-budget.ts';
import { sql, text, texts } from '../../pipeline/core/sql.ts';
import { parse, planOf, sqlOf } from './support.ts';

describe('the room of a statement', () => {
  it('is full after its text, its values or its bytes', () => {
    const room = new StatementBudget();
    for (let taken = 0; taken < 800; taken += 1) expect(room.take(sql`a = ${text('x')}`)).to.equal(true);
    expect(room.take(sql`a = ${text('x')}`)).to.equal(false);
    expect(room.take(sql`1`)).to.equal(true);
    expect(new StatementBudget().take(sql`${text('x'.repeat(MAX_VALUE + 1))}`)).to.equal(false);
    const bytes = new StatementBudget();
    for (let taken = 0; taken < 40; taken += 1) expect(bytes.take(sql`${text('x'.repeat(MAX_VALUE))}`)).to.equal(true);
    expect(bytes.take(sql`${text('x')}`)).to.equal(false);
  });
  it('takes so many parts of a filter', () => {
    const filter = (count: number) => parse(Array.from({ length: count }, (_none, index) => `w${String(index)}`).join(' or ')).filter;
    expect(new StatementBudget().takeFilter(filter(200))).to.equal(true);
    expect(new StatementBudget().takeFilter(filter(201))).to.equal(false);
  });
  it('cuts lists so that each is one value', () => {
    const values = Array.from({ length: 5000 }, (_none, index) => `${'é'.repeat(20)}${String(index)}`);
    const chunks = inChunks(values);
    expect(chunks.flat()).to.deep.equal(values);
    expect(chunks).to.have.length(3);
    for (const chunk of chunks) expect(sizeOf(texts(chunk).value)).to.be.at.most(MAX_VALUE);
    expect(inChunks([])).to.deep.equal([]);
  });
  it('leaves in memory what does not fit, and says the rest in SQL', () => {
    const query = Array.from({ length: 150 }, (_none, index) => `f${String(index)}:range[1, 2]`).join(' ');
    const plan = planOf(`level:=error ${query}`);
    expect(plan.pipes).to.have.length(1);
    const statement = sqlOf(`level:=error ${query}`).text;
    expect(statement).to.contain('level = ');
    expect(statement.length).to.be.within(50_000, 110_000);
  });
});
