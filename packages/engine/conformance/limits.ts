/** The limits of expressions and of definitions: what is just allowed, and what is just too much. */
import {
  type AttributeValue,
  CreateTableCommand,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { freshName, refuses, tableInput, text, useTable } from './harness.ts'
import type { Target } from './target.ts'

export function limits(target: Target): void {
  describe('an expression', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const one = { ':v': { N: '1' } }
    const numbered = (count: number, value: AttributeValue) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`:v${n}`, value]))
    const choice = (count: number, value: AttributeValue = { N: '1' }) => {
      const ExpressionAttributeValues = numbered(count, value)
      const names = Object.keys(ExpressionAttributeValues).join(', ')
      return { FilterExpression: `a IN (${names})`, ExpressionAttributeValues }
    }
    /** Comparisons joined by OR: two operators each, but for the first. */
    const operators = (comparisons: number, start = '') => ({
      FilterExpression: start + Array.from({ length: comparisons }, () => 'a = :v').join(' OR '),
      ExpressionAttributeValues: one,
    })
    const nested = (levels: number) => ({
      FilterExpression: `${Array.from({ length: levels }, () => 'a').join('.')} = :v`,
      ExpressionAttributeValues: one,
    })
    const long = (bytes: number) => ({
      FilterExpression: `${text(bytes - ' = :v'.length)} = :v`,
      ExpressionAttributeValues: one,
    })
    const placeholder = (characters: number) => {
      const name = `:${text(characters - 1)}`
      return {
        FilterExpression: `a = ${name}`,
        ExpressionAttributeValues: { [name]: { N: '1' } },
      }
    }

    const allowed: [what: string, input: Partial<ScanCommandInput>][] = [
      ['4,096 bytes', long(4096)],
      ['300 operators', operators(150, 'NOT ')],
      ['100 choices', choice(100)],
      ['a path of 32 levels', nested(32)],
      ['a placeholder of 255 characters', placeholder(255)],
    ]
    for (const [what, input] of allowed) {
      test(`may have ${what}`, async () => {
        const output = await target.client.send(new ScanCommand({ TableName: table, ...input }))
        expect(output.Count).toBe(0)
      })
    }

    const invalid = (reason: string) => `Invalid FilterExpression: ${reason}`
    refuses(target, ScanCommand, { TableName: table }, [
      [
        'more than 4,096 bytes',
        long(4097),
        invalid('Expression size has exceeded the maximum allowed size; expression size: 4097'),
      ],
      [
        'more than 300 operators',
        operators(151),
        invalid('The expression contains too many operators; operator count: 301'),
      ],
      [
        'more than 100 choices',
        choice(101),
        invalid('The IN operator is provided with too many operands; number of operands: 101'),
      ],
      [
        'a path of more than 32 levels',
        nested(33),
        invalid('The document path has too many nesting levels; nesting levels: 33'),
      ],
      [
        'a placeholder of more than 255 characters',
        placeholder(256),
        /^ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;/,
      ],
      [
        'values of more than 2 MB',
        choice(6, { S: text(349_526) }),
        'ExpressionAttributeValues exceeds max size',
      ],
    ])
  })

  describe('a table', () => {
    const TableName = freshName()
    const key = { pk: 'S', sk: 'S' } as const
    const many = <T>(count: number, index: T) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`index-${n}`, index]))
    const names = (count: number) => Array.from({ length: count }, (_, n) => `attribute-${n}`)
    const invalid = (reason: string) => `One or more parameter values were invalid: ${reason}`

    refuses(target, CreateTableCommand, {}, [
      [
        'more than 20 global indexes',
        tableInput(TableName, { key, global: many(21, { key: { sk: 'S' } }) }),
        invalid('GlobalSecondaryIndex count exceeds the per-table limit of 20'),
        'schema-texts',
      ],
      [
        'more than 5 local indexes',
        tableInput(TableName, { key, local: many(6, { key }) }),
        invalid('Number of LocalSecondaryIndexes exceeds per-table limit of 5'),
        'schema-texts',
      ],
      [
        'more than 100 projected attributes',
        tableInput(TableName, {
          key,
          global: { index: { key: { sk: 'S' }, project: names(101) } },
        }),
        invalid('Sum of projected attributes for all secondary indexes exceeds the limit of 100'),
        'schema-texts',
      ],
    ])
  })
}
