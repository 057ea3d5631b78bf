/** CreateTable, DescribeTable, ListTables and DeleteTable. */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  becomesActive,
  eventually,
  expectRefusal,
  failure,
  freshName,
  keySchema,
  missingTable,
  read,
  refuses,
  tableInput,
  type TableShape,
  text,
  useTable,
  write,
} from './harness.ts'
import { differs, expected, type Target } from './target.ts'

export function tables(target: Target): void {
  const { client } = target

  async function created(shape: TableShape, input: object = {}): Promise<string> {
    const name = freshName()
    await client.send(new CreateTableCommand({ ...tableInput(name, shape), ...input }))
    await becomesActive(client, name)
    return name
  }
  const described = async (TableName: string) =>
    (await client.send(new DescribeTableCommand({ TableName }))).Table
  async function gone(TableName: string): Promise<void> {
    await client.send(new DeleteTableCommand({ TableName }))
    await eventually(async () => {
      const { TableNames = [] } = await client.send(
        new ListTablesCommand({ ExclusiveStartTableName: TableName.slice(0, -1), Limit: 1 }),
      )
      return TableNames[0] !== TableName
    })
  }

  describe('CreateTable', () => {
    test('answers with the description of the new table', async () => {
      const name = freshName()
      const input = tableInput(name, { key: { pk: 'S', sk: 'N' } })
      const { TableDescription } = await client.send(new CreateTableCommand(input))
      expect(TableDescription).toMatchObject({
        TableName: name,
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'N' },
        ],
        KeySchema: keySchema({ pk: 'S', sk: 'N' }),
        ItemCount: 0,
        TableSizeBytes: 0,
        BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
        DeletionProtectionEnabled: false,
        ProvisionedThroughput: {
          ReadCapacityUnits: 0,
          WriteCapacityUnits: 0,
          NumberOfDecreasesToday: 0,
        },
      })
      expect(['CREATING', 'ACTIVE']).toContain(TableDescription?.TableStatus)
      expect(TableDescription?.TableArn).toMatch(
        new RegExp(`^arn:aws:dynamodb:.+:\\d{12}:table/${name}$`),
      )
      expect(TableDescription?.CreationDateTime).toBeInstanceOf(Date)
      await gone(name)
    })

    test('keeps provisioned throughput of the table and of its indexes', async () => {
      const name = await created(
        { key: { pk: 'S' } },
        {
          BillingMode: 'PROVISIONED',
          ProvisionedThroughput: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 },
          AttributeDefinitions: [
            { AttributeName: 'pk', AttributeType: 'S' },
            { AttributeName: 'owner', AttributeType: 'S' },
          ],
          GlobalSecondaryIndexes: [
            {
              IndexName: 'by-owner',
              KeySchema: keySchema({ owner: 'S' }),
              Projection: { ProjectionType: 'ALL' },
              ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 2 },
            },
          ],
        },
      )
      const table = await described(name)
      expect(table?.BillingModeSummary?.BillingMode).not.toBe('PAY_PER_REQUEST')
      expect(table?.ProvisionedThroughput).toMatchObject({
        ReadCapacityUnits: 3,
        WriteCapacityUnits: 4,
      })
      expect(table?.GlobalSecondaryIndexes?.[0]).toMatchObject({
        IndexName: 'by-owner',
        IndexStatus: 'ACTIVE',
        ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 2 },
      })
      await gone(name)
    })

    test('describes its indexes', async () => {
      const name = await created({
        key: { pk: 'S', sk: 'N' },
        global: { 'by-owner': { key: { owner: 'S', since: 'N' }, project: ['a', 'b'] } },
        local: { 'by-time': { key: { pk: 'S', time: 'N' }, project: 'KEYS_ONLY' } },
      })
      const table = await described(name)
      expect(table?.GlobalSecondaryIndexes).toEqual([
        expect.objectContaining({
          IndexName: 'by-owner',
          KeySchema: keySchema({ owner: 'S', since: 'N' }),
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a', 'b'] },
          IndexStatus: 'ACTIVE',
          IndexSizeBytes: 0,
          ItemCount: 0,
          IndexArn: `${table?.TableArn}/index/by-owner`,
        }),
      ])
      expect(table?.LocalSecondaryIndexes).toEqual([
        expect.objectContaining({
          IndexName: 'by-time',
          KeySchema: keySchema({ pk: 'S', time: 'N' }),
          Projection: { ProjectionType: 'KEYS_ONLY' },
          IndexArn: `${table?.TableArn}/index/by-time`,
        }),
      ])
      await gone(name)
    })

    test('gives a table an id of its own', async () => {
      if (differs(target, 'table-id')) return
      const name = await created({ key: { pk: 'S' } })
      const first = (await described(name))?.TableId
      expect(first).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      await gone(name)
      await client.send(new CreateTableCommand(tableInput(name, { key: { pk: 'S' } })))
      expect((await described(name))?.TableId).not.toBe(first)
      await gone(name)
    })

    const existing = useTable(target, { key: { pk: 'S' } })

    test('refuses a name that is taken', async () => {
      const request = client.send(
        new CreateTableCommand(tableInput(existing, { key: { pk: 'S' } })),
      )
      await expectRefusal(request, {
        name: 'ResourceInUseException',
        message: expected(
          target,
          'table-in-use-text',
          `Table already exists: ${existing}`,
          'Cannot create preexisting table',
        ),
      })
    })

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

  describe('DescribeTable', () => {
    test('refuses a table that does not exist', async () => {
      const name = freshName()
      await expectRefusal(described(name), {
        name: 'ResourceNotFoundException',
        message: expected(
          target,
          'missing-table-text',
          `Requested resource not found: Table: ${name} not found`,
          'Cannot do operations on a non-existent table',
        ),
      })
    })

    refuses(target, DescribeTableCommand, {}, [
      [
        'no name',
        {},
        "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
        'parameter-texts',
      ],
    ])
  })

  describe('ListTables', () => {
    const prefix = freshName()
    const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${prefix}-${letter}`)

    test('lists tables by name, in pages', async () => {
      for (const name of names.toReversed()) {
        await client.send(new CreateTableCommand(tableInput(name, { key: { pk: 'S' } })))
      }
      const list = (input: object) => client.send(new ListTablesCommand(input))
      const first = await list({ ExclusiveStartTableName: `${prefix}-`, Limit: 2 })
      expect(first.TableNames).toEqual(names.slice(0, 2))
      expect(first.LastEvaluatedTableName).toBe(names[1])
      const second = await list({ ExclusiveStartTableName: names[1], Limit: 2 })
      expect(second.TableNames).toEqual(names.slice(2, 4))
      const whole = await list({})
      expect(whole.TableNames).toEqual(expect.arrayContaining(names))
      expect(whole.TableNames).toEqual(whole.TableNames?.toSorted())
      await Promise.all(names.map(gone))
    })

    refuses(target, ListTablesCommand, {}, [
      [
        'a Limit of zero',
        { Limit: 0 },
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        'parameter-texts',
      ],
      [
        'a Limit above one hundred',
        { Limit: 101 },
        "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100",
        'parameter-texts',
      ],
    ])
  })

  describe('DeleteTable', () => {
    test('answers with the description of the table and removes it with its items', async () => {
      const name = await created({ key: { pk: 'S' } })
      await write(target, name, [{ pk: { S: 'a' } }])
      const { TableDescription } = await client.send(new DeleteTableCommand({ TableName: name }))
      expect(TableDescription).toMatchObject({ TableName: name })
      await eventually(
        async () => (await failure(described(name))).name === 'ResourceNotFoundException',
      )
      await client.send(new CreateTableCommand(tableInput(name, { key: { pk: 'S' } })))
      await becomesActive(client, name)
      expect(await read(target, name, { pk: { S: 'a' } })).toBeUndefined()
      await gone(name)
      const put = new PutItemCommand({ TableName: name, Item: { pk: { S: 'a' } } })
      await expectRefusal(client.send(put), missingTable(target))
    })

    test('keeps a table with deletion protection', async () => {
      const name = await created({ key: { pk: 'S' } }, { DeletionProtectionEnabled: true })
      expect((await described(name))?.DeletionProtectionEnabled).toBe(true)
      const { message, name: kind } = await failure(
        client.send(new DeleteTableCommand({ TableName: name })),
      )
      expect(kind).toBe('ValidationException')
      expect(message).toMatch(/deletion protection/i)
      expect((await described(name))?.TableStatus).toBe('ACTIVE')
    })

    test('refuses a table that does not exist', async () => {
      const name = freshName()
      await expectRefusal(client.send(new DeleteTableCommand({ TableName: name })), {
        name: 'ResourceNotFoundException',
        message: expected(
          target,
          'missing-table-text',
          `Requested resource not found: Table: ${name} not found`,
          'Cannot do operations on a non-existent table',
        ),
      })
    })
  })
}
