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

  describe('a change', () => {
    describe('of a provisioned table', () => {
      const table = freshName()
      beforeAll(async () => {
        const input = { ...tableInput(table, { key: { pk: 'S' } }), ...provisioned(1) }
        await client.send(new CreateTableCommand(input))
        await becomesActive(client, table)
      })
      afterAll(() => client.send(new DeleteTableCommand({ TableName: table })))

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
            'ProvisionedThroughput must be specified for index: by-owner when BillingMode is PROVISIONED',
          ),
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
      const [definition] = input.AttributeDefinitions ?? []
      refuses(target, CreateTableCommand, input, [
        [
          'an attribute that is defined twice',
          { AttributeDefinitions: [definition, { ...definition, AttributeType: 'N' }] },
          invalid('Duplicate AttributeName in AttributeDefinitions: pk'),
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
