import { describe, expect, test } from 'vitest'
import type { Allowance } from '../src/data-model.ts'
import { tableStatements } from '../src/iam-policy.ts'
import { defineTable } from '../src/table.ts'

const table = defineTable({
  name: 'letters',
  description: 'Letters',
  partitionKey: { name: 'PK', type: 'S' },
  indexes: { GSI1: { partitionKey: { name: 'to', type: 'S' }, projection: 'ALL' } },
  pointInTimeRecovery: false,
})
const stamps = defineTable({ ...table, name: 'stamps' })

const statements = (...allows: Allowance[]) =>
  tableStatements(allows, ({ name }, index) => (index ? `${name}/index/${index}` : name))

const leadingKeys = (...keys: string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys },
})

describe('the statements of a policy', () => {
  test('allow the declared actions on the table, and queries of the declared indexes', () => {
    expect(statements({ table, actions: ['GetItem', 'Scan'], indexes: ['GSI1'] })).toEqual([
      { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:Scan'], Resource: ['letters'] },
      { Effect: 'Allow', Action: ['dynamodb:Query'], Resource: ['letters/index/GSI1'] },
    ])
  })

  test('limit access to the declared partitions, of indexes too', () => {
    const declared = { table, actions: [], indexes: ['GSI1'], leadingKeys: ['LETTER#*'] }
    expect(statements(declared)).toEqual([
      {
        Effect: 'Allow',
        Action: ['dynamodb:Query'],
        Resource: ['letters/index/GSI1'],
        Condition: leadingKeys('LETTER#*'),
      },
    ])
  })

  test('merge the keys of an action without giving them to another action', () => {
    expect(
      statements(
        { table, actions: ['GetItem', 'PutItem'], leadingKeys: ['B#*'] },
        { table, actions: ['GetItem'], leadingKeys: ['A#*'] },
      ),
    ).toEqual([
      {
        Effect: 'Allow',
        Action: ['dynamodb:GetItem'],
        Resource: ['letters'],
        Condition: leadingKeys('A#*', 'B#*'),
      },
      {
        Effect: 'Allow',
        Action: ['dynamodb:PutItem'],
        Resource: ['letters'],
        Condition: leadingKeys('B#*'),
      },
    ])
  })

  test.each([{ first: 0 }, { first: 1 }])(
    'need no keys for an action that is allowed on all partitions, declared as number $first',
    ({ first }) => {
      const any: Allowance = { table, actions: ['GetItem'] }
      const some: Allowance = { table, actions: ['GetItem'], leadingKeys: ['A#*'] }
      expect(statements(...(first === 0 ? [any, some] : [some, any]))).toEqual([
        { Effect: 'Allow', Action: ['dynamodb:GetItem'], Resource: ['letters'] },
      ])
    },
  )

  test('name tables with equal access together', () => {
    const actions = ['PutItem', 'GetItem'] as const
    expect(statements({ table, actions }, { table: stamps, actions })).toEqual([
      {
        Effect: 'Allow',
        Action: ['dynamodb:GetItem', 'dynamodb:PutItem'],
        Resource: ['letters', 'stamps'],
      },
    ])
  })
})
