/** INSERT, UPDATE and DELETE, each of one item. */
import {
  type AttributeValue,
  ExecuteStatementCommand,
  type ExecuteStatementCommandInput,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { expectRefusal, failure, type Item, read, testUnless, useTable, write } from './harness.ts'
import { expected, type Target } from './target.ts'

export function partiQlWrites(target: Target): void {
  describe('a statement that writes', () => {
    const table = useTable(target, {
      key: { pk: 'S', sk: 'N' },
      global: { 'by-owner': { key: { g: 'S' } } },
    })
    const key = (pk: string): Item => ({ pk: { S: pk }, sk: { N: '1' } })
    const where = (pk: string) => `WHERE pk = '${pk}' AND sk = 1`
    const stored = (pk: string) => read(target, table, key(pk))
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
    const conditionFailed = {
      name: 'ConditionalCheckFailedException',
      message: 'The conditional request failed',
    }
    const duplicate = {
      name: expected(target, 'duplicate-item', 'DuplicateItemException', 'DuplicateItem'),
      message: 'Duplicate primary key exists in table',
    }

    describe('INSERT', () => {
      test('puts an item of all types that can be written out', async () => {
        const output = await execute(
          `INSERT INTO TABLE VALUE {'pk': 'types', 'sk': 1, 'text': 'it''s', 'empty': '', 'half': .5, 'big': 1e3, 'minus': -1.50, 'yes': true, 'no': FALSE, 'nothing': null, 'list': [1, 'a', []], 'map': {'a b': {'c': 1}, 'none': {}}, 'strings': <<'a', 'b'>>, 'numbers': <<1, 2.0>>}`,
        )
        expect(output.Items).toEqual([])
        expect(await stored('types')).toEqual({
          ...key('types'),
          text: { S: "it's" },
          empty: { S: '' },
          half: { N: '0.5' },
          big: { N: '1000' },
          minus: { N: '-1.5' },
          yes: { BOOL: true },
          no: { BOOL: false },
          nothing: { NULL: true },
          list: { L: [{ N: '1' }, { S: 'a' }, { L: [] }] },
          map: { M: { 'a b': { M: { c: { N: '1' } } }, none: { M: {} } } },
          strings: { SS: expect.toSatisfy((set: string[]) => set.toSorted().join() === 'a,b') },
          numbers: { NS: expect.toSatisfy((set: string[]) => set.toSorted().join() === '1,2') },
        })
      })

      test('takes parameters of every type', async () => {
        const bytes = new Uint8Array([0, 1, 2])
        await execute(`INSERT INTO TABLE VALUE {'pk': ?, 'sk': ?, 'b': ?, 'm': ?}`, [
          { S: 'parameters' },
          { N: '1' },
          { B: bytes },
          { M: { x: { L: [{ BOOL: true }] } } },
        ])
        expect(await stored('parameters')).toEqual({
          ...key('parameters'),
          b: { B: bytes },
          m: { M: { x: { L: [{ BOOL: true }] } } },
        })
      })

      test('leaves an item that is there alone', async () => {
        await write(target, table, [{ ...key('there'), n: { N: '1' } }])
        await expectRefusal(
          execute(`INSERT INTO TABLE VALUE {'pk': 'there', 'sk': 1, 'n': 2}`),
          duplicate,
        )
        expect(await stored('there')).toEqual({ ...key('there'), n: { N: '1' } })
      })
    })

    describe('UPDATE', () => {
      const given: Item = {
        n: { N: '5' },
        tags: { SS: ['a', 'b'] },
        m: { M: { x: { N: '1' }, y: { L: [{ N: '1' }, { N: '2' }] } } },
        was: { S: 'o' },
      }
      const updated = async (clause: string, parameters?: AttributeValue[]) => {
        await write(target, table, [{ ...key('u'), ...given }])
        const { Items } = await execute(
          `UPDATE TABLE ${clause} ${where('u')} RETURNING ALL NEW *`,
          parameters,
        )
        const { pk, sk, ...rest } = Items?.[0] ?? {}
        expect({ pk, sk }).toEqual(key('u'))
        return rest
      }

      const rows: [clause: string, change: Item, parameters?: AttributeValue[]][] = [
        ['SET n = 6', { n: { N: '6' } }],
        ['SET n = n + 1', { n: { N: '6' } }],
        ['SET n = n - 1, a = 1', { n: { N: '4' }, a: { N: '1' } }],
        ['SET n = 6 SET a = 1', { n: { N: '6' }, a: { N: '1' } }],
        ['SET n = ?', { n: { S: 'p' } }, [{ S: 'p' }]],
        ['SET a = if_not_exists(a, 7)', { a: { N: '7' } }],
        ['SET n = if_not_exists(n, 7)', {}],
        ['SET a = n', { a: { N: '5' } }],
        ['SET a = [], b = {}', { a: { L: [] }, b: { M: {} } }],
        [
          'SET m.y = list_append(m.y, [3])',
          { m: { M: { x: { N: '1' }, y: { L: [{ N: '1' }, { N: '2' }, { N: '3' }] } } } },
        ],
        [
          `SET m.y[0] = 9, m['z'] = 8`,
          { m: { M: { x: { N: '1' }, y: { L: [{ N: '9' }, { N: '2' }] }, z: { N: '8' } } } },
        ],
        ['REMOVE m.y[0]', { m: { M: { x: { N: '1' }, y: { L: [{ N: '2' }] } } } }],
        [`SET tags = set_add(tags, <<'a'>>)`, {}],
        [`SET tags = set_delete(tags, <<'a'>>)`, { tags: { SS: ['b'] } }],
      ]
      for (const [clause, change, parameters] of rows) {
        test(clause, async () => {
          expect(await updated(clause, parameters)).toEqual({ ...given, ...change })
        })
      }

      test('REMOVE takes attributes away', async () => {
        const { was, n, ...rest } = given
        expect([was, n]).not.toContain(undefined)
        expect(await updated('REMOVE was REMOVE n REMOVE lost')).toEqual(rest)
      })

      test('returns nothing without RETURNING', async () => {
        await write(target, table, [key('quiet')])
        expect((await execute(`UPDATE TABLE SET n = 1 ${where('quiet')}`)).Items).toEqual([])
        expect(await stored('quiet')).toEqual({ ...key('quiet'), n: { N: '1' } })
      })

      test('returns the old item, or what it changed', async () => {
        await write(target, table, [{ ...key('r'), n: { N: '1' }, a: { N: '1' } }])
        const returning = async (n: number, what: string) =>
          (await execute(`UPDATE TABLE SET n = ${n} ${where('r')} RETURNING ${what} *`)).Items
        expect(await returning(2, 'ALL OLD')).toEqual([
          { ...key('r'), n: { N: '1' }, a: { N: '1' } },
        ])
        expect(await returning(3, 'MODIFIED OLD')).toEqual([{ n: { N: '2' } }])
        expect(await returning(4, 'MODIFIED NEW')).toEqual([{ n: { N: '4' } }])
      })

      testUnless(target, 'updated-nested', 'MODIFIED shows a part of a document', async () => {
        await write(target, table, [{ ...key('part'), ...given }])
        const { Items } = await execute(
          `UPDATE TABLE SET m.x = 2 ${where('part')} RETURNING MODIFIED NEW *`,
        )
        expect(Items).toEqual([{ m: { M: { x: { N: '2' } } } }])
      })

      test('makes no item', async () => {
        await expectRefusal(execute(`UPDATE TABLE SET n = 1 ${where('nobody')}`), conditionFailed)
        expect(await stored('nobody')).toBeUndefined()
      })

      test('happens only if the whole condition is met', async () => {
        await write(target, table, [{ ...key('if'), n: { N: '1' } }])
        await expectRefusal(
          execute(`UPDATE TABLE SET n = 9 ${where('if')} AND n = 2`),
          conditionFailed,
        )
        await execute(`UPDATE TABLE SET n = 3 ${where('if')} AND n = 1 AND a IS MISSING`)
        expect((await stored('if'))?.['n']).toEqual({ N: '3' })
      })

      test('shows the item that did not meet the condition', async () => {
        await write(target, table, [{ ...key('shown'), n: { N: '1' } }])
        const error = await failure(
          execute(`UPDATE TABLE SET n = 9 ${where('shown')} AND n = 2`, undefined, {
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        )
        expect(error.Item).toEqual({ ...key('shown'), n: { N: '1' } })
      })

      test('refuses what does not fit the item', async () => {
        await write(target, table, [{ ...key('unfit'), ...given }])
        await expectRefusal(execute(`UPDATE TABLE SET n = was + 1 ${where('unfit')}`), {
          message: 'An operand in the update expression has an incorrect data type',
        })
        await expectRefusal(execute(`UPDATE TABLE SET n = lost ${where('unfit')}`), {
          message: 'The provided expression refers to an attribute that does not exist in the item',
        })
        await expectRefusal(execute(`UPDATE TABLE SET lost.x = 1 ${where('unfit')}`), {
          message: 'The document path provided in the update expression is invalid for update',
        })
      })
    })

    describe('DELETE', () => {
      test('deletes the item, and returns it with RETURNING', async () => {
        await write(target, table, [{ ...key('gone'), n: { N: '1' } }])
        const { Items } = await execute(`DELETE FROM TABLE ${where('gone')} RETURNING ALL OLD *`)
        expect(Items).toEqual([{ ...key('gone'), n: { N: '1' } }])
        expect(await stored('gone')).toBeUndefined()
      })

      test('succeeds where there is no item, whatever the condition', async () => {
        expect((await execute(`DELETE FROM TABLE ${where('nobody')}`)).Items).toEqual([])
        expect((await execute(`DELETE FROM TABLE ${where('nobody')} AND n = 1`)).Items).toEqual([])
      })

      test('happens only if the whole condition is met', async () => {
        await write(target, table, [{ ...key('kept'), n: { N: '1' } }])
        await expectRefusal(
          execute(`DELETE FROM TABLE ${where('kept')} AND n = 2`),
          conditionFailed,
        )
        expect(await stored('kept')).toBeDefined()
        await execute(`DELETE FROM TABLE ${where('kept')} AND n = 1`)
        expect(await stored('kept')).toBeUndefined()
      })
    })

    test('counts what it writes, index by index', async () => {
      const { ConsumedCapacity } = await execute(
        `INSERT INTO TABLE VALUE {'pk': 'counted', 'sk': 1, 'g': 'g'}`,
        undefined,
        { ReturnConsumedCapacity: 'INDEXES' },
      )
      const units = {
        TableName: table,
        CapacityUnits: 2,
        Table: { CapacityUnits: 1 },
        GlobalSecondaryIndexes: { 'by-owner': { CapacityUnits: 1 } },
      }
      expect(ConsumedCapacity).toEqual(expected(target, 'statement-capacity', units, undefined))
    })
  })
}
