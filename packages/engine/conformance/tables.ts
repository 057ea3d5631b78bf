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
  testUnless,
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
    test('returns the description of the new table', async () => {
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
    test('returns the description of the table and deletes it with its items', async () => {
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

    testUnless(target, 'deleted-description', 'describes no keys and no indexes', async () => {
      const name = await created({
        key: { pk: 'S', sk: 'S' },
        global: { everything: { key: { owner: 'S' } } },
        local: { other: { key: { pk: 'S', owner: 'S' } } },
      })
      const { TableDescription = {} } = await client.send(
        new DeleteTableCommand({ TableName: name }),
      )
      expect(TableDescription).toMatchObject({
        TableName: name,
        TableStatus: 'DELETING',
        TableArn: expect.stringContaining(name),
        TableId: expect.any(String),
        ItemCount: 0,
        TableSizeBytes: 0,
        BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
        ProvisionedThroughput: { ReadCapacityUnits: 0, WriteCapacityUnits: 0 },
      })
      const { KeySchema, AttributeDefinitions, CreationDateTime } = TableDescription
      const { GlobalSecondaryIndexes, LocalSecondaryIndexes } = TableDescription
      const left = { KeySchema, AttributeDefinitions, CreationDateTime }
      expect({ ...left, GlobalSecondaryIndexes, LocalSecondaryIndexes }).toEqual({})
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
