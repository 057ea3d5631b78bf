/**
 * Condition expressions: what is true of an item, as a condition and as a filter alike.
 *
 * Each row is evaluated in both places, since they share the language but not the code path.
 */
import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { failure, type Item, useTable } from './harness.ts'
import type { Target } from './target.ts'

const bytes = (...octets: number[]) => new Uint8Array(octets)

const item: Item = {
  pk: { S: 'it' },
  s: { S: 'hello' },
  greeting: { S: 'hello' },
  blank: { S: '' },
  n: { N: '5' },
  five: { N: '5.0' },
  huge: { N: '12345678901234567890123456789012345678' },
  b: { B: bytes(1, 2, 3) },
  yes: { BOOL: true },
  nay: { BOOL: false },
  nil: { NULL: true },
  l: { L: [{ N: '1' }, { S: 'two' }, { L: [{ N: '3' }] }] },
  hollow: { L: [] },
  m: { M: { x: { N: '1' }, 'y.z': { S: 'dotted' }, deep: { M: { bits: { L: [{ S: 'd' }] } } } } },
  ss: { SS: ['red', 'green'] },
  ns: { NS: ['1', '2.5'] },
  bs: { BS: [bytes(1), bytes(2)] },
  wide: { S: 'größe 🔑' },
}

type Truth = [expression: string, values: Item | undefined, holds: boolean]

const v = (value: Item[string]): Item => ({ ':v': value })
const lm = (l: Item[string], m: Item[string]): Item => ({ ':l': l, ':m': m })

const comparisons: Truth[] = [
  ['s = :v', v({ S: 'hello' }), true],
  ['s = :v', v({ S: 'Hello' }), false],
  [':v = s', v({ S: 'hello' }), true],
  ['s = greeting', undefined, true],
  ['s <> greeting', undefined, false],
  ['n = five', undefined, true],
  ['n = :v', v({ N: '5.00' }), true],
  ['n = :v', v({ N: '50e-1' }), true],
  ['n = :v', v({ S: '5' }), false],
  ['n <> :v', v({ S: '5' }), true],
  ['huge = :v', v({ N: '12345678901234567890123456789012345678' }), true],
  ['huge = :v', v({ N: '12345678901234567890123456789012345679' }), false],
  ['huge < :v', v({ N: '12345678901234567890123456789012345679' }), true],
  ['n < :v', v({ N: '10' }), true],
  ['n < :v', v({ N: '-10' }), false],
  ['n <= :v', v({ N: '5' }), true],
  ['n > :v', v({ N: '4.999' }), true],
  ['n >= :v', v({ N: '5.001' }), false],
  ['n > :v', v({ S: '4' }), false],
  ['n < :v', v({ S: '6' }), false],
  ['s < :v', v({ S: 'help' }), true],
  ['s > :v', v({ S: 'HELLO' }), true],
  ['s >= :v', v({ S: '' }), true],
  ['blank = :v', v({ S: '' }), true],
  ['blank < :v', v({ S: 'a' }), true],
  ['b = :v', v({ B: bytes(1, 2, 3) }), true],
  ['b < :v', v({ B: bytes(1, 2, 4) }), true],
  ['b < :v', v({ B: bytes(1, 2, 255) }), true],
  ['b > :v', v({ B: bytes(1, 2) }), true],
  ['yes = :v', v({ BOOL: true }), true],
  ['yes <> nay', undefined, true],
  ['nil = :v', v({ NULL: true }), true],
  ['l = :v', v({ L: [{ N: '1.0' }, { S: 'two' }, { L: [{ N: '3' }] }] }), true],
  ['l = :v', v({ L: [{ S: 'two' }, { N: '1' }, { L: [{ N: '3' }] }] }), false],
  ['hollow = :v', v({ L: [] }), true],
  ['m.deep = :v', v({ M: { bits: { L: [{ S: 'd' }] } } }), true],
  ['m.deep = :v', v({ M: { bits: { L: [{ S: 'd' }] }, more: { N: '1' } } }), false],
  ['ss = :v', v({ SS: ['green', 'red'] }), true],
  ['ss = :v', v({ SS: ['green'] }), false],
  ['ns = :v', v({ NS: ['2.50', '1'] }), true],
  ['bs = :v', v({ BS: [bytes(2), bytes(1)] }), true],
  ['l[0] = :v', v({ N: '1' }), true],
  ['l[2][0] = :v', v({ N: '3' }), true],
  ['l[9] = :v', v({ N: '1' }), false],
  ['m.deep.bits[0] = :v', v({ S: 'd' }), true],
  ['s.x = :v', v({ S: 'hello' }), false],
  ['s[0] = :v', v({ S: 'h' }), false],
  ['lost = :v', v({ S: 'x' }), false],
  ['lost <> :v', v({ S: 'x' }), true],
  ['lost < :v', v({ S: 'x' }), false],
  ['lost >= :v', v({ S: 'x' }), false],
  ['s = lost', undefined, false],
  ['s <> lost', undefined, true],
  ['s < lost', undefined, false],
  ['lost = absent', undefined, false],
  ['lost <> absent', undefined, true],
  ['n < s', undefined, false],
]

const ranges: Truth[] = [
  ['n BETWEEN :l AND :m', lm({ N: '5' }, { N: '6' }), true],
  ['n BETWEEN :l AND :m', lm({ N: '1' }, { N: '5' }), true],
  ['n BETWEEN :l AND :m', lm({ N: '6' }, { N: '7' }), false],
  ['n between :l and :m', lm({ N: '1' }, { N: '9' }), true],
  ['s BETWEEN :l AND :m', lm({ S: 'a' }, { S: 'z' }), true],
  ['n BETWEEN :l AND :m', lm({ S: 'a' }, { S: 'z' }), false],
  [':v BETWEEN n AND huge', v({ N: '7' }), true],
  ['n BETWEEN lost AND huge', undefined, false],
  ['lost BETWEEN :l AND :m', lm({ N: '1' }, { N: '9' }), false],
  ['NOT n BETWEEN :l AND :m', lm({ N: '6' }, { N: '7' }), true],
  ['n IN (:l, :m)', lm({ N: '4' }, { N: '5' }), true],
  ['n IN (:l, :m)', lm({ N: '4' }, { S: '5' }), false],
  ['n in (:v)', v({ N: '5' }), true],
  [':v IN (s, greeting)', v({ S: 'hello' }), true],
  ['lost IN (:v)', v({ N: '5' }), false],
  ['s IN (:v, lost)', v({ S: 'no' }), false],
  ['ss IN (:v)', v({ SS: ['green', 'red'] }), true],
  ['NOT n IN (:v)', v({ N: '4' }), true],
]

const functions: Truth[] = [
  ['attribute_exists(s)', undefined, true],
  ['attribute_exists(nil)', undefined, true],
  ['attribute_exists(m.x)', undefined, true],
  ['attribute_exists(m.nothing)', undefined, false],
  ['attribute_exists(l[2][0])', undefined, true],
  ['attribute_exists(l[3])', undefined, false],
  ['attribute_exists(lost)', undefined, false],
  ['attribute_not_exists(lost)', undefined, true],
  ['attribute_not_exists(lost.deeper[1])', undefined, true],
  ['attribute_not_exists(blank)', undefined, false],
  ['attribute_type(s, :v)', v({ S: 'S' }), true],
  ['attribute_type(n, :v)', v({ S: 'N' }), true],
  ['attribute_type(b, :v)', v({ S: 'B' }), true],
  ['attribute_type(yes, :v)', v({ S: 'BOOL' }), true],
  ['attribute_type(nil, :v)', v({ S: 'NULL' }), true],
  ['attribute_type(l, :v)', v({ S: 'L' }), true],
  ['attribute_type(m, :v)', v({ S: 'M' }), true],
  ['attribute_type(ss, :v)', v({ S: 'SS' }), true],
  ['attribute_type(ns, :v)', v({ S: 'NS' }), true],
  ['attribute_type(bs, :v)', v({ S: 'BS' }), true],
  ['attribute_type(n, :v)', v({ S: 'S' }), false],
  ['attribute_type(lost, :v)', v({ S: 'S' }), false],
  ['begins_with(s, :v)', v({ S: 'hel' }), true],
  ['begins_with(s, :v)', v({ S: '' }), true],
  ['begins_with(s, :v)', v({ S: 'ello' }), false],
  ['begins_with(s, greeting)', undefined, true],
  ['begins_with(b, :v)', v({ B: bytes(1, 2) }), true],
  ['begins_with(b, :v)', v({ B: bytes(2) }), false],
  ['begins_with(n, :v)', v({ S: '5' }), false],
  ['begins_with(lost, :v)', v({ S: 'x' }), false],
  ['begins_with(s, n)', undefined, false],
  ['contains(s, :v)', v({ S: 'ell' }), true],
  ['contains(s, :v)', v({ S: 'x' }), false],
  ['contains(s, :v)', v({ N: '5' }), false],
  ['contains(b, :v)', v({ B: bytes(2, 3) }), true],
  ['contains(ss, :v)', v({ S: 'red' }), true],
  ['contains(ss, :v)', v({ S: 're' }), false],
  ['contains(ns, :v)', v({ N: '2.50' }), true],
  ['contains(bs, :v)', v({ B: bytes(2) }), true],
  ['contains(l, :v)', v({ S: 'two' }), true],
  ['contains(l, :v)', v({ N: '1' }), true],
  ['contains(l, :v)', v({ L: [{ N: '3' }] }), true],
  ['contains(l, :v)', v({ S: 'tw' }), false],
  ['contains(m, :v)', v({ S: 'x' }), false],
  ['contains(lost, :v)', v({ S: 'x' }), false],
  ['contains(s, lost)', undefined, false],
  ['contains(:v, s)', v({ S: 'oh hello there' }), true],
  ['size(s) = :v', v({ N: '5' }), true],
  ['size(blank) = :v', v({ N: '0' }), true],
  ['size(wide) = :v', v({ N: '8' }), true],
  ['size(b) = :v', v({ N: '3' }), true],
  ['size(l) = :v', v({ N: '3' }), true],
  ['size(m) = :v', v({ N: '3' }), true],
  ['size(ss) = :v', v({ N: '2' }), true],
  ['size(ns) >= :v', v({ N: '2' }), true],
  ['size(lost) = :v', v({ N: '0' }), false],
  ['size(n) = :v', v({ N: '1' }), false],
  ['size(yes) >= :v', v({ N: '0' }), false],
  [':v < size(s)', v({ N: '4' }), true],
  ['size(s) BETWEEN :l AND :m', lm({ N: '1' }, { N: '5' }), true],
  ['size(s) = n', undefined, true],
  ['size(s) IN (:v)', v({ N: '5' }), true],
]

const logic: Truth[] = [
  ['yes = :v OR nay = :v AND n = s', v({ BOOL: true }), true],
  ['(yes = :v OR nay = :v) AND n = s', v({ BOOL: true }), false],
  ['NOT yes = :v OR yes = :v', v({ BOOL: true }), true],
  ['NOT (yes = :v OR nay = :v)', v({ BOOL: true }), false],
  ['NOT NOT yes = :v', v({ BOOL: true }), true],
  ['not attribute_exists(lost) and attribute_exists(s)', undefined, true],
  ['attribute_exists(s)AND(attribute_exists(n))', undefined, true],
  ['  attribute_exists ( s )\n\tOR attribute_exists(lost)  ', undefined, true],
]

export function conditionExpressions(target: Target): void {
  describe('condition expressions', () => {
    const table = useTable(target, { key: { pk: 'S' } }, [item])

    const asFilter = async (expression: string, values: Item = {}) => {
      const output = await target.client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'pk = :pk',
          FilterExpression: expression,
          ExpressionAttributeValues: { ':pk': { S: 'it' }, ...values },
        }),
      )
      expect(output.ScannedCount).toBe(1)
      return output.Count === 1
    }

    const asCondition = async (expression: string, values?: Item) => {
      const request = new UpdateItemCommand({
        TableName: table,
        Key: { pk: { S: 'it' } },
        ConditionExpression: expression,
        ...(values && { ExpressionAttributeValues: values }),
      })
      try {
        await target.client.send(request)
        return true
      } catch (error) {
        if ((error as Error).name === 'ConditionalCheckFailedException') return false
        throw error
      }
    }

    const holds = (title: string, rows: Truth[]) =>
      describe(title, () => {
        for (const [expression, values, truth] of rows) {
          const given = values ? ` with ${JSON.stringify(values)}` : ''
          test(`${expression}${given} is ${truth}`, async () => {
            const [condition, filter] = [
              await asCondition(expression, values),
              await asFilter(expression, values),
            ]
            expect({ condition, filter }).toEqual({ condition: truth, filter: truth })
          })
        }
      })

    holds('comparisons', comparisons)
    holds('ranges', ranges)
    holds('functions', functions)
    holds('logic', logic)

    test('a name with a dot is reached only through a placeholder', async () => {
      const output = await target.client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'pk = :pk',
          FilterExpression: 'm.#dotted = :v AND attribute_not_exists(m.y.z)',
          ExpressionAttributeNames: { '#dotted': 'y.z' },
          ExpressionAttributeValues: { ':pk': { S: 'it' }, ':v': { S: 'dotted' } },
        }),
      )
      expect(output.Count).toBe(1)
    })

    test('a condition on an item that is not there sees no attributes at all', async () => {
      const update = (ConditionExpression: string, values?: Item) =>
        target.client.send(
          new UpdateItemCommand({
            TableName: table,
            Key: { pk: { S: 'nobody' } },
            ConditionExpression,
            ...(values && { ExpressionAttributeValues: values }),
          }),
        )
      for (const [expression, values] of [
        ['attribute_exists(pk)'],
        ['pk = :v', v({ S: 'nobody' })],
        ['size(s) > :v', v({ N: '0' })],
      ] as [string, Item?][]) {
        const error = await failure(update(expression, values))
        expect(error.name, expression).toBe('ConditionalCheckFailedException')
      }
      await update('attribute_not_exists(pk) AND NOT s = :v', v({ S: 'x' }))
    })
  })
}
