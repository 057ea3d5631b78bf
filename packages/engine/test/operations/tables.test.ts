import { describe, expect, test } from 'vitest'
import { freshEngine, movableClock, notes, plain, refusal } from '../support/engine.ts'

describe('a client request token', () => {
  test('makes a repeated transaction happen once, and is forgotten after ten minutes', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await engine.createTable(plain)
    const add = (amount: number) =>
      engine.transactWriteItems({
        ClientRequestToken: 'same',
        TransactItems: [
          {
            Update: {
              TableName: 'plain',
              Key: { id: 'counter' },
              UpdateExpression: 'ADD n :n',
              ExpressionAttributeValues: { ':n': amount },
            },
          },
        ],
      })
    const counted = async () =>
      (await engine.getItem({ TableName: 'plain', Key: { id: 'counter' } })).Item?.['n']
    await add(1)
    await add(1)
    expect(await counted()).toBe(1)
    expect((await refusal(add(2))).name).toBe('IdempotentParameterMismatchException')
    clock.advanceSeconds(601)
    await add(2)
    expect(await counted()).toBe(3)
  })
})

describe('time to live', () => {
  test('deletes items within a sweep after their time, and no others', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await engine.createTable(plain)
    await engine.updateTimeToLive({
      TableName: 'plain',
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    })
    const now = Math.floor(clock.now() / 1000)
    await engine.putItem({ TableName: 'plain', Item: { id: 'soon', expires: now + 10 } })
    await engine.putItem({ TableName: 'plain', Item: { id: 'later', expires: now + 1000 } })
    await engine.putItem({ TableName: 'plain', Item: { id: 'text', expires: 'never' } })
    expect(await engine.sweep()).toBe(0)
    clock.advanceSeconds(60)
    expect(await engine.sweep()).toBe(1)
    const { Items } = await engine.scan({ TableName: 'plain' })
    expect(Items?.map((item) => item['id']).toSorted()).toEqual(['later', 'text'])
  })

  test('is described, and cannot be enabled twice or disabled twice', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const set = (AttributeName: string, Enabled: boolean) =>
      engine.updateTimeToLive({
        TableName: 'plain',
        TimeToLiveSpecification: { AttributeName, Enabled },
      })
    const described = () => engine.describeTimeToLive({ TableName: 'plain' })
    expect((await refusal(set('at', false))).message).toBe('TimeToLive is already disabled')
    await set('at', true)
    expect(await described()).toEqual({
      TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'at' },
    })
    expect((await refusal(set('at', true))).message).toBe('TimeToLive is already enabled')
    expect((await refusal(set('other', true))).message).toContain('different AttributeName')
    await set('at', false)
    expect(await described()).toEqual({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } })
  })
})

describe('tables', () => {
  test('are described with the parameters of their creation', async () => {
    const engine = await freshEngine({ region: 'eu-test-1' })
    await engine.createTable({ ...notes, Tags: [{ Key: 'team', Value: 'a' }] })
    const { Table } = await engine.describeTable({ TableName: 'notes' })
    expect(Table).toMatchObject({
      TableName: 'notes',
      TableStatus: 'ACTIVE',
      TableArn: 'arn:aws:dynamodb:eu-test-1:000000000000:table/notes',
      KeySchema: notes.KeySchema,
      AttributeDefinitions: notes.AttributeDefinitions,
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    })
    const arn = Table?.TableArn ?? ''
    expect(await engine.describeTable({ TableName: arn })).toEqual({ Table })
    await engine.tagResource({ ResourceArn: arn, Tags: [{ Key: 'env', Value: 'test' }] })
    await engine.untagResource({ ResourceArn: arn, TagKeys: ['team'] })
    expect(await engine.listTagsOfResource({ ResourceArn: arn })).toEqual({
      Tags: [{ Key: 'env', Value: 'test' }],
    })
  })

  test('protected against deletion stay', async () => {
    const engine = await freshEngine()
    await engine.createTable({ ...plain, DeletionProtectionEnabled: true })
    const error = await refusal(engine.deleteTable({ TableName: 'plain' }))
    expect(error.message).toContain('protected against deletion')
    await engine.updateTable({ TableName: 'plain', DeletionProtectionEnabled: false })
    await engine.deleteTable({ TableName: 'plain' })
    expect(await engine.listTables({})).toEqual({ TableNames: [] })
  })

  test('remember whether point-in-time recovery is wanted', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const status = async () => {
      const output = await engine.describeContinuousBackups({ TableName: 'plain' })
      return output.ContinuousBackupsDescription?.PointInTimeRecoveryDescription
        ?.PointInTimeRecoveryStatus
    }
    const set = (PointInTimeRecoveryEnabled: boolean) =>
      engine.updateContinuousBackups({
        TableName: 'plain',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled },
      })
    expect(await status()).toBe('DISABLED')
    await set(true)
    expect(await status()).toBe('ENABLED')
    await set(false)
    expect(await status()).toBe('DISABLED')
  })

  test('that come to be on demand leave no throughput to their indexes', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    const throughputs = async () => {
      const { Table } = await engine.describeTable({ TableName: 'notes' })
      return Table?.GlobalSecondaryIndexes?.map((index) => index.ProvisionedThroughput)
    }
    const onDemand = await throughputs()
    const ProvisionedThroughput = { ReadCapacityUnits: 5, WriteCapacityUnits: 6 }
    const { GlobalSecondaryIndexes: indexes = [] } = notes
    await engine.updateTable({
      TableName: 'notes',
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput,
      GlobalSecondaryIndexUpdates: indexes.map(({ IndexName }) => ({
        Update: { IndexName, ProvisionedThroughput },
      })),
    })
    expect(await throughputs()).toMatchObject(indexes.map(() => ProvisionedThroughput))
    await engine.updateTable({ TableName: 'notes', BillingMode: 'PAY_PER_REQUEST' })
    expect(await throughputs()).toEqual(onDemand)
  })

  test("accept parameters about AWS's infrastructure without effect", async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const before = await engine.describeTable({ TableName: 'plain' })
    const OnDemandThroughput = { MaxReadRequestUnits: 5 }
    await engine.handle('UpdateTable', { TableName: 'plain', OnDemandThroughput })
    expect(await engine.describeTable({ TableName: 'plain' })).toEqual(before)
  })

  test('refuse any number of names that they cannot have, soon', async () => {
    const engine = await freshEngine()
    const names = Array.from({ length: 100_000 }, (_, n) => `a${n}`)
    const defined = names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const }))
    const unused = await refusal(
      engine.createTable({
        ...plain,
        AttributeDefinitions: [...plain.AttributeDefinitions, ...defined],
      }),
    )
    expect(unused.message).toContain('does not exactly match number of attributes')
    const [index] = notes.GlobalSecondaryIndexes ?? []
    const Projection = { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: names }
    const GlobalSecondaryIndexes = index ? [{ ...index, Projection }] : []
    const projected = await refusal(engine.createTable({ ...notes, GlobalSecondaryIndexes }))
    expect(projected.message).toContain('Sum of projected attributes')
  })

  test('accept any number of attribute definitions', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const AttributeDefinitions = Array.from({ length: 200_000 }, (_, n) => ({
      AttributeName: `a${n}`,
      AttributeType: 'S' as const,
    }))
    const { TableDescription } = await engine.updateTable({
      TableName: 'plain',
      AttributeDefinitions,
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'by-a7',
            KeySchema: [{ AttributeName: 'a7', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        },
      ],
    })
    const names = TableDescription?.AttributeDefinitions?.map((each) => each.AttributeName)
    expect(names).toEqual(['id', 'a7'])
  })

  test('may be called __proto__, in every operation', async () => {
    const engine = await freshEngine()
    await engine.createTable({ ...plain, TableName: '__proto__' })
    const requests = JSON.parse('{"__proto__":[{"PutRequest":{"Item":{"id":"a"}}}]}')
    await engine.batchWriteItem({ RequestItems: requests })
    const keys = JSON.parse('{"__proto__":{"Keys":[{"id":"a"}]}}')
    const { Responses = {} } = await engine.batchGetItem({ RequestItems: keys })
    expect(Object.entries(Responses)).toEqual([['__proto__', [{ id: 'a' }]]])
  })

  test('and their items are there after the engine is closed and opened again', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await engine.putItem({ TableName: 'plain', Item: { id: 'kept' } })
    const { directory } = engine.storage
    await engine.close()
    const again = await freshEngine({ directory })
    expect(await again.getItem({ TableName: 'plain', Key: { id: 'kept' } })).toEqual({
      Item: { id: 'kept' },
    })
  })
})

describe('the ARN of a table', () => {
  const arn = 'arn:aws:dynamodb:local:000000000000:table/plain'

  test('can be used instead of its name, even to create it', async () => {
    const engine = await freshEngine()
    await engine.createTable({ ...plain, TableName: arn })
    expect((await engine.listTables({})).TableNames).toEqual(['plain'])
    await engine.putItem({ TableName: arn, Item: { id: 'a' } })
    expect(await engine.getItem({ TableName: 'plain', Key: { id: 'a' } })).toEqual({
      Item: { id: 'a' },
    })
  })

  test('is no name of anything else', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const asIndex = await refusal(engine.scan({ TableName: 'plain', IndexName: arn }))
    expect(asIndex.message).toContain("at 'indexName' failed to satisfy constraint")
    const asBackup = await refusal(engine.createBackup({ TableName: 'plain', BackupName: arn }))
    expect(asBackup.message).toContain("at 'backupName' failed to satisfy constraint")
  })
})
