import { cloudFormation } from '@strongroom/kit/cloudformation'
import { createTableInput } from '@strongroom/kit/table'
import { createTables, verifyTables } from '@strongroom/kit/tables'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { secretsTable } from '../src/tables.ts'

describe('the table sealed-secrets', () => {
  test('is declared as the specification says: one string key, on demand, tags', () => {
    expect(createTableInput(secretsTable)).toEqual({
      TableName: 'sealed-secrets',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      Tags: [
        { Key: 'Project', Value: 'sealed-fyi' },
        { Key: 'Environment', Value: 'production' },
      ],
    })
  })

  test('has no sort key and no index', () => {
    expect(secretsTable.sortKey).toBeUndefined()
    expect(secretsTable.indexes).toBeUndefined()
  })

  test('has no point-in-time recovery, so that no backup keeps destroyed secrets', () => {
    expect(secretsTable.pointInTimeRecovery).toBe(false)
  })

  test('has the resource, time to live, tags and outputs of its specification in its CloudFormation template', () => {
    const template = cloudFormation({ tables: [secretsTable], main: secretsTable })
    expect(template).toMatchObject({
      Resources: {
        SecretsTable: {
          DeletionPolicy: 'Retain',
          Properties: {
            TableName: { 'Fn::Sub': '${Prefix}sealed-secrets' },
            BillingMode: 'PAY_PER_REQUEST',
            KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
            Tags: [
              { Key: 'Project', Value: 'sealed-fyi' },
              { Key: 'Environment', Value: { Ref: 'Environment' } },
            ],
            TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
            DeletionProtectionEnabled: true,
          },
        },
      },
      Outputs: {
        TableName: { Value: { Ref: 'SecretsTable' } },
        TableArn: { Value: { 'Fn::GetAtt': ['SecretsTable', 'Arn'] } },
      },
    })
  })

  test.each(testStores())('is created on $name with time to live by expiresAt', async (store) => {
    const { db, close } = await store.open()
    await createTables(db, [secretsTable])
    const { TimeToLiveDescription } = await db.describeTimeToLive({ TableName: 'sealed-secrets' })
    expect(TimeToLiveDescription).toMatchObject({
      AttributeName: 'expiresAt',
      TimeToLiveStatus: 'ENABLED',
    })
    expect(await verifyTables(db, [secretsTable])).toEqual([
      { table: 'sealed-secrets', differences: [] },
    ])
    await close()
  })
})
