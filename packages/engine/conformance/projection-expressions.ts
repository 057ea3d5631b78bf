/** Projection expressions: nested parts, list elements, and paths that collide. */
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Item, refuses, text, useTable } from './harness.ts'
import type { Target } from './target.ts'

const item: Item = {
  pk: { S: 'it' },
  a: { N: '1' },
  m: { M: { x: { N: '1' }, y: { N: '2' }, deep: { M: { z: { S: 'z' }, w: { S: 'w' } } } } },
  l: {
    L: [
      { S: 'zero' },
      { S: 'one' },
      { M: { x: { N: '1' }, y: { N: '2' } } },
      { L: [{ N: '7' }, { N: '8' }] },
    ],
  },
  ss: { SS: ['x'] },
  'odd.name': { S: 'odd' },
}

export function projectionExpressions(target: Target): void {
  describe('projection expressions', () => {
    const table = useTable(target, { key: { pk: 'S' } }, [item])
    const Key = { pk: { S: 'it' } }
    const project = async (ProjectionExpression: string, names?: Record<string, string>) => {
      const output = await target.client.send(
        new GetItemCommand({
          TableName: table,
          Key,
          ProjectionExpression,
          ...(names && { ExpressionAttributeNames: names }),
        }),
      )
      return output.Item
    }

    const rows: [expression: string, part: Item, names?: Record<string, string>][] = [
      ['a', { a: { N: '1' } }],
      ['a, pk', { a: { N: '1' }, pk: { S: 'it' } }],
      ['a,pk', { a: { N: '1' }, pk: { S: 'it' } }],
      ['m.x', { m: { M: { x: { N: '1' } } } }],
      ['m.x, m.y', { m: { M: { x: { N: '1' }, y: { N: '2' } } } }],
      ['m.deep.z', { m: { M: { deep: { M: { z: { S: 'z' } } } } } }],
      ['m.deep.z, m.x', { m: { M: { deep: { M: { z: { S: 'z' } } }, x: { N: '1' } } } }],
      ['l[1]', { l: { L: [{ S: 'one' }] } }],
      ['l[1], l[0]', { l: { L: [{ S: 'zero' }, { S: 'one' }] } }],
      ['l[2].x', { l: { L: [{ M: { x: { N: '1' } } }] } }],
      ['l[2].x, l[2].y', { l: { L: [{ M: { x: { N: '1' }, y: { N: '2' } } }] } }],
      ['l[3][1]', { l: { L: [{ L: [{ N: '8' }] }] } }],
      ['l[0], l[3][0]', { l: { L: [{ S: 'zero' }, { L: [{ N: '7' }] }] } }],
      ['l[9]', {}],
      ['l[0], l[9]', { l: { L: [{ S: 'zero' }] } }],
      ['m.nothing', {}],
      ['m.nothing.deeper', {}],
      ['a.x', {}],
      ['a[0]', {}],
      ['m[0]', {}],
      ['l.x', {}],
      ['ss[0]', {}],
      ['nothing, a', { a: { N: '1' } }],
      ['#o', { 'odd.name': { S: 'odd' } }, { '#o': 'odd.name' }],
      ['#m.#d.z', { m: { M: { deep: { M: { z: { S: 'z' } } } } } }, { '#m': 'm', '#d': 'deep' }],
      ['#l[1]', { l: { L: [{ S: 'one' }] } }, { '#l': 'l' }],
    ]
    for (const [expression, part, names] of rows) {
      test(`"${expression}" gives ${JSON.stringify(part)}`, async () => {
        expect(await project(expression, names)).toEqual(part)
      })
    }

    const overlap = (one: string, two: string) =>
      `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${one}, path two: ${two}`
    const bad: [expression: string, complaint: string | RegExp, names?: Record<string, string>][] =
      [
        ['', 'The expression can not be empty;'],
        ['a,', 'Syntax error; token: "<EOF>", near: ","'],
        [',a', 'Syntax error; token: ",", near: ",a"'],
        ['a b', 'Syntax error; token: "b", near: "a b"'],
        ['a[x]', 'Syntax error; token: "x", near: "[x]"'],
        ['a.', 'Syntax error; token: "<EOF>", near: "."'],
        ['!!!', 'Syntax error; token: "!", near: "!!"'],
        ['a = b', 'Syntax error; token: "=", near: "a = b"'],
        [':v', 'Syntax error; token: ":v", near: ":v"'],
        ['size(a)', 'Syntax error; token: "(", near: "size(a"'],
        ['a, a', overlap('[a]', '[a]')],
        ['m, m.x', overlap('[m]', '[m, x]')],
        ['m.x, m', overlap('[m, x]', '[m]')],
        ['l[0], l', overlap('[l, [0]]', '[l]')],
        ['l[1], a, l[1]', overlap('[l, [1]]', '[l, [1]]')],
        ['#a, #b', overlap('[a]', '[a]'), { '#a': 'a', '#b': 'a' }],
        [
          'm.x, m[0]',
          'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [m, x], path two: [m, [0]]',
        ],
        [
          '#lost',
          'An expression attribute name used in the document path is not defined; attribute name: #lost',
        ],
        ['status', 'Attribute name is a reserved keyword; reserved keyword: status'],
        ['a, m.Count', 'Attribute name is a reserved keyword; reserved keyword: Count'],
        [
          text(4097),
          /Expression size has exceeded the maximum allowed size;( expression size: 4097)?$/,
        ],
        [
          Array.from({ length: 33 }, () => 'a').join('.'),
          'The document path has too many nesting levels; nesting levels: 33',
        ],
      ]
    refuses(
      target,
      GetItemCommand,
      { TableName: table, Key },
      bad.map(([expression, complaint, names]) => [
        `"${expression.slice(0, 60)}"`,
        {
          ProjectionExpression: expression,
          ...(names && { ExpressionAttributeNames: names }),
        },
        typeof complaint === 'string' ? `Invalid ProjectionExpression: ${complaint}` : complaint,
      ]),
    )
  })
}
