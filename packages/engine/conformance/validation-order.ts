/**
 * Which of several mistakes is reported: parameters before the table, the table before the item.
 *
 * Also the texts of parameter constraints, which list several violations at once.
 */
import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, test } from 'vitest'
import {
  expectRefusal,
  freshName,
  missingTable,
  refuses,
  testUnless,
  text,
  useTable,
} from './harness.ts'
import type { Target } from './target.ts'

export function validationOrder(target: Target): void {
  describe('validation', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const missing = freshName()
    const key = { pk: { S: 'a' } }

    describe('of parameters', () => {
      refuses(target, PutItemCommand, { TableName: table, Item: key }, [
        [
          'a request without a table',
          { TableName: undefined },
          "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
          'parameter-texts',
        ],
        [
          'an empty table name',
          { TableName: '' },
          "1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
          'parameter-texts',
        ],
        [
          'a table name that is too long',
          { TableName: text(1025) },
          /1 validation error detected: Value 'x+' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to \d+$/,
          'parameter-texts',
        ],
        [
          'a request without an item',
          { Item: undefined },
          "1 validation error detected: Value null at 'item' failed to satisfy constraint: Member must not be null",
          'parameter-texts',
        ],
        [
          'several parameters that are wrong, all in one text',
          {
            Item: undefined,
            ReturnValues: 'A',
            ReturnConsumedCapacity: 'B',
            ReturnItemCollectionMetrics: 'C',
          },
          /4 validation errors detected: (Value .* failed to satisfy constraint: .*; ){3}Value .* failed to satisfy constraint: [^;]*$/,
          'parameter-texts',
        ],
      ])
      refuses(target, QueryCommand, {}, [
        [
          'a query with nothing in it',
          {},
          "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
          'parameter-texts',
        ],
      ])
      refuses(target, ScanCommand, { TableName: table }, [
        [
          'an index name of two characters',
          { IndexName: 'ab' },
          "1 validation error detected: Value 'ab' at 'indexName' failed to satisfy constraint: Member must have length greater than or equal to 3",
          'parameter-texts',
        ],
        [
          'an index name with a character that names cannot have',
          { IndexName: 'abc;' },
          "1 validation error detected: Value 'abc;' at 'indexName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
          'parameter-texts',
        ],
        [
          'an empty index name',
          { IndexName: '' },
          "2 validation errors detected: Value '' at 'indexName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value '' at 'indexName' failed to satisfy constraint: Member must have length greater than or equal to 3",
          'parameter-texts',
        ],
      ])
    })

    describe('of an expression comes before the table', () => {
      const beforeTable = { id: 'table-first', answer: missingTable(target) } as const
      refuses(target, PutItemCommand, { TableName: missing, Item: key }, [
        [
          'a condition with an error in its syntax',
          { ConditionExpression: 'a =' },
          'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="',
          beforeTable,
        ],
        [
          'a value that is no value',
          { Item: { pk: { S: 'a' }, n: { N: '1e200' } } },
          'Number overflow. Attempting to store a number with magnitude larger than supported range',
          beforeTable,
        ],
      ])
      refuses(target, UpdateItemCommand, { TableName: missing, Key: key }, [
        [
          'an update with an error in its syntax',
          { UpdateExpression: 'SET' },
          'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"',
          beforeTable,
        ],
        [
          'paths that overlap',
          {
            UpdateExpression: 'SET a = :v, a.b = :v',
            ExpressionAttributeValues: { ':v': { N: '1' } },
          },
          'Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]',
          beforeTable,
        ],
      ])
      refuses(target, GetItemCommand, { TableName: missing, Key: key }, [
        [
          'a projection with a reserved word',
          { ProjectionExpression: 'name' },
          'Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: name',
          beforeTable,
        ],
      ])
      refuses(target, DeleteItemCommand, { TableName: missing, Key: key }, [
        [
          'a name that is not used',
          {
            ConditionExpression: 'attribute_exists(a)',
            ExpressionAttributeNames: { '#b': 'b' },
          },
          'Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}',
          beforeTable,
        ],
      ])
    })

    describe('of a key comes after the table', () => {
      refuses(target, PutItemCommand, { TableName: missing }, [
        ['an item without a key', { Item: { a: { N: '1' } } }, missingTable(target)],
      ])
      refuses(target, GetItemCommand, { TableName: missing }, [
        ['an empty key', { Key: {} }, missingTable(target)],
      ])
      refuses(target, QueryCommand, { TableName: missing }, [
        [
          'a condition on something else than the key',
          {
            KeyConditionExpression: 'a = :a',
            ExpressionAttributeValues: { ':a': { S: 'x' } },
          },
          missingTable(target),
        ],
      ])
      refuses(target, UpdateItemCommand, { TableName: missing }, [
        [
          'an update of the key',
          {
            Key: key,
            UpdateExpression: 'SET pk = :v',
            ExpressionAttributeValues: { ':v': { S: 'b' } },
          },
          missingTable(target),
        ],
      ])
    })

    describe('of a write since 2026', () => {
      const enumeration =
        'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]'
      const capacity =
        "Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
      const noName =
        "1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
      const enums = { ReturnValues: 'X', ReturnConsumedCapacity: 'X' }
      refuses(target, PutItemCommand, { TableName: table, Item: key }, [
        ['an empty table name alone', { TableName: '', ...enums }, noName, 'parameter-texts'],
        [
          'all unknown names of a put',
          enums,
          `2 validation errors detected: ${capacity}; ${enumeration}`,
          'parameter-texts',
        ],
      ])
      refuses(target, UpdateItemCommand, { TableName: table, Key: key }, [
        [
          'ReturnValues of an update alone',
          enums,
          `1 validation error detected: ${enumeration}`,
          'parameter-texts',
        ],
        [
          'an empty table name and a missing key together, in the older words',
          { TableName: '', Key: undefined },
          "2 validation errors detected: Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1; Value null at 'key' failed to satisfy constraint: Member must not be null",
          'parameter-texts',
        ],
      ])
      refuses(target, DeleteItemCommand, { TableName: table, Key: key }, [
        [
          'all unknown names of a delete',
          enums,
          `2 validation errors detected: ${capacity}; ${enumeration}`,
          'parameter-texts',
        ],
      ])

      const Key = key
      const wrong = { ConditionExpression: 'a =' }
      const syntax = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="'
      const requests: [string, object][] = [
        ['a put', new PutItemCommand({ TableName: table, Item: key, ...wrong })],
        ['an update', new UpdateItemCommand({ TableName: table, Key, ...wrong })],
        ['a delete', new DeleteItemCommand({ TableName: table, Key, ...wrong })],
      ]
      for (const [title, request] of requests) {
        testUnless(target, 'write-prefix', `prefixes what is wrong with ${title}`, async () => {
          await expectRefusal(target.client.send(request as PutItemCommand), {
            message: `1 validation error detected: ${syntax}`,
          })
        })
      }

      test('prefixes nothing that is wrong with a read or with the key of an item', async () => {
        const get = new GetItemCommand({ TableName: table, Key, ProjectionExpression: 'a.' })
        await expectRefusal(target.client.send(get), {
          message: 'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: "."',
        })
        const update = new UpdateItemCommand({
          TableName: table,
          Key,
          UpdateExpression: 'SET pk = :v',
          ExpressionAttributeValues: { ':v': { S: 'b' } },
        })
        await expectRefusal(target.client.send(update), {
          message:
            'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
        })
      })
    })

    describe('of throughput comes before the table', () => {
      refuses(target, UpdateTableCommand, { TableName: missing }, [
        [
          'throughput out of bounds',
          {
            ProvisionedThroughput: { ReadCapacityUnits: 1_000_000_000_001, WriteCapacityUnits: 1 },
          },
          'Given value 1000000000001 for ReadCapacityUnits is out of bounds',
          { id: 'table-first', answer: { name: 'ResourceNotFoundException', message: /./ } },
        ],
      ])
    })

    describe('of a query and a scan', () => {
      const bad = { ExclusiveStartKey: { pk: {} } }
      const beforeTable = { id: 'table-first', answer: missingTable(target) } as const
      refuses(target, QueryCommand, { TableName: missing }, [
        [
          'a comparison in QueryFilter before the start key',
          { ...bad, QueryFilter: { a: { ComparisonOperator: 'EQ' } } },
          'One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator',
          beforeTable,
        ],
        [
          'the start key before missing key conditions',
          bad,
          /^The provided starting key is invalid: ./,
          beforeTable,
        ],
        [
          'an operator of a key condition before the table',
          {
            KeyConditionExpression: 'pk <> :a',
            ExpressionAttributeValues: { ':a': { S: 'x' } },
          },
          'Invalid operator used in KeyConditionExpression: <>',
          beforeTable,
        ],
        [
          'the number of key conditions before the table',
          {
            KeyConditionExpression: 'a = :a AND b = :a AND c = :a',
            ExpressionAttributeValues: { ':a': { S: 'x' } },
          },
          'Conditions can be of length 1 or 2 only',
          beforeTable,
        ],
        [
          'the table before a comparison that finds no key',
          { KeyConditions: { pk: { ComparisonOperator: 'NOT_NULL' } } },
          missingTable(target),
        ],
      ])
      refuses(target, QueryCommand, { TableName: table }, [
        [
          'the start key before a comparison that finds no key',
          {
            ExclusiveStartKey: { other: { S: 'x' } },
            KeyConditions: { pk: { ComparisonOperator: 'NOT_NULL' } },
          },
          'The provided starting key is invalid',
          'read-order',
        ],
        [
          'a missing key attribute before a comparison that finds no key',
          { KeyConditions: { other: { ComparisonOperator: 'NOT_NULL' } } },
          'Query condition missed key schema element: pk',
          'read-order',
        ],
        [
          'a comparison that finds no key',
          { KeyConditions: { pk: { ComparisonOperator: 'NOT_NULL' } } },
          'Attempted conditional constraint is not an indexable operation',
          'read-order',
        ],
      ])
      refuses(target, ScanCommand, { TableName: missing }, [
        [
          'a duplicate in AttributesToGet before the start key',
          { ...bad, AttributesToGet: ['a', 'a'] },
          'One or more parameter values were invalid: Duplicate value in attribute name: a',
          beforeTable,
        ],
        [
          'a comparison in ScanFilter before the start key',
          { ...bad, ScanFilter: { a: { ComparisonOperator: 'EQ' } } },
          'One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator',
          beforeTable,
        ],
        [
          'the start key before the segment',
          { ...bad, Segment: 1 },
          /^The provided starting key is invalid: ./,
          beforeTable,
        ],
      ])
    })

    describe('of names comes before that of values', () => {
      refuses(target, UpdateItemCommand, { TableName: table, Key: key }, [
        [
          'both that are not used',
          {
            UpdateExpression: 'REMOVE a',
            ExpressionAttributeNames: { '#b': 'b' },
            ExpressionAttributeValues: { ':v': { S: 'x' } },
          },
          'Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}',
        ],
        [
          'a syntax error before an unused name',
          { UpdateExpression: 'REMOVE', ExpressionAttributeNames: { '#b': 'b' } },
          'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "REMOVE"',
        ],
      ])
    })
  })
}
