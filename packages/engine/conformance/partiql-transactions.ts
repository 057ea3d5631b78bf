/** ExecuteTransaction: statements that happen together or not at all. */
import {
  ExecuteTransactionCommand,
  type ExecuteTransactionCommandInput,
  type ParameterizedStatement,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { expectRefusal, failure, type Item, read, refuses, useTable, write } from './harness.ts'
import { expected, type Target } from './target.ts'

export function partiQlTransactions(target: Target): void {
  describe('ExecuteTransaction', () => {
    const table = useTable(target, {
      key: { pk: 'S', sk: 'N' },
      local: { 'by-time': { key: { pk: 'S', l: 'S' } } },
    })
    const key = (pk: string): Item => ({ pk: { S: pk }, sk: { N: '1' } })
    const where = (pk: string) => `WHERE pk = '${pk}' AND sk = 1`
    const stored = (pk: string) => read(target, table, key(pk))
    const named = (statement: string) => statement.replaceAll('TABLE', `"${table}"`)
    const transact = (
      statements: (string | ParameterizedStatement)[],
      rest: Partial<ExecuteTransactionCommandInput> = {},
    ) =>
      target.client.send(
        new ExecuteTransactionCommand({
          TransactStatements: statements
            .map((one) => (typeof one === 'string' ? { Statement: one } : one))
            .map(({ Statement = '', ...others }) => ({ Statement: named(Statement), ...others })),
          ...rest,
        }),
      )
    const reasons = async (statements: (string | ParameterizedStatement)[]) => {
      const error = await failure(transact(statements))
      expect(error.name, error.message).toBe('TransactionCanceledException')
      return (error as TransactionCanceledException).CancellationReasons
    }

    test('writes everything', async () => {
      await write(target, table, [key('changed'), key('deleted')])
      const output = await transact([
        `INSERT INTO TABLE VALUE {'pk': 'new', 'sk': 1}`,
        {
          Statement: 'UPDATE TABLE SET n = ? WHERE pk = ? AND sk = 1',
          Parameters: [{ N: '2' }, { S: 'changed' }],
        },
        `DELETE FROM TABLE ${where('deleted')}`,
        `DELETE FROM TABLE ${where('nobody')} AND n = 1`,
      ])
      expect(output.Responses).toEqual([])
      expect(await stored('new')).toEqual(key('new'))
      expect(await stored('changed')).toEqual({ ...key('changed'), n: { N: '2' } })
      expect(await stored('deleted')).toBeUndefined()
    })

    test('writes nothing if one statement fails, and reports which', async () => {
      await write(target, table, [{ ...key('kept'), n: { N: '1' } }])
      expect(
        await reasons([
          `INSERT INTO TABLE VALUE {'pk': 'unborn', 'sk': 1}`,
          {
            Statement: `UPDATE TABLE SET n = 2 ${where('kept')} AND n = 5`,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
          `UPDATE TABLE SET n = 2 ${where('nobody')}`,
        ]),
      ).toEqual([
        { Code: 'None' },
        {
          Code: 'ConditionalCheckFailed',
          Message: 'The conditional request failed',
          Item: { ...key('kept'), n: { N: '1' } },
        },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      ])
      expect(await stored('unborn')).toBeUndefined()
    })

    test('is cancelled for an item that is there', async () => {
      await write(target, table, [key('there')])
      expect(await reasons([`INSERT INTO TABLE VALUE {'pk': 'there', 'sk': 1}`])).toEqual([
        { Code: 'ValidationError', Message: 'Duplicate primary key exists in table' },
      ])
    })

    test('is cancelled for an item without its key', async () => {
      expect(await reasons([`INSERT INTO TABLE VALUE {'pk': 'there'}`])).toEqual([
        { Code: 'ValidationError', Message: 'Key attribute should be present in the item: Key sk' },
      ])
    })

    test('EXISTS makes a condition on another item', async () => {
      await write(target, table, [{ ...key('checked'), n: { N: '1' } }, key('guarded')])
      const guarded = (n: number) => [
        `EXISTS(SELECT * FROM TABLE ${where('checked')} AND n = ${n})`,
        `UPDATE TABLE SET n = 7 ${where('guarded')}`,
      ]
      expect((await reasons(guarded(2)))?.map(({ Code }) => Code)).toEqual([
        'ConditionalCheckFailed',
        'None',
      ])
      expect(await stored('guarded')).toEqual(key('guarded'))
      await transact(guarded(1))
      expect(await stored('guarded')).toEqual({ ...key('guarded'), n: { N: '7' } })
    })

    test('reads items in the order of its statements', async () => {
      await write(target, table, [{ ...key('read'), n: { N: '1' } }])
      const { Responses } = await transact([
        `SELECT * FROM TABLE ${where('nobody')}`,
        `SELECT n FROM TABLE ${where('read')}`,
      ])
      expect(Responses).toEqual([{}, { Item: { n: { N: '1' } } }])
    })

    test('happens once for one token', async () => {
      await write(target, table, [{ ...key('once'), n: { N: '1' } }])
      const add = (n: number) =>
        transact([`UPDATE TABLE SET n = n + ${n} ${where('once')}`], {
          ClientRequestToken: `once-${table.slice(-20)}`,
        })
      await add(1)
      await add(1)
      expect((await stored('once'))?.['n']).toEqual({ N: '2' })
      expect((await failure(add(2))).name).toBe('IdempotentParameterMismatchException')
    })

    const refusals: [what: string, statements: string[], message: string][] = [
      [
        'to read and to write',
        [`SELECT * FROM TABLE ${where('a')}`, `DELETE FROM TABLE ${where('b')}`],
        'ExecuteTransaction API does not support both read and write operations in the same request.',
      ],
      [
        'one item twice',
        [`UPDATE TABLE SET n = 1 ${where('a')}`, `DELETE FROM TABLE ${where('a')}`],
        'Transaction request cannot include multiple operations on one item',
      ],
      [
        'a select of several items',
        [`SELECT * FROM TABLE WHERE pk = 'a'`],
        'Validation failed in TransactStatements[0]: Select statements within ExecuteTransaction must specify the primary key in the where clause.',
      ],
      [
        'a select through an index',
        [`SELECT * FROM TABLE."by-time" WHERE pk = 'a' AND l = 'l'`],
        'Validation failed in TransactStatements[0]: Reads on indices are not supported within transactions.',
      ],
      [
        'an existence without a condition',
        [`EXISTS(SELECT * FROM TABLE ${where('a')})`],
        'Validation failed in TransactStatements[0]: EXISTS() must contain a single item read with additional condition',
      ],
      [
        'RETURNING',
        [`UPDATE TABLE SET n = 1 ${where('a')} RETURNING ALL NEW *`],
        'Validation failed in TransactStatements[0]: RETURNING clause is not supported in ExecuteTransaction.',
      ],
      [
        'a parameter too few',
        [`UPDATE TABLE SET n = ? ${where('a')}`],
        "Validation failed in TransactStatements[0]: Number of parameters in request and statement don't match.",
      ],
    ]
    for (const [what, statements, message] of refusals) {
      test(`refuses ${what}`, () => expectRefusal(transact(statements), { message }))
    }

    refuses(target, ExecuteTransactionCommand, {}, [
      [
        'no statements',
        { TransactStatements: [] },
        "1 validation error detected: Value '[]' at 'transactStatements' failed to satisfy constraint: Member must have length greater than or equal to 1",
        'parameter-texts',
      ],
    ])

    test('counts what it consumes, twice', async () => {
      const { ConsumedCapacity } = await transact(
        [`INSERT INTO TABLE VALUE {'pk': 'counted', 'sk': 1}`],
        { ReturnConsumedCapacity: 'TOTAL' },
      )
      expect(ConsumedCapacity?.[0]?.CapacityUnits).toBe(
        expected(target, 'statement-capacity', 2, undefined),
      )
    })
  })
}
