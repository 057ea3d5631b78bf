/** Definitions of tables and indexes that CreateTable refuses. */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { describe } from 'vitest'
import { freshName, keySchema, refuses, tableInput, text } from './harness.ts'
import type { Target } from './target.ts'

export function tableDefinitions(target: Target): void {
  describe('CreateTable', () => {
    const shape = { key: { pk: 'S', sk: 'S' } } as const
    const base = tableInput(freshName(), shape)
    const attributes = (...names: string[]) =>
      names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' }))
    const invalid = (complaint: string) => `One or more parameter values were invalid: ${complaint}`
    const global = (index: object) => ({
      AttributeDefinitions: attributes('pk', 'sk', 'x', 'y'),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'index',
          KeySchema: keySchema({ x: 'S', y: 'S' }),
          Projection: { ProjectionType: 'ALL' },
          ...index,
        },
      ],
    })
    const local = (index: object) => ({
      AttributeDefinitions: attributes('pk', 'sk', 'x'),
      LocalSecondaryIndexes: [
        {
          IndexName: 'index',
          KeySchema: keySchema({ pk: 'S', x: 'S' }),
          Projection: { ProjectionType: 'ALL' },
          ...index,
        },
      ],
    })
    refuses(target, CreateTableCommand, base, [
      [
        'a name of two characters',
        { TableName: 'ab' },
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3",
        'parameter-texts',
      ],
      [
        'a name of 256 characters',
        { TableName: text(256) },
        `1 validation error detected: Value '${text(256)}' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255`,
        'parameter-texts',
      ],
      [
        'a name with a space',
        { TableName: 'a b c' },
        "1 validation error detected: Value 'a b c' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
        'parameter-texts',
      ],
      [
        'an unknown key type',
        { KeySchema: [{ AttributeName: 'pk', KeyType: 'SORT' }] },
        "1 validation error detected: Value 'SORT' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]",
        'parameter-texts',
      ],
      [
        'an unknown attribute type',
        {
          AttributeDefinitions: [
            { AttributeName: 'pk', AttributeType: 'BOOL' },
            { AttributeName: 'sk', AttributeType: 'S' },
          ],
        },
        "1 validation error detected: Value 'BOOL' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]",
        'parameter-texts',
      ],
      [
        'an unknown billing mode',
        { BillingMode: 'FREE' },
        "1 validation error detected: Value 'FREE' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]",
        { id: 'unknown-enums' },
      ],
      [
        'a key of three attributes',
        {
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
            { AttributeName: 'x', KeyType: 'RANGE' },
          ],
          AttributeDefinitions: attributes('pk', 'sk', 'x'),
        },
        "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement(attributeName=sk, keyType=RANGE), KeySchemaElement(attributeName=x, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2",
        'parameter-texts',
      ],
      [
        'a key attribute without a definition',
        { AttributeDefinitions: attributes('pk', 'other') },
        invalid(
          'Some index key attributes are not defined in AttributeDefinitions. Keys: [pk, sk], AttributeDefinitions: [pk, other]',
        ),
        'schema-texts',
      ],
      [
        'fewer definitions than key attributes',
        { AttributeDefinitions: attributes('pk') },
        'Invalid KeySchema: Some index key attribute have no definition',
        'schema-texts',
      ],
      [
        'a definition that no key uses',
        { AttributeDefinitions: attributes('pk', 'sk', 'x') },
        invalid(
          'Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions',
        ),
        'schema-texts',
      ],
      [
        'two sort keys and no partition key',
        {
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'RANGE' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
        },
        'Invalid KeySchema: The first KeySchemaElement is not a HASH key type',
        'schema-texts',
      ],
      [
        'two partition keys',
        {
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'HASH' },
          ],
        },
        'Invalid KeySchema: The second KeySchemaElement is not a RANGE key type',
        'schema-texts',
      ],
      [
        'one attribute as both keys',
        {
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'pk', KeyType: 'RANGE' },
          ],
          AttributeDefinitions: attributes('pk', 'sk'),
        },
        'Both the Hash Key and the Range Key element in the KeySchema have the same name',
        'schema-texts',
      ],
      [
        'throughput of a table billed on demand',
        { ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } },
        invalid(
          'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST',
        ),
        { id: 'lenient-schema' },
      ],
      [
        'a provisioned table without throughput',
        { BillingMode: 'PROVISIONED' },
        invalid(
          'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED',
        ),
        'schema-texts',
      ],
      [
        'a provisioned table with no capacity',
        {
          BillingMode: 'PROVISIONED',
          ProvisionedThroughput: { ReadCapacityUnits: 0, WriteCapacityUnits: 1 },
        },
        "1 validation error detected: Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1",
        'parameter-texts',
      ],
      [
        'an empty list of global indexes',
        { GlobalSecondaryIndexes: [] },
        invalid('List of GlobalSecondaryIndexes is empty'),
        'schema-texts',
      ],
      [
        'an empty list of local indexes',
        { LocalSecondaryIndexes: [] },
        invalid('List of LocalSecondaryIndexes is empty'),
        { id: 'lenient-schema' },
      ],
      [
        'an index on an attribute without a definition',
        global({ KeySchema: keySchema({ z: 'S', y: 'S' }) }),
        invalid(
          'Some index key attributes are not defined in AttributeDefinitions. Keys: [z, y], AttributeDefinitions: [pk, sk, x, y]',
        ),
        'schema-texts',
      ],
      [
        'an index with a short name',
        global({ IndexName: 'ix' }),
        "1 validation error detected: Value 'ix' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3",
        'parameter-texts',
      ],
      [
        'an index without a projection type',
        global({ Projection: {} }),
        invalid('Unknown ProjectionType: null'),
        'schema-texts',
      ],
      [
        'an index with an unknown projection type',
        global({ Projection: { ProjectionType: 'SOME' } }),
        "1 validation error detected: Value 'SOME' at 'globalSecondaryIndexes.1.member.projection.projectionType' failed to satisfy constraint: Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]",
        'parameter-texts',
      ],
      [
        'attributes to include in an index of all attributes',
        global({ Projection: { ProjectionType: 'ALL', NonKeyAttributes: ['z'] } }),
        invalid('ProjectionType is ALL, but NonKeyAttributes is specified'),
        'schema-texts',
      ],
      [
        'attributes to include in an index of keys only',
        global({ Projection: { ProjectionType: 'KEYS_ONLY', NonKeyAttributes: ['z'] } }),
        invalid('ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified'),
        'schema-texts',
      ],
      [
        'an index that includes, but says not what',
        global({ Projection: { ProjectionType: 'INCLUDE' } }),
        invalid('ProjectionType is INCLUDE, but NonKeyAttributes is not specified'),
        'schema-texts',
      ],
      [
        'a definition that no key and no index uses',
        global({ KeySchema: keySchema({ x: 'S' }) }),
        invalid(
          'Some AttributeDefinitions are not used. AttributeDefinitions: [pk, sk, x, y], keys used: [x, pk, sk]',
        ),
        'schema-texts',
      ],
      [
        'two indexes of one name',
        {
          ...global({}),
          GlobalSecondaryIndexes: [
            ...global({ KeySchema: keySchema({ x: 'S' }) }).GlobalSecondaryIndexes,
            ...global({ KeySchema: keySchema({ y: 'S' }) }).GlobalSecondaryIndexes,
          ],
        },
        invalid('Duplicate index name: index'),
        'schema-texts',
      ],
      [
        'a local index on a table without a sort key',
        {
          ...local({}),
          KeySchema: keySchema({ pk: 'S' }),
          AttributeDefinitions: attributes('pk', 'x'),
        },
        invalid(
          'Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex',
        ),
        'schema-texts',
      ],
      [
        'a local index with another partition key',
        local({ KeySchema: keySchema({ sk: 'S', x: 'S' }) }),
        invalid(
          'Index KeySchema does not have the same leading hash key as table KeySchema for index: index. index hash key: sk, table hash key: pk',
        ),
        'schema-texts',
      ],
      [
        'a local index without a sort key',
        {
          ...local({ KeySchema: keySchema({ pk: 'S' }) }),
          AttributeDefinitions: attributes('pk', 'sk'),
        },
        invalid('Index KeySchema does not have a range key for index: index'),
        'schema-texts',
      ],
      [
        'six local indexes',
        {
          AttributeDefinitions: attributes('pk', 'sk', 'x'),
          LocalSecondaryIndexes: Array.from({ length: 6 }, (_, n) => ({
            ...local({}).LocalSecondaryIndexes[0],
            IndexName: `index${n}`,
          })),
        },
        invalid('Number of LocalSecondaryIndexes exceeds per-table limit of 5'),
        'schema-texts',
      ],
      [
        'twenty-one global indexes',
        {
          AttributeDefinitions: attributes('pk', 'sk', 'x', 'y'),
          GlobalSecondaryIndexes: Array.from({ length: 21 }, (_, n) => ({
            ...global({}).GlobalSecondaryIndexes[0],
            IndexName: `index${n}`,
          })),
        },
        invalid('GlobalSecondaryIndex count exceeds the per-table limit of 20'),
        'schema-texts',
      ],
    ])
  })
}
