import { readFileSync } from 'node:fs'
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { openEngine } from '../src/engine.ts'
import { embedded } from '../src/wire/sdk.ts'
import { temporaryDirectory } from './support/programs/harness.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

test('the example of the manual opens a new directory and reads by the SDK what was written in process', async () => {
  const directory = temporaryDirectory()
  // faces
  // 1. In process, with plain values: no SDK, no serialisation, no HTTP.
  const db = await openEngine({ directory })
  await db.createTable({
    TableName: 'notes',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  await db.putItem({ TableName: 'notes', Item: { id: 'n1', text: 'hello' } })

  // 2. Behind the AWS SDK, in process: ElectroDB, dynamodb-toolbox and your own code run unchanged.
  const client = new DynamoDBClient({ ...embedded(db) })
  const get = new GetItemCommand({ TableName: 'notes', Key: { id: { S: 'n1' } } })
  const { Item } = await client.send(get) // { id: { S: 'n1' }, text: { S: 'hello' } }
  // end
  expect(Item).toEqual({ id: { S: 'n1' }, text: { S: 'hello' } })
  await db.close()

  const [, run = ''] = /^ *\/\/ faces\n(.*?)\n *\/\/ end$/ms.exec(read('./manual.test.ts')) ?? []
  const shown = /<!-- faces -->\n\n```ts\n(?:import [^\n]*\n)+\n(.*?)\n```\n/s.exec(
    read('../../../docs/engine.md'),
  )
  expect(shown?.[1]?.replace("directory: './notes'", 'directory')).toBe(
    run.replaceAll(/^ {2}/gm, ''),
  )
})
