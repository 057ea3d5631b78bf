/** A program on dynamodb-toolbox: a table, an entity, and its commands one by one. */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Entity } from 'dynamodb-toolbox/entity'
import { BatchGetRequest } from 'dynamodb-toolbox/entity/actions/batchGet'
import { BatchPutRequest } from 'dynamodb-toolbox/entity/actions/batchPut'
import { DeleteItemCommand } from 'dynamodb-toolbox/entity/actions/delete'
import { GetItemCommand } from 'dynamodb-toolbox/entity/actions/get'
import { PutItemCommand } from 'dynamodb-toolbox/entity/actions/put'
import { ConditionCheck } from 'dynamodb-toolbox/entity/actions/transactCheck'
import { PutTransaction } from 'dynamodb-toolbox/entity/actions/transactPut'
import { execute as executeWrites } from 'dynamodb-toolbox/entity/actions/transactWrite'
import {
  $add,
  $append,
  $delete,
  $remove,
  $subtract,
  $get,
  UpdateItemCommand,
} from 'dynamodb-toolbox/entity/actions/update'
import { item } from 'dynamodb-toolbox/schema/item'
import { list } from 'dynamodb-toolbox/schema/list'
import { map } from 'dynamodb-toolbox/schema/map'
import { number } from 'dynamodb-toolbox/schema/number'
import { set } from 'dynamodb-toolbox/schema/set'
import { string } from 'dynamodb-toolbox/schema/string'
import { Table } from 'dynamodb-toolbox/table'
import { BatchGetCommand, execute as executeGets } from 'dynamodb-toolbox/table/actions/batchGet'
import {
  BatchWriteCommand,
  execute as executePuts,
} from 'dynamodb-toolbox/table/actions/batchWrite'
import { QueryCommand } from 'dynamodb-toolbox/table/actions/query'
import { ScanCommand } from 'dynamodb-toolbox/table/actions/scan'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { becomesActive, failure, freshName, tableInput } from '../../conformance/harness.ts'
import { openProgramTargets } from '../../conformance/program-targets.ts'

const key = (task: string) => ({ team: 'core', task })

for (const target of await openProgramTargets()) {
  describe(`dynamodb-toolbox on ${target.name}`, () => {
    const name = freshName()
    const { client } = target

    beforeAll(async () => {
      const shape = {
        key: { pk: 'S', sk: 'S' },
        global: { 'by-owner': { key: { owner: 'S', points: 'N' } } },
      } as const
      await client.send(new CreateTableCommand(tableInput(name, shape)))
      await becomesActive(client, name)
    })
    afterAll(() => target.close())

    const table = new Table({
      name,
      documentClient: DynamoDBDocumentClient.from(client, {
        marshallOptions: { removeUndefinedValues: true },
      }),
      partitionKey: { name: 'pk', type: 'string' },
      sortKey: { name: 'sk', type: 'string' },
      indexes: {
        'by-owner': {
          type: 'global',
          partitionKey: { name: 'owner', type: 'string' },
          sortKey: { name: 'points', type: 'number' },
        },
      },
    })
    const Task = new Entity({
      name: 'Task',
      table,
      schema: item({
        team: string().key().savedAs('pk'),
        task: string().key().savedAs('sk'),
        owner: string().optional(),
        points: number().optional(),
        tags: set(string()).optional(),
        notes: list(string()).optional(),
        place: map({ city: string().optional(), zip: string().optional() }).optional(),
      }),
    })
    const stored = async (task: string) =>
      (await Task.build(GetItemCommand).key(key(task)).options({ consistent: true }).send()).Item

    test('puts, gets and deletes', async () => {
      const task = {
        ...key('t1'),
        owner: 'ada',
        points: 3,
        tags: new Set(['a', 'b']),
        notes: ['x'],
      }
      await Task.build(PutItemCommand).item(task).send()
      expect(await stored('t1')).toMatchObject(task)
      const { Attributes } = await Task.build(DeleteItemCommand)
        .key(key('t1'))
        .options({ returnValues: 'ALL_OLD' })
        .send()
      expect(Attributes).toMatchObject(task)
      expect(await stored('t1')).toBeUndefined()
    })

    test('puts only under a condition', async () => {
      const put = Task.build(PutItemCommand)
        .item(key('guarded'))
        .options({ condition: { attr: 'team', exists: false } })
      await put.send()
      expect((await failure(put.send())).name).toBe('ConditionalCheckFailedException')
    })

    test('updates with every kind of change', async () => {
      await Task.build(PutItemCommand)
        .item({
          ...key('changed'),
          owner: 'ada',
          points: 5,
          tags: new Set(['a', 'b']),
          notes: ['one'],
          place: { city: 'Bern', zip: '3000' },
        })
        .send()
      const { Attributes } = await Task.build(UpdateItemCommand)
        .item({
          ...key('changed'),
          owner: $remove(),
          points: $subtract($get('points'), 2),
          tags: $delete(new Set(['a'])),
          notes: $append(['two']),
          place: { zip: '3001' },
        })
        .options({ returnValues: 'ALL_NEW' })
        .send()
      expect(Attributes).toMatchObject({
        points: 3,
        tags: new Set(['b']),
        notes: ['one', 'two'],
        place: { city: 'Bern', zip: '3001' },
      })
      expect(Attributes).not.toHaveProperty('owner')
      await Task.build(UpdateItemCommand)
        .item({ ...key('changed'), points: $add(10) })
        .send()
      expect((await stored('changed'))?.points).toBe(13)
    })

    test('queries the table and the index, with filters and pages', async () => {
      for (let points = 0; points < 6; points += 1) {
        await Task.build(PutItemCommand)
          .item({ team: 'paged', task: `t${points}`, owner: 'bob', points })
          .send()
      }
      const begins = await table
        .build(QueryCommand)
        .entities(Task)
        .query({ partition: 'paged', range: { beginsWith: 't' } })
        .options({ limit: 4 })
        .send()
      expect(begins.Items?.map(({ task }) => task)).toEqual(['t0', 't1', 't2', 't3'])
      expect(begins.LastEvaluatedKey).toEqual({ pk: 'paged', sk: 't3' })
      const indexed = await table
        .build(QueryCommand)
        .entities(Task)
        .query({ index: 'by-owner', partition: 'bob', range: { gte: 2 } })
        .options({ reverse: true, filters: { Task: { attr: 'task', ne: 't4' } } })
        .send()
      expect(indexed.Items?.map(({ points }) => points)).toEqual([5, 3, 2])
      const scanned = await table.build(ScanCommand).entities(Task).send()
      expect(scanned.Items?.filter(({ team }) => team === 'paged')).toHaveLength(6)
    })

    test('writes and reads in batches', async () => {
      const requests = [0, 1, 2].map((n) => Task.build(BatchPutRequest).item(key(`batch${n}`)))
      await executePuts(table.build(BatchWriteCommand).requests(...requests))
      const { Responses } = await executeGets(
        table
          .build(BatchGetCommand)
          .requests(...[0, 1, 9].map((n) => Task.build(BatchGetRequest).key(key(`batch${n}`)))),
      )
      expect(Responses?.[0].filter((one) => one !== undefined)).toHaveLength(2)
    })

    test('writes in transactions', async () => {
      await executeWrites(
        Task.build(PutTransaction).item(key('in transaction')),
        Task.build(ConditionCheck).key(key('nothing')).condition({ attr: 'team', exists: false }),
      )
      expect(await stored('in transaction')).toBeDefined()
      const error = await failure(
        executeWrites(
          Task.build(PutTransaction).item(key('not written')),
          Task.build(ConditionCheck)
            .key(key('in transaction'))
            .condition({ attr: 'team', exists: false }),
        ),
      )
      expect(error.name).toBe('TransactionCanceledException')
      expect(await stored('not written')).toBeUndefined()
    })
  })
}
