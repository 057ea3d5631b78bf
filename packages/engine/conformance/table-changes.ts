/** Changes of a table that contradict each other, its billing, or what it is already. */
import {
  CreateTableCommand,
  DeleteTableCommand,
  ExecuteStatementCommand,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe } from 'vitest'
import {
  becomesActive,
  createsIndex,
  freshName,
  refuses,
  tableInput,
  text,
  useTable,
} from './harness.ts'
import type { Target } from './target.ts'

export function tableChanges(target: Target): void {
  const { client } = target
  const invalid = (complaint: string) => `One or more parameter values were invalid: ${complaint}`
  const throughput = (units: number) => ({ ReadCapacityUnits: units, WriteCapacityUnits: units })
  const provisioned = (units: number) => ({
    BillingMode: 'PROVISIONED' as const,
    ProvisionedThroughput: throughput(units),
  })
  const on = { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } }
  const created = (index: object = {}) => ({
    AttributeDefinitions: [{ AttributeName: 'owner', AttributeType: 'S' }],
    ...createsIndex('by-owner', { owner: 'S' }, index),
  })

  const updates = (...changes: object[]) => ({ GlobalSecondaryIndexUpdates: changes })

  describe('a change', () => {
    describe('of a provisioned table', () => {
      const table = freshName()
      beforeAll(async () => {
        const { GlobalSecondaryIndexes = [], ...input } = tableInput(table, {
          key: { pk: 'S', sk: 'S' },
          global: { 'by-color': { key: { color: 'S' } } },
          local: { 'by-age': { key: { pk: 'S', age: 'N' } } },
        })
        const indexes = GlobalSecondaryIndexes.map((index) => ({
          ...index,
          ProvisionedThroughput: throughput(1),
        }))
        await client.send(
          new CreateTableCommand({
            ...input,
            ...provisioned(1),
            GlobalSecondaryIndexes: indexes,
          }),
        )
        await becomesActive(client, table)
      })
      afterAll(async () => {
        await becomesActive(client, table)
        await client.send(new DeleteTableCommand({ TableName: table }))
      })

      refuses(target, UpdateTableCommand, { TableName: table }, [
        [
          'the throughput that it has',
          { ProvisionedThroughput: throughput(1) },
          'The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: 1. Requested ReadCapacityUnits: 1. Current WriteCapacityUnits provisioned for the table: 1. Requested WriteCapacityUnits: 1. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.',
          'schema-texts',
        ],
        [
          'a stream and throughput at once',
          { ...on, ProvisionedThroughput: throughput(2) },
          invalid('You cannot modify stream status while updating table IOPS'),
          'schema-texts',
        ],
        [
          'an index without throughput',
          created(),
          invalid(
            'Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: by-owner',
          ),
          { id: 'lenient-schema' },
        ],
        [
          'the throughput that an index has',
          updates({ Update: { IndexName: 'by-color', ProvisionedThroughput: throughput(1) } }),
          'The provisioned throughput for the index by-color will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for index by-color: 1. Requested ReadCapacityUnits: 1. Current WriteCapacityUnits provisioned for index by-color: 1. Requested WriteCapacityUnits: 1. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.',
          'schema-texts',
        ],
        [
          'to delete a local index',
          updates({ Delete: { IndexName: 'by-age' } }),
          'Cannot delete an index that is not a GlobalSecondaryIndex: by-age',
          'schema-texts',
        ],
        [
          'throughput of a local index',
          updates({ Update: { IndexName: 'by-age', ProvisionedThroughput: throughput(2) } }),
          'Cannot update an index that is not a GlobalSecondaryIndex: by-age',
          { id: 'lenient-schema' },
        ],
        [
          'deletion protection with anything else',
          { DeletionProtectionEnabled: false, ProvisionedThroughput: throughput(2) },
          invalid('DeletionProtection modification must be the only operation in the request'),
          { id: 'lenient-schema' },
        ],
        [
          'another class of table with anything else',
          { TableClass: 'STANDARD_INFREQUENT_ACCESS', ProvisionedThroughput: throughput(3) },
          invalid('TableClass modification must be the only operation in the request'),
          { id: 'lenient-schema' },
        ],
        [
          'an index and throughput at once',
          {
            ...created({ ProvisionedThroughput: throughput(1) }),
            ProvisionedThroughput: throughput(2),
          },
          invalid('You cannot create or delete index while updating table IOPS'),
          { id: 'lenient-schema' },
        ],
      ])
    })

    describe('of a table on demand', () => {
      const table = useTable(target, {
        key: { pk: 'S' },
        global: { 'by-color': { key: { color: 'S', weight: 'S' } } },
      })
      const Key = { pk: { S: 'a' } }

      refuses(target, UpdateTableCommand, { TableName: table }, [
        [
          'two changes of one index',
          {
            GlobalSecondaryIndexUpdates: [
              { Delete: { IndexName: 'by-color' } },
              { Update: { IndexName: 'by-color', ProvisionedThroughput: throughput(1) } },
            ],
          },
          invalid(
            'Only one global secondary index update per index is allowed simultaneously. Index: by-color',
          ),
          'schema-texts',
        ],
        [
          'two changes in one',
          updates({
            Delete: { IndexName: 'by-color' },
            Update: { IndexName: 'by-color', ProvisionedThroughput: throughput(1) },
          }),
          invalid(
            'Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object',
          ),
          { id: 'lenient-schema' },
        ],
        [
          'no changes of indexes beside others',
          { ...updates(), DeletionProtectionEnabled: false },
          invalid('List of GlobalSecondaryIndexUpdates is empty'),
          { id: 'lenient-schema' },
        ],
        [
          'an index without any definition of attributes',
          createsIndex('by-pk', { pk: 'S' }),
          invalid('AttributeDefinitions is not specified for index: by-pk'),
          'schema-texts',
        ],
        [
          'an index that projects an attribute twice',
          created({ Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a', 'b', 'a'] } }),
          invalid('Duplicate element in NonKeyAttributes: a'),
          'schema-texts',
        ],
        [
          'an index with throughput',
          created({ ProvisionedThroughput: throughput(1) }),
          invalid(
            'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: by-owner when BillingMode is PAY_PER_REQUEST',
          ),
          { id: 'lenient-schema' },
        ],
        [
          'throughput of an index',
          updates({ Update: { IndexName: 'by-color', ProvisionedThroughput: throughput(1) } }),
          invalid(
            'The only Updates for index: by-color when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput',
          ),
          { id: 'lenient-schema' },
        ],
        [
          'throughput without that of its indexes',
          provisioned(1),
          invalid('ProvisionedThroughput must be specified for index: by-color'),
          { id: 'lenient-schema' },
        ],
      ])

      const sized = (attribute: string, bytes: number) => ({
        UpdateExpression: `SET ${attribute} = :v`,
        ExpressionAttributeValues: { ':v': { S: text(bytes) } },
      })
      refuses(target, UpdateItemCommand, { TableName: table, Key }, [
        [
          'an index partition key of 2,049 bytes by an update',
          sized('color', 2049),
          invalid(
            'Size of hashkey has exceeded the maximum size limit of 2048 bytes IndexName: by-color',
          ),
          'key-size-texts',
        ],
        [
          'an index sort key of 1,025 bytes by an update',
          sized('weight', 1025),
          invalid(
            'Size of rangekey has exceeded the maximum size limit of 1024 bytes IndexName: by-color',
          ),
          'key-size-texts',
        ],
      ])
      refuses(target, ExecuteStatementCommand, {}, [
        [
          'a statement with a name that is empty',
          { Statement: `SELECT "" FROM "${table}"` },
          'Path component cannot be an empty string',
        ],
      ])
    })

    describe('that makes a table', () => {
      const input = tableInput(freshName(), { key: { pk: 'S' } })
      const indexed = tableInput(freshName(), {
        key: { pk: 'S' },
        global: { 'by-color': { key: { color: 'S' }, project: ['a', 'a'] } },
      })
      const [definition] = input.AttributeDefinitions ?? []
      refuses(target, CreateTableCommand, indexed, [
        [
          'an index that projects an attribute twice',
          {},
          invalid('Duplicate element in NonKeyAttributes: a'),
          'schema-texts',
        ],
      ])
      refuses(target, CreateTableCommand, input, [
        [
          'an attribute that is defined twice',
          { AttributeDefinitions: [definition, { ...definition, AttributeType: 'N' }] },
          'Attribute Name is duplicated: pk',
          'schema-texts',
        ],
        [
          'throughput without bounds',
          { ...provisioned(1_000_000_000_001) },
          'Given value 1000000000001 for ReadCapacityUnits is out of bounds',
          'schema-texts',
        ],
      ])
    })
  })
}
