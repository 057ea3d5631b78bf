/** SELECT: what it finds, in what order, in pages, and of what it returns. */
import {
  type AttributeValue,
  ExecuteStatementCommand,
  type ExecuteStatementCommandInput,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  freshName,
  expectRefusal,
  type Item,
  missingTable,
  testUnless,
  useTable,
} from './harness.ts'
import { statementRefusals } from './partiql-refusals.ts'
import { expected, type Target } from './target.ts'

export function partiQl(target: Target): void {
  describe('SELECT', () => {
    const numbers = [0, 1, 2, 3]
    const table = useTable(
      target,
      {
        key: { pk: 'S', sk: 'N' },
        global: { 'by-owner': { key: { g: 'S' }, project: 'KEYS_ONLY' } },
        local: { 'by-time': { key: { pk: 'S', l: 'S' }, project: 'KEYS_ONLY' } },
      },
      [
        ...['x', 'y', 'w'].flatMap((pk) =>
          numbers.map((n) => ({
            pk: { S: pk },
            sk: { N: `${n}` },
            l: { S: `l${9 - n}` },
            v: { N: `${n * n}` },
          })),
        ),
        {
          pk: { S: 'rich' },
          sk: { N: '1' },
          g: { S: 'owner' },
          n: { N: '5' },
          s: { S: "it's" },
          none: { NULL: true },
          yes: { BOOL: true },
          tags: { SS: ['a', 'b'] },
          m: {
            M: {
              x: { N: '1' },
              y: { L: [{ N: '1' }, { M: { z: { S: 'q' } } }] },
              'a b': { N: '2' },
            },
          },
          size: { N: '7' },
        },
      ],
    )

    const execute = (
      Statement: string,
      Parameters?: AttributeValue[],
      rest: Partial<ExecuteStatementCommandInput> = {},
    ) =>
      target.client.send(
        new ExecuteStatementCommand({
          Statement: Statement.replaceAll('TABLE', `"${table}"`),
          ...(Parameters && { Parameters }),
          ...rest,
        }),
      )
    const items = async (statement: string, parameters?: AttributeValue[]) =>
      (await execute(statement, parameters)).Items
    /** Items as `x2`: their partition and sort keys. */
    const keys = async (where: string, parameters?: AttributeValue[]) =>
      (await items(`SELECT pk, sk FROM TABLE ${where}`, parameters))?.map(keyOf)

    describe('by key', () => {
      const rows: [where: string, found: string[]][] = [
        [`WHERE pk = 'y'`, ['y0', 'y1', 'y2', 'y3']],
        [`WHERE pk = 'y' AND sk = 2`, ['y2']],
        [`WHERE 'y' = pk AND 2 = sk`, ['y2']],
        [`where "pk" = 'y' and ("sk" = 2)`, ['y2']],
        [`WHERE pk = 'y' AND sk > 1`, ['y2', 'y3']],
        [`WHERE pk = 'y' AND sk > 0 AND sk < 3`, ['y1', 'y2']],
        [`WHERE pk = 'y' AND sk BETWEEN 1 AND 2`, ['y1', 'y2']],
        [`WHERE pk = 'y' AND sk IN [3, 1]`, ['y1', 'y3']],
        [`WHERE pk = 'y' AND sk <> 2`, ['y0', 'y1', 'y3']],
        [`WHERE pk = 'y' AND NOT sk = 2`, ['y0', 'y1', 'y3']],
        [`WHERE pk = 'y' AND (sk = 2 OR v = 0)`, ['y0', 'y2']],
        [`WHERE pk = 'y' AND v = 4`, ['y2']],
        [`WHERE pk = 'y' AND sk = 2 AND v = 5`, []],
        [`WHERE pk = 'y' AND pk = 'x'`, []],
        [`WHERE pk = 'nobody'`, []],
        [`WHERE pk IN ['y', 'x', 'nobody', 'y'] AND sk > 2`, ['x3', 'y3']],
        [`WHERE (pk = 'y' OR pk = 'x') AND sk = 3`, ['x3', 'y3']],
        [`WHERE pk = 'y' ORDER BY sk DESC`, ['y3', 'y2', 'y1', 'y0']],
        [`WHERE pk = 'y' AND sk > 0 ORDER BY sk ASC`, ['y1', 'y2', 'y3']],
        [`WHERE pk IN ['x', 'y'] AND sk > 1 ORDER BY sk DESC`, ['x3', 'x2', 'y3', 'y2']],
        [`WHERE pk IN ['x', 'y'] AND sk > 1 ORDER BY pk DESC`, ['y2', 'y3', 'x2', 'x3']],
      ]
      for (const [where, found] of rows) {
        test(`finds ${found.length} items ${where}`, async () => {
          expect(await keys(where)).toEqual(found)
        })
      }

      test('takes parameters', async () => {
        expect(
          await keys('WHERE pk = ? AND sk IN [?, ?]', [{ S: 'y' }, { N: '1' }, { N: '3' }]),
        ).toEqual(['y1', 'y3'])
      })

      test('takes comments and a semicolon', async () => {
        expect(await keys(`/* of y */ WHERE pk = 'y' -- all\n AND sk = 1;`)).toEqual(['y1'])
      })
    })

    describe('by anything else', () => {
      const rows: [where: string, found: string[]][] = [
        [`WHERE n = 5`, ['rich1']],
        [`WHERE n > 4 AND n >= 5 AND n < 6 AND n <= 5 AND n != 6`, ['rich1']],
        [`WHERE n = 4 OR n = 5`, ['rich1']],
        [`WHERE n > m.x`, ['rich1']],
        [`WHERE n IN [4, 5]`, ['rich1']],
        [`WHERE n IN (4, 5)`, ['rich1']],
        [`WHERE n BETWEEN 4 AND 6`, ['rich1']],
        [`WHERE n IS NOT MISSING`, ['rich1']],
        [`WHERE n NOT BETWEEN 6 AND 7 AND n IS NOT MISSING`, ['rich1']],
        [`WHERE n NOT IN [6] AND n IS NOT MISSING`, ['rich1']],
        [`WHERE n IS MISSING AND sk = 3 AND pk = 'y'`, ['y3']],
        [`WHERE none IS NULL`, ['rich1']],
        [`WHERE n IS NULL`, []],
        [`WHERE pk = 'y' AND sk = 0 AND none IS NOT NULL`, ['y0']],
        [`WHERE none IS NOT NULL AND n = 5`, []],
        [`WHERE yes = true`, ['rich1']],
        [`WHERE s = 'it''s'`, ['rich1']],
        [`WHERE begins_with(s, 'it')`, ['rich1']],
        [`WHERE BEGINS_WITH("s", 'at')`, []],
        [`WHERE contains(s, 't''')`, ['rich1']],
        [`WHERE contains(tags, 'a')`, ['rich1']],
        [`WHERE attribute_type(s, 'S')`, ['rich1']],
        [`WHERE size(s) = 4`, ['rich1']],
        [`WHERE size(m.y) = 2`, ['rich1']],
        [`WHERE tags = <<'b', 'a'>>`, ['rich1']],
        [`WHERE m.y[1].z = 'q'`, ['rich1']],
        [`WHERE m['a b'] = 2 AND m."a b" = 2`, ['rich1']],
        [`WHERE m.y = [1, {'z': 'q'}]`, ['rich1']],
        [`WHERE n = -5`, []],
        [`WHERE n = 0.5e1`, ['rich1']],
        [`WHERE "size" = 7`, ['rich1']],
        [`WHERE N = 5`, []],
      ]
      for (const [where, found] of rows) {
        test(`finds ${found.length} items ${where}`, async () => {
          expect(await keys(where)).toEqual(found)
        })
      }

      test('finds everything without a condition', async () => {
        expect(await items('SELECT * FROM TABLE')).toHaveLength(13)
      })
    })

    describe('returns', () => {
      const one = async (selection: string) =>
        (await items(`SELECT ${selection} FROM TABLE WHERE pk = 'rich' AND sk = 1`))?.[0]

      test('the attributes it names, and nothing for those that are missing', async () => {
        expect(await one('n, yes, lost')).toEqual({ n: { N: '5' }, yes: { BOOL: true } })
        expect(await one('lost')).toEqual({})
      })

      test('a part of a document by its last name', async () => {
        expect(await one('m.x')).toEqual({ x: { N: '1' } })
        expect(await one('m.x, m."a b"')).toEqual({ x: { N: '1' }, 'a b': { N: '2' } })
      })

      test('an element of a list by its name and index', async () => {
        expect(await one('m.y[0]')).toEqual({ 'y[0]': { N: '1' } })
        expect(await one('m.y[1].z')).toEqual({ 'y[1]': { M: { z: { S: 'q' } } } })
      })
    })

    describe('through an index', () => {
      test('finds what the index holds', async () => {
        const found = await items(`SELECT * FROM TABLE."by-owner" WHERE g = 'owner'`)
        expect(found).toEqual([{ pk: { S: 'rich' }, sk: { N: '1' }, g: { S: 'owner' } }])
      })

      test('has the order of the index', async () => {
        const found = await items(
          `SELECT sk FROM TABLE."by-time" WHERE pk = 'y' AND begins_with(l, 'l') ORDER BY l`,
        )
        expect(found?.map((item) => item['sk']?.N)).toEqual(['3', '2', '1', '0'])
      })

      test('fetches from the table what a local index lacks', async () => {
        const found = await items(`SELECT v FROM TABLE."by-time" WHERE pk = 'y' AND l = 'l7'`)
        expect(found).toEqual([{ v: { N: '4' } }])
      })
    })

    describe('in pages', () => {
      for (const where of [`WHERE pk = 'y'`, `WHERE pk IN ['x', 'y']`, `WHERE v IS NOT MISSING`]) {
        test(`returns everything once ${where}`, async () => {
          const statement = `SELECT pk, sk FROM TABLE ${where}`
          const whole = (await items(statement))?.map(keyOf)
          const found: string[] = []
          let NextToken: string | undefined
          do {
            const page = await execute(statement, undefined, {
              Limit: 3,
              ...(NextToken && { NextToken }),
            })
            expect(page.Items?.length).toBeLessThanOrEqual(3)
            found.push(...(page.Items ?? []).map(keyOf))
            NextToken = page.NextToken
          } while (NextToken)
          expect(found).toEqual(whole)
        })
      }

      test('refuses a token that it did not give', async () => {
        await expectRefusal(
          execute(`SELECT * FROM TABLE WHERE pk = 'y'`, undefined, { NextToken: 'abc' }),
          { message: 'Invalid NextToken' },
        )
      })

      testUnless(target, 'statement-last-key', 'tells the key a page ended with', async () => {
        const page = await execute(`SELECT sk FROM TABLE WHERE pk = 'y'`, undefined, { Limit: 2 })
        expect(page.LastEvaluatedKey).toEqual({ pk: { S: 'y' }, sk: { N: '1' } })
      })
    })

    test('counts what it reads', async () => {
      const { ConsumedCapacity } = await execute(`SELECT * FROM TABLE WHERE pk = 'y'`, undefined, {
        ReturnConsumedCapacity: 'TOTAL',
        ConsistentRead: true,
      })
      const units = { TableName: table, CapacityUnits: 1 }
      expect(ConsumedCapacity).toEqual(expected(target, 'statement-capacity', units, undefined))
    })

    test('refuses a table that does not exist', async () => {
      await expectRefusal(execute(`SELECT * FROM "${freshName()}"`), missingTable(target))
    })

    statementRefusals(target, table)
  })
}

function keyOf(item: Item): string {
  return `${item['pk']?.S}${item['sk']?.N}`
}
