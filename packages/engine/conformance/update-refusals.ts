/** Update expressions that are refused: for their form, or because the item does not fit. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Item, read, refuses, useTable } from './harness.ts'
import type { Target } from './target.ts'

const v = (value: Item[string]): Item => ({ ':v': value })
const strings = (...values: string[]) => ({ L: values.map((S) => ({ S })) })

export function updateRefusals(target: Target): void {
  describe('update expressions', () => {
    const table = useTable(target, { key: { pk: 'S' } })

    describe('that cannot be applied', () => {
      const item: Item = {
        pk: { S: 'it' },
        s: { S: 'x' },
        n: { N: '1' },
        m: { M: { x: { N: '1' } } },
        l: strings('x'),
        ss: { SS: ['x'] },
      }
      const fixed = useTable(target, { key: { pk: 'S' } }, [item])
      const noPath = 'The document path provided in the update expression is invalid for update'
      const wrongType = 'An operand in the update expression has an incorrect data type'
      const noAttribute =
        'The provided expression refers to an attribute that does not exist in the item'
      const rows: [expression: string, values: Item | undefined, complaint: string][] = [
        ['SET lost.x = :v', v({ N: '1' }), noPath],
        ['SET m.lost.x = :v', v({ N: '1' }), noPath],
        ['SET s.x = :v', v({ N: '1' }), noPath],
        ['SET m[0] = :v', v({ N: '1' }), noPath],
        ['SET l.x = :v', v({ N: '1' }), noPath],
        ['SET lost[0] = :v', v({ N: '1' }), noPath],
        ['SET l[5].x = :v', v({ N: '1' }), noPath],
        ['REMOVE lost.x', undefined, noPath],
        ['REMOVE s.x', undefined, noPath],
        ['REMOVE l[5].x', undefined, noPath],
        ['REMOVE l.x', undefined, noPath],
        ['ADD lost.x :v', v({ N: '1' }), noPath],
        ['DELETE lost.x :v', v({ SS: ['x'] }), noPath],
        ['SET a = lost', undefined, noAttribute],
        ['SET a = m.lost', undefined, noAttribute],
        ['SET a = l[9]', undefined, noAttribute],
        ['SET a = lost + :v', v({ N: '1' }), noAttribute],
        ['SET a = list_append(lost, :v)', v({ L: [] }), noAttribute],
        ['SET a = if_not_exists(lost, gone)', undefined, noAttribute],
        ['SET a = s + :v', v({ N: '1' }), wrongType],
        ['SET a = n - l', undefined, wrongType],
        ['SET a = list_append(n, :v)', v({ L: [] }), wrongType],
        ['ADD s :v', v({ N: '1' }), wrongType],
        ['ADD n :v', v({ SS: ['x'] }), wrongType],
        ['ADD ss :v', v({ NS: ['1'] }), wrongType],
        ['DELETE ss :v', v({ NS: ['1'] }), wrongType],
        ['DELETE n :v', v({ SS: ['x'] }), wrongType],
      ]
      refuses(
        target,
        UpdateItemCommand,
        { TableName: fixed, Key: { pk: { S: 'it' } } },
        rows.map(([expression, values, complaint]) => [
          `"${expression}"`,
          {
            UpdateExpression: expression,
            ...(values && { ExpressionAttributeValues: values }),
          },
          complaint,
        ]),
      )

      test('leave the item as it was', async () => {
        expect(await read(target, fixed, { pk: { S: 'it' } })).toEqual(item)
      })
    })

    describe('that are not well formed', () => {
      const overlap = (one: string, two: string) =>
        `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${one}, path two: ${two}`
      const conflict = (one: string, two: string) =>
        `Two document paths conflict with each other; must remove or rewrite one of these paths; path one: ${one}, path two: ${two}`
      const rows: [expression: string, values: Item | undefined, complaint: string][] = [
        ['', undefined, 'The expression can not be empty;'],
        ['a = :v', v({ N: '1' }), 'Syntax error; token: "a", near: "a ="'],
        ['SET', undefined, 'Syntax error; token: "<EOF>", near: "SET"'],
        ['SET a', undefined, 'Syntax error; token: "<EOF>", near: "a"'],
        ['SET a = :v,', v({ N: '1' }), 'Syntax error; token: "<EOF>", near: ","'],
        [
          'SET a = :v, REMOVE b',
          v({ N: '1' }),
          'Syntax error; token: "REMOVE", near: ", REMOVE b"',
        ],
        ['SET a = :v b = :v', v({ N: '1' }), 'Syntax error; token: "b", near: ":v b ="'],
        ['SET :v = a', v({ N: '1' }), 'Syntax error; token: ":v", near: "SET :v ="'],
        ['REMOVE :v', v({ N: '1' }), 'Syntax error; token: ":v", near: "REMOVE :v"'],
        ['REMOVE a = :v', v({ N: '1' }), 'Syntax error; token: "=", near: "a = :v"'],
        ['ADD a b', undefined, 'Syntax error; token: "b", near: "a b"'],
        ['DELETE a b', undefined, 'Syntax error; token: "b", near: "a b"'],
        ['ADD a = :v', v({ N: '1' }), 'Syntax error; token: "=", near: "a = :v"'],
        ['SET a = a * :v', v({ N: '1' }), 'Syntax error; token: "*", near: "a * :v"'],
        ['SET a = a + b + :v', v({ N: '1' }), 'Syntax error; token: "+", near: "b + :v"'],
        ['PUT a = :v', v({ N: '1' }), 'Syntax error; token: "PUT", near: "PUT a"'],
        [
          'SET a = :v SET b = :v',
          v({ N: '1' }),
          'The "SET" section can only be used once in an update expression;',
        ],
        [
          'REMOVE a ADD b :v REMOVE c',
          v({ N: '1' }),
          'The "REMOVE" section can only be used once in an update expression;',
        ],
        ['SET a = :v, a = :v', v({ N: '1' }), overlap('[a]', '[a]')],
        ['SET a = :v REMOVE a', v({ N: '1' }), overlap('[a]', '[a]')],
        ['SET a = :v, a.b = :v', v({ N: '1' }), overlap('[a]', '[a, b]')],
        ['SET a.b = :v REMOVE a', v({ N: '1' }), overlap('[a, b]', '[a]')],
        ['SET a[0] = :v, a[0].b = :v', v({ N: '1' }), overlap('[a, [0]]', '[a, [0], b]')],
        ['SET a[0] = :v, a.b = :v', v({ N: '1' }), conflict('[a, [0]]', '[a, b]')],
        [
          'SET #d = :v',
          v({ N: '1' }),
          'An expression attribute name used in the document path is not defined; attribute name: #d',
        ],
        [
          'SET a = :w',
          v({ N: '1' }),
          'An expression attribute value used in expression is not defined; attribute value: :w',
        ],
        [
          'SET a = size(b)',
          undefined,
          'The function is not allowed in an update expression; function: size',
        ],
        [
          'SET a = contains(b, :v)',
          v({ N: '1' }),
          'The function is not allowed in an update expression; function: contains',
        ],
        ['SET a = unknown(b)', undefined, 'Invalid function name; function: unknown'],
        [
          'SET a = if_not_exists(b)',
          undefined,
          'Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1',
        ],
        [
          'SET a = list_append(b)',
          undefined,
          'Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1',
        ],
        [
          'SET a = if_not_exists(:v, b)',
          v({ N: '1' }),
          'Operator or function requires a document path; operator or function: if_not_exists',
        ],
        [
          'SET a = list_append(b, :v)',
          v({ N: '1' }),
          'Incorrect operand type for operator or function; operator or function: list_append, operand type: N',
        ],
        [
          'SET a = b + :v',
          v({ S: 'x' }),
          'Incorrect operand type for operator or function; operator or function: +, operand type: S',
        ],
        [
          'SET a = :v - b',
          v({ L: [] }),
          'Incorrect operand type for operator or function; operator or function: -, operand type: L',
        ],
        [
          'ADD a :v',
          v({ S: 'x' }),
          'Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND',
        ],
        [
          'ADD a :v',
          v({ L: [] }),
          'Incorrect operand type for operator or function; operator: ADD, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND',
        ],
        [
          'DELETE a :v',
          v({ N: '1' }),
          'Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND',
        ],
        [
          'DELETE a :v',
          v({ M: {} }),
          'Incorrect operand type for operator or function; operator: DELETE, operand type: MAP, typeSet: ALLOWED_FOR_DELETE_OPERAND',
        ],
        [
          'SET status = :v',
          v({ N: '1' }),
          'Attribute name is a reserved keyword; reserved keyword: status',
        ],
        [
          'SET a.Name = :v',
          v({ N: '1' }),
          'Attribute name is a reserved keyword; reserved keyword: Name',
        ],
      ]
      refuses(
        target,
        UpdateItemCommand,
        { TableName: table, Key: { pk: { S: 'refused' } } },
        rows.map(([expression, values, complaint]) => [
          `"${expression}"${values ? ` with ${JSON.stringify(values)}` : ''}`,
          {
            UpdateExpression: expression,
            ...(values && { ExpressionAttributeValues: values }),
          },
          `Invalid UpdateExpression: ${complaint}`,
        ]),
      )
    })
  })
}
