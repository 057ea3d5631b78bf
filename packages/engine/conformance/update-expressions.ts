/** Update expressions: SET, REMOVE, ADD and DELETE, on whole attributes and deep inside documents. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Item, read, useTable, write } from './harness.ts'
import type { Target } from './target.ts'

const bytes = (...octets: number[]) => new Uint8Array(octets)
const v = (value: Item[string]): Item => ({ ':v': value })
const strings = (...values: string[]) => ({ L: values.map((S) => ({ S })) })

/** What an expression makes of an item, both without their key. */
type Change = [expression: string, values: Item | undefined, before: Item, after: Item]

const set: Change[] = [
  ['SET a = :v', v({ S: 'x' }), {}, { a: { S: 'x' } }],
  ['SET a = :v', v({ S: 'x' }), { a: { N: '1' }, b: { N: '2' } }, { a: { S: 'x' }, b: { N: '2' } }],
  ['set a = :v', v({ S: 'x' }), {}, { a: { S: 'x' } }],
  ['SET a=:v,b=:v', v({ N: '1' }), {}, { a: { N: '1' }, b: { N: '1' } }],
  [
    'SET a = b',
    undefined,
    { b: { L: [{ N: '1' }] } },
    { a: { L: [{ N: '1' }] }, b: { L: [{ N: '1' }] } },
  ],
  [
    'SET a = b, b = a',
    undefined,
    { a: { N: '1' }, b: { N: '2' } },
    { a: { N: '2' }, b: { N: '1' } },
  ],
  ['SET a = a + :v', v({ N: '2' }), { a: { N: '1' } }, { a: { N: '3' } }],
  ['SET a = :v + a', v({ N: '2' }), { a: { N: '1' } }, { a: { N: '3' } }],
  ['SET a = a - :v', v({ N: '2' }), { a: { N: '1' } }, { a: { N: '-1' } }],
  ['SET a = :v - a', v({ N: '2' }), { a: { N: '1' } }, { a: { N: '1' } }],
  [
    'SET c = a + b',
    undefined,
    { a: { N: '0.1' }, b: { N: '0.2' } },
    { a: { N: '0.1' }, b: { N: '0.2' }, c: { N: '0.3' } },
  ],
  ['SET a = :v + :v', v({ N: '1' }), {}, { a: { N: '2' } }],
  ['SET a = if_not_exists(a, :v)', v({ N: '7' }), {}, { a: { N: '7' } }],
  ['SET a = if_not_exists(a, :v)', v({ N: '7' }), { a: { N: '1' } }, { a: { N: '1' } }],
  [
    'SET a = if_not_exists(b, :v)',
    v({ N: '7' }),
    { b: { N: '1' } },
    { a: { N: '1' }, b: { N: '1' } },
  ],
  ['SET a = if_not_exists(a, :v) + :v', v({ N: '7' }), {}, { a: { N: '14' } }],
  ['SET a = if_not_exists(a, b)', undefined, { b: { N: '3' } }, { a: { N: '3' }, b: { N: '3' } }],
  ['SET a = if_not_exists(a, if_not_exists(b, :v))', v({ N: '7' }), {}, { a: { N: '7' } }],
  ['SET a = list_append(a, :v)', v(strings('y')), { a: strings('x') }, { a: strings('x', 'y') }],
  ['SET a = list_append(:v, a)', v(strings('y')), { a: strings('x') }, { a: strings('y', 'x') }],
  ['SET a = list_append(:v, :v)', v(strings('y')), {}, { a: strings('y', 'y') }],
  ['SET a = list_append(if_not_exists(a, :v), :v)', v(strings('y')), {}, { a: strings('y', 'y') }],
  [
    'SET m.x = :v',
    v({ N: '2' }),
    { m: { M: { x: { N: '1' }, y: { N: '9' } } } },
    { m: { M: { x: { N: '2' }, y: { N: '9' } } } },
  ],
  ['SET m.z = :v', v({ N: '2' }), { m: { M: {} } }, { m: { M: { z: { N: '2' } } } }],
  [
    'SET m.a.b = m.a.b + :v',
    v({ N: '2' }),
    { m: { M: { a: { M: { b: { N: '1' } } } } } },
    { m: { M: { a: { M: { b: { N: '3' } } } } } },
  ],
  ['SET l[1] = :v', v({ S: 'Y' }), { l: strings('x', 'y', 'z') }, { l: strings('x', 'Y', 'z') }],
  [
    'SET l[3] = :v',
    v({ S: 'new' }),
    { l: strings('x', 'y', 'z') },
    { l: strings('x', 'y', 'z', 'new') },
  ],
  ['SET l[99] = :v', v({ S: 'new' }), { l: strings('x') }, { l: strings('x', 'new') }],
  [
    'SET l[7] = :v, l[5] = :w',
    { ':v': { S: 'seven' }, ':w': { S: 'five' } },
    { l: strings('x') },
    { l: strings('x', 'five', 'seven') },
  ],
  ['SET l[0] = :v', v({ S: 'new' }), { l: { L: [] } }, { l: strings('new') }],
  ['SET l[0] = l[1], l[1] = l[0]', undefined, { l: strings('x', 'y') }, { l: strings('y', 'x') }],
  [
    'SET l[0].a = :v',
    v({ S: 'new' }),
    { l: { L: [{ M: {} }] } },
    { l: { L: [{ M: { a: { S: 'new' } } }] } },
  ],
  [
    'SET a = :v',
    v({ M: { deep: { L: [{ SS: ['x'] }] } } }),
    {},
    { a: { M: { deep: { L: [{ SS: ['x'] }] } } } },
  ],
  [
    'SET a = m.x',
    undefined,
    { m: { M: { x: { N: '1' } } } },
    { a: { N: '1' }, m: { M: { x: { N: '1' } } } },
  ],
]

const remove: Change[] = [
  ['REMOVE a', undefined, { a: { N: '1' }, b: { N: '2' } }, { b: { N: '2' } }],
  ['REMOVE a, b', undefined, { a: { N: '1' }, b: { N: '2' } }, {}],
  ['REMOVE lost', undefined, { a: { N: '1' } }, { a: { N: '1' } }],
  [
    'REMOVE m.x',
    undefined,
    { m: { M: { x: { N: '1' }, y: { N: '2' } } } },
    { m: { M: { y: { N: '2' } } } },
  ],
  ['REMOVE m.z', undefined, { m: { M: { x: { N: '1' } } } }, { m: { M: { x: { N: '1' } } } }],
  ['REMOVE l[0]', undefined, { l: strings('x', 'y', 'z') }, { l: strings('y', 'z') }],
  ['REMOVE l[0], l[2]', undefined, { l: strings('x', 'y', 'z') }, { l: strings('y') }],
  ['REMOVE l[2], l[0]', undefined, { l: strings('x', 'y', 'z') }, { l: strings('y') }],
  ['REMOVE l[5]', undefined, { l: strings('x') }, { l: strings('x') }],
  ['REMOVE l[0]', undefined, { l: strings('x') }, { l: { L: [] } }],
  [
    'REMOVE l[1].a',
    undefined,
    { l: { L: [{ S: 'x' }, { M: { a: { N: '1' } } }] } },
    { l: { L: [{ S: 'x' }, { M: {} }] } },
  ],
]

const add: Change[] = [
  ['ADD a :v', v({ N: '2' }), { a: { N: '1' } }, { a: { N: '3' } }],
  ['ADD a :v', v({ N: '2' }), {}, { a: { N: '2' } }],
  ['ADD a :v', v({ N: '-2' }), { a: { N: '1' } }, { a: { N: '-1' } }],
  ['ADD a :v, b :v', v({ N: '2' }), { a: { N: '1' } }, { a: { N: '3' }, b: { N: '2' } }],
  ['ADD a :v', v({ SS: ['y'] }), { a: { SS: ['x'] } }, { a: { SS: ['x', 'y'] } }],
  ['ADD a :v', v({ SS: ['x'] }), { a: { SS: ['x'] } }, { a: { SS: ['x'] } }],
  ['ADD a :v', v({ SS: ['y'] }), {}, { a: { SS: ['y'] } }],
  ['ADD a :v', v({ NS: ['1.0', '2'] }), { a: { NS: ['1'] } }, { a: { NS: ['1', '2'] } }],
  [
    'ADD a :v',
    v({ BS: [bytes(2)] }),
    { a: { BS: [bytes(1)] } },
    { a: { BS: [bytes(1), bytes(2)] } },
  ],
  ['ADD m.n :v', v({ N: '1' }), { m: { M: { n: { N: '1' } } } }, { m: { M: { n: { N: '2' } } } }],
  ['ADD m.n :v', v({ N: '1' }), { m: { M: {} } }, { m: { M: { n: { N: '1' } } } }],
  ['ADD l[0] :v', v({ N: '1' }), { l: { L: [{ N: '1' }] } }, { l: { L: [{ N: '2' }] } }],
]

const erase: Change[] = [
  ['DELETE a :v', v({ SS: ['x'] }), { a: { SS: ['x', 'y'] } }, { a: { SS: ['y'] } }],
  ['DELETE a :v', v({ SS: ['z'] }), { a: { SS: ['x', 'y'] } }, { a: { SS: ['x', 'y'] } }],
  ['DELETE a :v', v({ SS: ['x', 'y'] }), { a: { SS: ['x', 'y'] } }, {}],
  ['DELETE a :v', v({ NS: ['1.00'] }), { a: { NS: ['1', '2'] } }, { a: { NS: ['2'] } }],
  [
    'DELETE a :v',
    v({ BS: [bytes(1)] }),
    { a: { BS: [bytes(1), bytes(2)] } },
    { a: { BS: [bytes(2)] } },
  ],
  ['DELETE lost :v', v({ SS: ['x'] }), { a: { N: '1' } }, { a: { N: '1' } }],
  [
    'DELETE m.s :v',
    v({ SS: ['x'] }),
    { m: { M: { s: { SS: ['x', 'y'] } } } },
    { m: { M: { s: { SS: ['y'] } } } },
  ],
]

const together: Change[] = [
  [
    'SET a = :v ADD n :v REMOVE b DELETE s :s',
    { ':v': { N: '1' }, ':s': { SS: ['x'] } },
    { b: { N: '1' }, n: { N: '1' }, s: { SS: ['x', 'y'] } },
    { a: { N: '1' }, n: { N: '2' }, s: { SS: ['y'] } },
  ],
  ['REMOVE b SET a = b', undefined, { b: { N: '1' } }, { a: { N: '1' } }],
  [
    'REMOVE l[0] SET a = l[0]',
    undefined,
    { l: strings('x', 'y') },
    { l: strings('y'), a: { S: 'x' } },
  ],
  ['SET l[1] = :v REMOVE l[0]', v({ S: 'Y' }), { l: strings('x', 'y') }, { l: strings('Y') }],
]

export function updateExpressions(target: Target): void {
  describe('update expressions', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    let next = 0

    const changes = (title: string, rows: Change[]) =>
      describe(title, () => {
        for (const [expression, values, before, after] of rows) {
          test(`"${expression}" makes ${JSON.stringify(after)} of ${JSON.stringify(before)}`, async () => {
            next += 1
            const key = { pk: { S: `${next}` } }
            await write(target, table, [{ ...key, ...before }])
            await target.client.send(
              new UpdateItemCommand({
                TableName: table,
                Key: key,
                UpdateExpression: expression,
                ...(values && { ExpressionAttributeValues: values }),
              }),
            )
            expect(sorted(await read(target, table, key))).toEqual(sorted({ ...key, ...after }))
          })
        }
      })
    changes('SET', set)
    changes('REMOVE', remove)
    changes('ADD', add)
    changes('DELETE', erase)
    changes('several sections', together)
  })
}

/** Sets come back in no particular order. */
function sorted(item: Item | undefined): string {
  return JSON.stringify(item, (_, value: unknown) => {
    if (Array.isArray(value)) return value
    if (value instanceof Uint8Array) return [...value]
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, inner]) =>
      ['SS', 'NS', 'BS'].includes(key) ? [key, [...(inner as string[])].toSorted()] : [key, inner],
    )
    return Object.fromEntries(entries.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
  })
}
