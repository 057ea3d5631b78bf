/** What the expression language refuses, with AWS's texts: syntax, placeholders, operands, limits. */
import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe } from 'vitest'
import { type Item, refuses, text, useTable } from './harness.ts'
import type { Target } from './target.ts'

/** A complaint is a pattern where AWS lists types in the order of a hash table. */
type Row = [expression: string, values: Item | undefined, complaint: string | RegExp]

const one = { ':v': { S: 'x' } }
const number = { ':v': { N: '1' } }
const two = (l: Item[string], m: Item[string]): Item => ({ ':l': l, ':m': m })

const syntax: Row[] = [
  ['', undefined, 'The expression can not be empty;'],
  ['a', undefined, 'Syntax error; token: "<EOF>", near: "a"'],
  ['a = ', undefined, 'Syntax error; token: "<EOF>", near: "= "'],
  ['= :v', one, 'Syntax error; token: "=", near: "= :v"'],
  ['a == :v', one, 'Syntax error; token: "=", near: "== :v"'],
  ['a = :v AND', one, 'Syntax error; token: "<EOF>", near: "AND"'],
  ['a = :v b', one, 'Syntax error; token: "b", near: ":v b"'],
  ['(a = :v', one, 'Syntax error; token: "<EOF>", near: ":v"'],
  ['a = :v)', one, 'Syntax error; token: ")", near: ":v)"'],
  ['a = "x"', undefined, 'Syntax error; token: """, near: "= "x"'],
  ["a = 'x'", undefined, 'Syntax error; token: "\'", near: "= \'x"'],
  ['a = 5', undefined, 'Syntax error; token: "5", near: "= 5"'],
  ['a[x] = :v', one, 'Syntax error; token: "x", near: "[x]"'],
  ['a[-1] = :v', one, 'Syntax error; token: "-", near: "[-1"'],
  ['a. = :v', one, 'Syntax error; token: "=", near: ". = :v"'],
  ['a..b = :v', one, 'Syntax error; token: ".", near: "..b"'],
  ['a != :v', one, 'Syntax error; token: "!", near: "a !="'],
  ['a && b', undefined, 'Syntax error; token: "&", near: "a &&"'],
  ['a = :v;', one, 'Syntax error; token: ";", near: ":v;"'],
  ['a IN ()', undefined, 'Syntax error; token: ")", near: "()"'],
  ['a BETWEEN :v', one, 'Syntax error; token: "<EOF>", near: ":v"'],
  ['attribute_exists()', undefined, 'Syntax error; token: ")", near: "()"'],
  ['a = b + :v', one, 'Syntax error; token: "+", near: "b + :v"'],
  ['# = :v', one, 'Syntax error; token: "#", near: "# ="'],
]

const placeholders: Row[] = [
  [
    'a = :w',
    one,
    'An expression attribute value used in expression is not defined; attribute value: :w',
  ],
  [
    '#a = :v',
    one,
    'An expression attribute name used in the document path is not defined; attribute name: #a',
  ],
]

const operands: Row[] = [
  ['unknown(a)', undefined, 'Invalid function name; function: unknown'],
  [
    'if_not_exists(a, :v) = :v',
    one,
    'The function is not allowed in a condition expression; function: if_not_exists',
  ],
  [
    'list_append(a, :v) = :v',
    one,
    'The function is not allowed in a condition expression; function: list_append',
  ],
  [
    'size(a)',
    undefined,
    'The function is not allowed to be used this way in an expression; function: size',
  ],
  [
    'attribute_exists(a) = :v',
    one,
    'The function is not allowed to be used this way in an expression; function: attribute_exists',
  ],
  [
    'attribute_exists(a, b)',
    undefined,
    'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2',
  ],
  [
    'begins_with(a)',
    undefined,
    'Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1',
  ],
  [
    'contains(a, b, c)',
    undefined,
    'Incorrect number of operands for operator or function; operator or function: contains, number of operands: 3',
  ],
  [
    'attribute_exists(:v)',
    one,
    'Operator or function requires a document path; operator or function: attribute_exists',
  ],
  [
    'attribute_type(a, b)',
    undefined,
    /Incorrect operand type for operator or function; operator or function: attribute_type, operand type: \{[A-Z,]+\}$/,
  ],
  [
    'attribute_type(a, :v)',
    number,
    'Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N',
  ],
  [
    'attribute_type(a, :v)',
    one,
    /Invalid attribute type name found; type: x, valid types: \{([A-Z]+,){9}[A-Z]+\}$/,
  ],
  ['Attribute_exists(a)', undefined, 'Invalid function name; function: Attribute_exists'],
  [
    'begins_with(a, :v)',
    number,
    'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
  ],
  [
    'begins_with(:v, a)',
    number,
    'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
  ],
  [
    'a < :v',
    { ':v': { BOOL: true } },
    'Incorrect operand type for operator or function; operator or function: <, operand type: BOOL',
  ],
  [
    'a >= :v',
    { ':v': { SS: ['x'] } },
    'Incorrect operand type for operator or function; operator or function: >=, operand type: SS',
  ],
  [
    'a > :v',
    { ':v': { M: {} } },
    'Incorrect operand type for operator or function; operator or function: >, operand type: M',
  ],
  [
    'a <= :v',
    { ':v': { NULL: true } },
    'Incorrect operand type for operator or function; operator or function: <=, operand type: NULL',
  ],
  [
    'a BETWEEN :l AND :m',
    two({ L: [] }, { L: [] }),
    'Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: L',
  ],
  [
    'a BETWEEN :l AND :m',
    two({ N: '2' }, { N: '1' }),
    'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}',
  ],
  [
    'a BETWEEN :l AND :m',
    two({ S: 'b' }, { S: 'a' }),
    'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}',
  ],
  [
    'a BETWEEN :l AND :m',
    two({ N: '1' }, { S: 'a' }),
    'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}',
  ],
  [
    'a = a',
    undefined,
    'The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]',
  ],
  [
    'a.b[0] <> a.b[0]',
    undefined,
    'The first operand must be distinct from the remaining operands for this operator or function; operator: <>, first operand: [a, b, [0]]',
  ],
  [
    'contains(a, a)',
    undefined,
    'The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a]',
  ],
  [
    'a IN (:v, a)',
    one,
    'The first operand must be distinct from the remaining operands for this operator or function; operator: IN, first operand: [a]',
  ],
  ['((a = :v))', one, 'The expression has redundant parentheses;'],
  ['((a = :v)) AND b = :v', one, 'The expression has redundant parentheses;'],
]

const operators = (count: number) => Array.from({ length: count }, () => 'a = :v').join(' OR ')
const list = (count: number) => Array.from({ length: count }, (_, n) => `:v${n}`)

const limits: Row[] = [
  [
    `a = :v OR ${text(4086)} = :v`,
    one,
    'Expression size has exceeded the maximum allowed size; expression size: 4101',
  ],
  [operators(151), one, 'The expression contains too many operators; operator count: 301'],
  [
    `a IN (${list(101).join(', ')})`,
    Object.fromEntries(list(101).map((name) => [name, { N: '1' }])),
    'The IN operator is provided with too many operands; number of operands: 101',
  ],
  [
    `${Array.from({ length: 33 }, () => 'a').join('.')} = :v`,
    one,
    'The document path has too many nesting levels; nesting levels: 33',
  ],
]

function about(parameter: string, complaint: string | RegExp): string | RegExp {
  return typeof complaint === 'string' ? `Invalid ${parameter}: ${complaint}` : complaint
}

export function expressionErrors(target: Target): void {
  describe('expressions that are refused', () => {
    const table = useTable(target, { key: { pk: 'S' } })

    for (const [title, rows] of Object.entries({ syntax, placeholders, operands, limits })) {
      describe(title, () => {
        refuses(
          target,
          PutItemCommand,
          { TableName: table, Item: { pk: { S: 'a' } } },
          rows.map(([expression, values, complaint]) => [
            `"${expression.slice(0, 60)}" as a condition${values ? ` with ${JSON.stringify(values).slice(0, 60)}` : ''}`,
            {
              ConditionExpression: expression,
              ...(values && { ExpressionAttributeValues: values }),
            },
            about('ConditionExpression', complaint),
          ]),
        )
        refuses(
          target,
          QueryCommand,
          { TableName: table, KeyConditionExpression: 'pk = :pk' },
          rows.map(([expression, values, complaint]) => [
            `"${expression.slice(0, 60)}" as a filter${values ? ` with ${JSON.stringify(values).slice(0, 60)}` : ''}`,
            {
              FilterExpression: expression,
              ExpressionAttributeValues: { ':pk': { S: 'a' }, ...values },
            },
            about('FilterExpression', complaint),
          ]),
        )
      })
    }

    describe('paths into a key', () => {
      const scalars =
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk"
      const value = { ExpressionAttributeValues: { ':v': { S: 'x' } } }
      const Key = { pk: { S: 'a' } }
      refuses(target, PutItemCommand, { TableName: table, Item: Key }, [
        ['one in a condition', { ConditionExpression: 'attribute_exists(pk.x)' }, scalars],
        ['one in a comparison', { ConditionExpression: 'a = :v OR pk[0] = :v', ...value }, scalars],
      ])
      refuses(target, GetItemCommand, { TableName: table, Key }, [
        ['one in a projection', { ProjectionExpression: 'a, pk.x' }, scalars],
      ])
      refuses(target, UpdateItemCommand, { TableName: table, Key }, [
        ['one on the right of a SET', { UpdateExpression: 'SET a = pk[0]' }, scalars],
        [
          'one on the left of a SET',
          { UpdateExpression: 'SET pk.x = :v', ...value },
          'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
        ],
      ])
      refuses(target, ScanCommand, { TableName: table }, [
        ['one in a filter', { FilterExpression: 'pk.x = :v', ...value }, scalars],
      ])
      refuses(target, QueryCommand, { TableName: table, KeyConditionExpression: 'pk = :v' }, [
        [
          'one in the filter of a query as a condition on the key',
          { FilterExpression: 'pk.x = :v', ...value },
          'Filter Expression can only contain non-primary key attributes: Primary key attribute: pk',
          { id: 'nested-key-filter', answer: scalars },
        ],
      ])
    })

    describe('names and values', () => {
      const update = {
        TableName: table,
        Key: { pk: { S: 'a' } },
        UpdateExpression: 'SET #a = :v',
        ExpressionAttributeNames: { '#a': 'a' },
        ExpressionAttributeValues: { ':v': { S: 'x' } },
      }
      refuses(target, UpdateItemCommand, update, [
        [
          'a name that no expression uses',
          { ExpressionAttributeNames: { '#a': 'a', '#b': 'b' } },
          'Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}',
        ],
        [
          'a value that no expression uses',
          { ExpressionAttributeValues: { ':v': { S: 'x' }, ':w': { S: 'x' } } },
          'Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}',
        ],
        [
          'a name placeholder without #',
          { ExpressionAttributeNames: { a: 'a' } },
          'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ],
        [
          'a value placeholder without :',
          { ExpressionAttributeValues: { v: { S: 'x' } } },
          'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"',
        ],
        [
          'a name placeholder with a character that is not allowed',
          { ExpressionAttributeNames: { '#a-b': 'a' } },
          'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"',
        ],
        [
          'an empty map of names',
          { ExpressionAttributeNames: {} },
          'ExpressionAttributeNames must not be empty',
        ],
        [
          'an empty map of values',
          { ExpressionAttributeValues: {} },
          'ExpressionAttributeValues must not be empty',
        ],
        [
          'an empty name',
          { ExpressionAttributeNames: { '#a': '' } },
          'ExpressionAttributeNames contains invalid value: Empty attribute name for key #a',
        ],
        [
          'a value without a type',
          { ExpressionAttributeValues: { ':v': {} } },
          'ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key :v',
          'plain-values',
        ],
        [
          'a value that is not a number',
          { ExpressionAttributeValues: { ':v': { N: 'x' } } },
          'The parameter cannot be converted to a numeric value: x',
          'number-texts',
        ],
        [
          'a value that is an empty set',
          { ExpressionAttributeValues: { ':v': { SS: [] } } },
          'One or more parameter values were invalid: An string set  may not be empty',
          {
            id: 'write-prefix',
            answer:
              'ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  may not be empty for key :v',
          },
        ],
        [
          'a name placeholder longer than 255 bytes',
          {
            UpdateExpression: `SET #${text(255)} = :v`,
            ExpressionAttributeNames: { [`#${text(255)}`]: 'a' },
          },
          `ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256`,
        ],
      ])
    })
  })
}
