import { describe, expect, test } from 'vitest'
import { dataModels, everyTable } from '../src/data-model.ts'
import { serverPolicy } from '../src/server-policy.ts'

/** Of a managed policy, without spaces. */
const MAX_POLICY_CHARACTERS = 6_144

interface Policy {
  Statement: { Action: string[]; Resource: string[] }[]
}

const keyArn = 'arn:aws:kms:eu-central-1:111122223333:key/abc'
const policyOf = (mayCreate = false) =>
  serverPolicy({ tables: everyTable, prefix: 'production-', keyArn, mayCreate }) as Policy

const isAllowed = (action: string, resource: string) =>
  policyOf().Statement.some(
    ({ Action, Resource }) => Action.includes(action) && Resource.includes(resource),
  )
const arn = (name: string) => `arn:aws:dynamodb:eu-central-1:111122223333:table/production-${name}`

describe('the policy of a server', () => {
  test('allows what its functions declare, on the store and on the key', () => {
    const functions = dataModels.flatMap((model) => model.functions)
    const needed = functions.flatMap(({ allows, kms = [] }) => [
      ...allows.flatMap(({ table, actions, indexes = [] }) => [
        ...actions.map((action) => [`dynamodb:${action}`, arn(table.name)] as const),
        ...indexes.map((index) => ['dynamodb:Query', `${arn(table.name)}/index/${index}`] as const),
      ]),
      ...kms.map((action) => [`kms:${action}`, keyArn] as const),
    ])
    expect(needed.length).toBeGreaterThan(100)
    expect(needed.filter(([action, resource]) => !isAllowed(action, resource))).toEqual([])
  })

  test('allows what a start does: reach the store and compare each table with its declaration', () => {
    expect(isAllowed('dynamodb:ListTables', '*')).toBe(true)
    for (const { name } of everyTable) {
      for (const what of ['DescribeTable', 'DescribeTimeToLive', 'DescribeContinuousBackups'])
        expect(isAllowed(`dynamodb:${what}`, arn(name))).toBe(true)
    }
    expect(isAllowed('kms:DescribeKey', keyArn)).toBe(true)
  })

  test('deletes no table, and creates one only if asked', () => {
    expect(JSON.stringify(policyOf(true))).not.toContain('DeleteTable')
    expect(JSON.stringify(policyOf())).not.toContain('CreateTable')
    expect(JSON.stringify(policyOf(true))).toContain('CreateTable')
  })

  test('is within the size limit of AWS', () => {
    expect(JSON.stringify(policyOf(true)).length).toBeLessThan(MAX_POLICY_CHARACTERS)
  })
})
