/** BatchExecuteStatement: statements that succeed and fail each by itself. */
import {
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  type ReturnConsumedCapacity,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  type Item,
  missingTable,
  read,
  refuses,
  useTable,
  write,
} from './harness.ts'
import { expected, type Target } from './target.ts'

export function partiQlBatches(target: Target): void {
  describe('BatchExecuteStatement', () => {
    const table = useTable(target, { key: { pk: 'S', sk: 'N' } })
    const key = (pk: string): Item => ({ pk: { S: pk }, sk: { N: '1' } })
    const where = (pk: string) => `WHERE pk = '${pk}' AND sk = 1`
    const batch = (
      statements: (string | BatchStatementRequest)[],
      ReturnConsumedCapacity: ReturnConsumedCapacity = 'NONE',
    ) =>
      target.client.send(
        new BatchExecuteStatementCommand({
          Statements: statements
            .map((one) => (typeof one === 'string' ? { Statement: one } : one))
            .map(({ Statement, ...rest }) => ({
              Statement: Statement?.replaceAll('TABLE', `"${table}"`),
              ...rest,
            })),
          ReturnConsumedCapacity,
        }),
      )

    test('reads items in the order of its statements', async () => {
      await write(target, table, [{ ...key('a'), n: { N: '1' }, m: { M: { x: { N: '2' } } } }])
      const { Responses } = await batch([
        `SELECT n FROM TABLE ${where('nobody')}`,
        {
          Statement: 'SELECT n, m.x FROM TABLE WHERE pk = ? AND sk = ?',
          Parameters: [{ S: 'a' }, { N: '1' }],
        },
      ])
      expect(Responses).toEqual([
        { TableName: table },
        { TableName: table, Item: { n: { N: '1' }, m: { M: { x: { N: '2' } } } } },
      ])
    })

    test('writes what it can', async () => {
      await write(target, table, [
        { ...key('there'), n: { N: '1' } },
        { ...key('changed'), n: { N: '1' } },
        key('deleted'),
      ])
      const { Responses } = await batch([
        `INSERT INTO TABLE VALUE {'pk': 'there', 'sk': 1}`,
        `INSERT INTO TABLE VALUE {'pk': 'new', 'sk': 1}`,
        `UPDATE TABLE SET n = 2 ${where('changed')} RETURNING ALL NEW *`,
        `UPDATE TABLE SET n = 2 ${where('missing')}`,
        `DELETE FROM TABLE ${where('deleted')}`,
      ])
      const failed = (Code: string, Message: string) => ({
        TableName: table,
        Error: { Code, Message },
      })
      expect(Responses).toEqual([
        failed('DuplicateItem', 'Duplicate primary key exists in table'),
        { TableName: table },
        { TableName: table, Item: { ...key('changed'), n: { N: '2' } } },
        failed('ConditionalCheckFailed', 'The conditional request failed'),
        { TableName: table },
      ])
      expect(await read(target, table, key('new'))).toEqual(key('new'))
      expect(await read(target, table, key('missing'))).toBeUndefined()
      expect(await read(target, table, key('deleted'))).toBeUndefined()
    })

    test('shows the item that did not meet a condition', async () => {
      await write(target, table, [{ ...key('shown'), n: { N: '1' } }])
      const { Responses } = await batch([
        {
          Statement: `UPDATE TABLE SET n = 2 ${where('shown')} AND n = 5`,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      ])
      expect(Responses?.[0]?.Error?.Item).toEqual({ ...key('shown'), n: { N: '1' } })
    })

    const failures: [
      what: string,
      statement: string | BatchStatementRequest,
      message: string | RegExp,
    ][] = [
      [
        'a select of several items',
        `SELECT * FROM TABLE WHERE pk = 'a'`,
        'Only single item select is supported',
      ],
      [
        'a select with a further condition',
        `SELECT * FROM TABLE ${where('a')} AND n = 1`,
        'Only single item select is supported',
      ],
      [
        'a malformed statement',
        'SELECT * FRM',
        /^Statement wasn't well formed, can't be processed: /,
      ],
      [
        'a parameter too few',
        { Statement: 'SELECT * FROM TABLE WHERE pk = ? AND sk = ?', Parameters: [{ S: 'a' }] },
        "Number of parameters in request and statement don't match.",
      ],
    ]
    for (const [what, statement, message] of failures) {
      test(`fails for ${what} in its response`, async () => {
        const { Responses } = await batch([statement])
        expect(Responses).toEqual([
          {
            Error: {
              Code: 'ValidationError',
              Message: expect.stringMatching(message),
            },
          },
        ])
      })
    }

    test('fails for a table that does not exist in its response', async () => {
      const { Responses } = await batch([`SELECT * FROM "nowhere-at-all" ${where('a')}`])
      expect(Responses).toEqual([
        { Error: { Code: 'ResourceNotFound', Message: missingTable(target).message } },
      ])
    })

    test('refuses to read and to write', async () => {
      await expectRefusal(
        batch([
          `INSERT INTO TABLE VALUE {'pk': 'x', 'sk': 1}`,
          `SELECT * FROM TABLE ${where('a')}`,
        ]),
        { message: 'Read and write requests together in the same batch is not supported.' },
      )
    })

    test('refuses one item twice', async () => {
      const message = 'Provided list of item keys contains duplicates'
      await expectRefusal(
        batch([`UPDATE TABLE SET n = 1 ${where('a')}`, `DELETE FROM TABLE ${where('a')}`]),
        { message },
      )
      await expectRefusal(
        batch([`SELECT pk FROM TABLE ${where('a')}`, `SELECT sk FROM TABLE ${where('a')}`]),
        { message },
      )
    })

    refuses(target, BatchExecuteStatementCommand, {}, [
      [
        'no statements',
        { Statements: [] },
        "1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: Member must have length greater than or equal to 1",
        'parameter-texts',
      ],
      [
        'more than 25 statements',
        {
          Statements: Array.from({ length: 26 }, (_, n) => ({
            Statement: `DELETE FROM "${table}" WHERE pk = 'a' AND sk = ${n}`,
          })),
        },
        /^1 validation error detected: Value '\[.*' at 'statements' failed to satisfy constraint: Member must have length less than or equal to 25$/s,
        'parameter-texts',
      ],
    ])

    test('counts what each statement consumes', async () => {
      const { ConsumedCapacity } = await batch(
        [
          `SELECT * FROM TABLE ${where('nobody')}`,
          { Statement: `SELECT * FROM TABLE ${where('nobody2')}`, ConsistentRead: true },
        ],
        'TOTAL',
      )
      const units = [
        { TableName: table, CapacityUnits: 0.5 },
        { TableName: table, CapacityUnits: 1 },
      ]
      expect(ConsumedCapacity).toEqual(expected(target, 'statement-capacity', units, undefined))
    })
  })
}
