/** The documented limits of single parameters that no suite of an operation has: names, lists, numbers. */
import {
  CreateBackupCommand,
  CreateTableCommand,
  DescribeBackupCommand,
  ExecuteStatementCommand,
  ExecuteTransactionCommand,
  GetItemCommand,
  ListBackupsCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateItemCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { describe } from 'vitest'
import { freshName, refuses, tableInput, text, useTable } from './harness.ts'
import { differs, type Target } from './target.ts'

const escaped = (words: string) => words.replaceAll(/[.[\]+]/g, '\\$&')

/** Without the value, which is long where it is too long. */
function violated(path: string, constraint: string): RegExp {
  return new RegExp(
    `^1 validation error detected: Value '.*' at '${escaped(path)}' failed to satisfy constraint: Member must ${escaped(constraint)}$`,
    's',
  )
}

const noLonger = (path: string, most: number) =>
  violated(path, `have length less than or equal to ${most}`)
const noShorter = (path: string, least: number) =>
  violated(path, `have length greater than or equal to ${least}`)
const noMore = (path: string, most: number) =>
  violated(path, `have value less than or equal to ${most}`)
const noLess = (path: string, least: number) =>
  violated(path, `have value greater than or equal to ${least}`)

export function parameterLimits(target: Target): void {
  describe('the limits of', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const Key = { pk: { S: 'a' } }
    const arn = `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`

    describe('expressions of every kind', () => {
      const ExpressionAttributeValues = { ':v': { N: '1' } }
      const tooLong = (start = '') => `${start}${text(4097 - start.length - 5)} = :v`
      const refused = (kind: string) =>
        new RegExp(`^Invalid ${kind}: Expression size has exceeded the maximum allowed size;`)
      const common = { TableName: table, Key, ExpressionAttributeValues }
      refuses(target, PutItemCommand, { TableName: table, Item: Key, ExpressionAttributeValues }, [
        ['a long condition', { ConditionExpression: tooLong() }, refused('ConditionExpression')],
      ])
      refuses(target, UpdateItemCommand, common, [
        ['a long update', { UpdateExpression: tooLong('SET ') }, refused('UpdateExpression')],
      ])
      refuses(target, QueryCommand, { TableName: table, ExpressionAttributeValues }, [
        [
          'a long key condition',
          { KeyConditionExpression: tooLong() },
          refused('KeyConditionExpression'),
        ],
      ])
      refuses(target, GetItemCommand, { TableName: table, Key }, [
        [
          'a long projection',
          { ProjectionExpression: text(4097) },
          refused('ProjectionExpression'),
        ],
        [
          'a legacy projection of nothing',
          { AttributesToGet: [] },
          noShorter('attributesToGet', 1),
          { id: 'unchecked-parameters' },
        ],
      ])
    })

    describe('definitions of tables', () => {
      const name = freshName()
      const key = { pk: 'S', sk: 'S' } as const
      const global = (index: string, project?: string[]) =>
        tableInput(name, {
          key,
          global: { [index]: { key: { sk: 'S' }, ...(project && { project }) } },
        })
      const index = 'globalSecondaryIndexes.1.member'
      refuses(target, CreateTableCommand, {}, [
        [
          'a key attribute with a name of 256 characters',
          tableInput(name, { key: { [text(256)]: 'S' } }),
          /Value 'x{256}' at 'keySchema\.1\.member\.attributeName' failed to satisfy constraint: Member must have length less than or equal to 255$/,
          'parameter-texts',
        ],
        [
          'an index with a name of 256 characters',
          global(text(256)),
          noLonger(`${index}.indexName`, 255),
          'parameter-texts',
        ],
        [
          'an index with spaces in its name',
          global('a b c'),
          violated(`${index}.indexName`, 'satisfy regular expression pattern: [a-zA-Z0-9_.-]+'),
          'parameter-texts',
        ],
        [
          'a projection of no attributes',
          global('index', []),
          noShorter(`${index}.projection.nonKeyAttributes`, 1),
          'parameter-texts',
        ],
        [
          'a projection of a name of 256 characters',
          global('index', [text(256)]),
          noLonger(`${index}.projection.nonKeyAttributes.1.member`, 255),
          'parameter-texts',
        ],
        [
          'a table without a key',
          { ...tableInput(name, { key }), KeySchema: [] },
          noShorter('keySchema', 1),
          'parameter-texts',
        ],
      ])
      const created = (IndexName: string) => ({
        Create: {
          IndexName,
          KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      })
      refuses(target, UpdateTableCommand, { TableName: table }, [
        [
          'two new indexes at once',
          {
            AttributeDefinitions: [{ AttributeName: 'g', AttributeType: 'S' }],
            GlobalSecondaryIndexUpdates: [created('one'), created('two')],
          },
          {
            name: 'LimitExceededException',
            message:
              'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
          },
        ],
      ])
      refuses(target, UpdateTimeToLiveCommand, { TableName: table }, [
        [
          'a time to live in an attribute with a name of 256 characters',
          { TimeToLiveSpecification: { Enabled: true, AttributeName: text(256) } },
          noLonger('timeToLiveSpecification.attributeName', 255),
          'parameter-texts',
        ],
      ])
      refuses(target, ListTablesCommand, {}, [
        [
          'a list from what is no name',
          { ExclusiveStartTableName: 'a b' },
          violated(
            'exclusiveStartTableName',
            'satisfy regular expression pattern: [a-zA-Z0-9_.-]+',
          ),
          'parameter-texts',
        ],
      ])
    })

    describe('statements', () => {
      const Statement = `SELECT * FROM "${table}" WHERE pk = 'a'`
      const statements = (count: number) =>
        Array.from({ length: count }, (_, n) => ({
          Statement: `SELECT * FROM "${table}" WHERE pk = '${n}'`,
        }))
      const unchecked = { id: 'unchecked-parameters' } as const
      refuses(target, ExecuteStatementCommand, { Statement }, [
        ['an empty one', { Statement: '' }, noShorter('statement', 1), 'parameter-texts'],
        ['an empty list of values', { Parameters: [] }, noShorter('parameters', 1), unchecked],
        ['a token that is none', { NextToken: 'x' }, 'Invalid NextToken', unchecked],
      ])
      refuses(target, ExecuteTransactionCommand, { TransactStatements: statements(1) }, [
        [
          'a hundred and one in a transaction',
          { TransactStatements: statements(101) },
          noLonger('transactStatements', 100),
          'parameter-texts',
        ],
        [
          'a transaction with a token of 37 characters',
          { ClientRequestToken: text(37) },
          noLonger('clientRequestToken', 36),
          unchecked,
        ],
      ])
    })

    describe.skipIf(differs(target, 'tags'))('tags', () => {
      const tagged = (tag: string, Value: string) => ({ Tags: [{ Key: tag, Value }] })
      const invalidName = (name: string) => `The Tag Key provided is invalid, Key: ${name}`
      const twice = { Tags: [...tagged('a', '1').Tags, ...tagged('a', '2').Tags] }
      const duplicate = 'Duplicate Tag Keys provided as input: Duplicate Tag Key found a'
      const many = Array.from({ length: 51 }, (_, n) => ({ Key: `${n}`, Value: '' }))
      const tooMany = 'Number of Tags exceed the current limit for the provided ResourceArn'
      refuses(target, TagResourceCommand, { ResourceArn: arn }, [
        ['a name of 129 characters', tagged(text(129), ''), invalidName(text(129))],
        ['an empty name', tagged('', 'x'), invalidName('')],
        ['a name of other letters', tagged('a#b', ''), invalidName('a#b')],
        [
          'a value of 257 characters',
          tagged('a', text(257)),
          `The Tag Value provided is invalid, Value: ${text(257)}`,
        ],
        ['no value', { Tags: [{ Key: 'a' }] }, 'The Tag Value provided is invalid, Value: null'],
        ['the same name twice', twice, duplicate],
        ['more than 50', { Tags: many }, tooMany],
      ])
      refuses(target, UntagResourceCommand, { ResourceArn: arn }, [
        ['a name of 129 characters', { TagKeys: [text(129)] }, invalidName(text(129))],
        ['more than 50', { TagKeys: many.map((each) => each.Key) }, tooMany],
      ])
      refuses(target, CreateTableCommand, tableInput(freshName(), { key: { pk: 'S' } }), [
        ['the same name twice', twice, duplicate],
        ['more than 50', { Tags: many }, tooMany],
      ])
    })

    describe.skipIf(differs(target, 'backups'))('backups', () => {
      refuses(target, CreateBackupCommand, { TableName: table }, [
        ['a name of two characters', { BackupName: 'ab' }, noShorter('backupName', 3)],
        ['a name of 256 characters', { BackupName: text(256) }, noLonger('backupName', 255)],
      ])
      refuses(target, DescribeBackupCommand, {}, [
        ['a short name of a resource', { BackupArn: text(36) }, noShorter('backupArn', 37)],
      ])
      refuses(target, ListBackupsCommand, {}, [
        ['a list of none', { Limit: 0 }, noLess('limit', 1)],
        ['a list of 101', { Limit: 101 }, noMore('limit', 100)],
      ])
    })

    describe.skipIf(differs(target, 'continuous-backups'))('recovery', () => {
      const days = (RecoveryPeriodInDays: number) => ({
        PointInTimeRecoverySpecification: {
          PointInTimeRecoveryEnabled: true,
          RecoveryPeriodInDays,
        },
      })
      const path = 'pointInTimeRecoverySpecification.recoveryPeriodInDays'
      refuses(target, UpdateContinuousBackupsCommand, { TableName: table }, [
        ['no days', days(0), noLess(path, 1)],
        ['36 days', days(36), noMore(path, 35)],
      ])
    })
  })
}
