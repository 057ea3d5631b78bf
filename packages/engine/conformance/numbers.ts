/** Numbers: 38 digits, kept, compared and added exactly, and returned in one form. */
import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { read, refuses, testUnless, useTable, write, ofItem } from './harness.ts'
import { differs, type Target } from './target.ts'

const nines = '9'.repeat(38)

const forms: [given: string, returned: string][] = [
  ['0', '0'],
  ['-0', '0'],
  ['0.0', '0'],
  ['00', '0'],
  ['0e10', '0'],
  ['1', '1'],
  ['+1', '1'],
  ['01', '1'],
  ['1.0', '1'],
  ['1.50', '1.5'],
  ['.5', '0.5'],
  ['-.5', '-0.5'],
  ['5.', '5'],
  ['1e3', '1000'],
  ['1E3', '1000'],
  ['1e+3', '1000'],
  ['1.23e1', '12.3'],
  ['1e-3', '0.001'],
  ['123e-5', '0.00123'],
  ['100', '100'],
  ['1e20', `1${'0'.repeat(20)}`],
  ['1e21', `1${'0'.repeat(21)}`],
  ['1e-7', '0.0000001'],
  ['0.1', '0.1'],
  ['9007199254740993', '9007199254740993'],
  [nines, nines],
  [`-${nines}`, `-${nines}`],
  [`0.${nines}`, `0.${nines}`],
  [`${nines}000`, `${nines}000`],
  [`0.00${nines}`, `0.00${nines}`],
  ['123456789012345678.9012345678901234567', '123456789012345678.9012345678901234567'],
  [`1e125`, `1${'0'.repeat(125)}`],
  [`-1e125`, `-1${'0'.repeat(125)}`],
  [`1e-130`, `0.${'0'.repeat(129)}1`],
  [`-1e-130`, `-0.${'0'.repeat(129)}1`],
  [`9.9999999999999999999999999999999999999E+125`, `${nines}${'0'.repeat(88)}`],
  ['1.0000000000000000000000000000000000000000', '1'],
  ['0000000000000000000000000000000000000000001', '1'],
]

const sums: [a: string, operator: '+' | '-', b: string, result: string][] = [
  ['1', '+', '2', '3'],
  ['1', '-', '2', '-1'],
  ['0.1', '+', '0.2', '0.3'],
  ['0.3', '-', '0.1', '0.2'],
  ['1.005', '+', '1.005', '2.01'],
  ['9007199254740991', '+', '2', '9007199254740993'],
  ['9007199254740993', '-', '2', '9007199254740991'],
  ['12345678901234567890123456789012345677', '+', '1', '12345678901234567890123456789012345678'],
  ['1e20', '+', '1e-10', '100000000000000000000.0000000001'],
  ['5', '-', '5', '0'],
  ['-5', '+', '5', '0'],
  ['1e125', '-', '1e125', '0'],
  ['99999999999999999999999999999999999999', '-', '99999999999999999999999999999999999998', '1'],
]

export function numbers(target: Target): void {
  describe('numbers', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const key = { pk: { S: 'n' } }
    const stored = async () => (await read(target, table, key))?.['n']

    for (const [given, returned] of forms) {
      test(`${given} is returned as ${returned}`, async () => {
        await write(target, table, [{ ...key, n: { N: given } }])
        expect(await stored()).toEqual({ N: returned })
      })
    }

    testUnless(
      target,
      'nested-numbers',
      'numbers inside a document have that form too',
      async () => {
        await write(target, table, [
          { ...key, n: { L: [{ N: '1e2' }, { M: { x: { N: '0.50' } } }] } },
        ])
        expect(await stored()).toEqual({ L: [{ N: '100' }, { M: { x: { N: '0.5' } } }] })
      },
    )

    test('the members of a set are returned in the same form', async () => {
      await write(target, table, [{ ...key, n: { NS: ['1e2', '0.50', '-0'] } }])
      expect((await stored())?.NS?.toSorted()).toEqual(['0', '0.5', '100'])
    })

    for (const [a, operator, b, result] of sums) {
      test(`${a} ${operator} ${b} is ${result}`, async () => {
        await write(target, table, [{ ...key, n: { N: a } }])
        await target.client.send(
          new UpdateItemCommand({
            TableName: table,
            Key: key,
            UpdateExpression: `SET n = n ${operator} :b`,
            ExpressionAttributeValues: { ':b': { N: b } },
          }),
        )
        const sum = (await stored())?.N ?? ''
        expect(differs(target, 'sum-zeros') ? String(Number(sum)) : sum).toBe(
          differs(target, 'sum-zeros') ? String(Number(result)) : result,
        )
      })
    }

    test('ADD adds exactly too', async () => {
      await write(target, table, [{ ...key, n: { N: '0.1' } }])
      await target.client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: key,
          UpdateExpression: 'ADD n :b',
          ExpressionAttributeValues: { ':b': { N: '0.2' } },
        }),
      )
      expect(await stored()).toEqual({ N: '0.3' })
    })

    const overflow =
      'Number overflow. Attempting to store a number with magnitude larger than supported range'
    const underflow =
      'Number underflow. Attempting to store a number with magnitude smaller than supported range'
    const digits = 'Attempting to store more than 38 significant digits in a Number'
    const notANumber = 'The parameter cannot be converted to a numeric value'
    const inItem = (N: string) => ({ Item: { ...key, n: { N } } })
    if (!differs(target, 'plain-values')) {
      refuses(target, PutItemCommand, { TableName: table }, [
        ['an empty number', inItem(''), notANumber, 'number-texts'],
        ...[
          'abc',
          '1a',
          '--1',
          '1e',
          '0x10',
          'NaN',
          'Infinity',
          '-Infinity',
          '1,5',
          '1_000',
          '½',
        ].map((wrong): [string, object, string, 'number-texts'] => [
          `"${wrong}" as a number`,
          inItem(wrong),
          `${notANumber}: ${wrong}`,
          'number-texts',
        ]),
        ['a number with a space', inItem(' 1'), `${notANumber}:  1`, 'number-texts'],
        [
          'a number in a set that is none',
          { Item: { ...key, n: { NS: ['1', 'x'] } } },
          `${notANumber}: x`,
          'number-texts',
        ],
      ])
    }
    refuses(target, PutItemCommand, { TableName: table }, [
      ['1e126', inItem('1e126'), overflow],
      ['-1e126', inItem('-1e126'), overflow],
      ['1e1000', inItem('1e1000'), overflow],
      ['1e-131', inItem('1e-131'), underflow],
      ['-1e-131', inItem('-1e-131'), underflow],
      ['39 digits', inItem('1'.repeat(39)), digits, 'number-texts'],
      ['39 digits after the point', inItem(`0.${'1'.repeat(39)}`), digits, 'number-texts'],
    ])
    const add = (a: string, b: string) => ({
      UpdateExpression: 'SET n = :a + :b',
      ExpressionAttributeValues: { ':a': { N: a }, ':b': { N: b } },
    })
    refuses(target, UpdateItemCommand, { TableName: table, Key: { pk: { S: 'sum' } } }, [
      ['a sum beyond the range', add('9.9e125', '9.9e125'), ofItem(overflow)],
      ['a sum of more than 38 digits', add('1e38', '0.1'), ofItem(digits), 'number-texts'],
    ])
  })
}
