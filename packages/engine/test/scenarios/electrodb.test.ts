/** A program on ElectroDB: two entities in one table, a collection, cursors and transactions. */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { Entity, Service } from 'electrodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { becomesActive, failure, freshName, tableInput } from '../../conformance/harness.ts'
import { openProgramTargets } from '../../conformance/program-targets.ts'

for (const target of await openProgramTargets()) {
  describe(`ElectroDB on ${target.name}`, () => {
    const table = freshName()
    const { client } = target

    beforeAll(async () => {
      const shape = {
        key: { pk: 'S', sk: 'S' },
        global: { gsi1: { key: { gsi1pk: 'S', gsi1sk: 'S' } } },
      } as const
      await client.send(new CreateTableCommand(tableInput(table, shape)))
      await becomesActive(client, table)
    })
    afterAll(() => target.close())

    const Task = new Entity(
      {
        model: { entity: 'task', version: '1', service: 'work' },
        attributes: {
          team: { type: 'string', required: true },
          task: { type: 'string', required: true },
          owner: { type: 'string', required: true },
          status: { type: ['open', 'closed'] as const, default: 'open' },
          points: { type: 'number' },
          tags: { type: 'set', items: 'string' },
          comments: {
            type: 'list',
            items: {
              type: 'map',
              properties: { by: { type: 'string' }, text: { type: 'string' } },
            },
          },
        },
        indexes: {
          task: {
            pk: { field: 'pk', composite: ['team'] },
            sk: { field: 'sk', composite: ['task'] },
          },
          owned: {
            index: 'gsi1',
            collection: 'workload',
            pk: { field: 'gsi1pk', composite: ['owner'] },
            sk: { field: 'gsi1sk', composite: ['status', 'task'] },
          },
        },
      },
      { client, table },
    )
    const Member = new Entity(
      {
        model: { entity: 'member', version: '1', service: 'work' },
        attributes: {
          owner: { type: 'string', required: true },
          name: { type: 'string', required: true },
          since: { type: 'number', required: true },
        },
        indexes: {
          member: { pk: { field: 'pk', composite: ['owner'] }, sk: { field: 'sk', composite: [] } },
          work: {
            index: 'gsi1',
            collection: 'workload',
            pk: { field: 'gsi1pk', composite: ['owner'] },
            sk: { field: 'gsi1sk', composite: [] },
          },
        },
      },
      { client, table },
    )
    const Work = new Service({ task: Task, member: Member }, { client, table })

    test('creates once, gets, and refuses to create again', async () => {
      const task = { team: 'core', task: 't1', owner: 'ada', points: 3, tags: ['a', 'b'] }
      const { data } = await Task.create(task).go()
      expect(data).toMatchObject({ ...task, status: 'open' })
      expect((await Task.get({ team: 'core', task: 't1' }).go()).data).toEqual(data)
      expect((await Task.get({ team: 'core', task: 'nothing' }).go()).data).toBeNull()
      expect((await failure(Task.create(task).go())).message).toMatch(/conditional request failed/)
    })

    test('queries by begins, by between and by filter, and pages with cursors', async () => {
      await Task.put(
        Array.from({ length: 7 }, (_, n) => ({
          team: 'paged',
          task: `t${n}`,
          owner: 'bob',
          points: n,
        })),
      ).go()
      const begins = await Task.query.task({ team: 'paged' }).begins({ task: 't' }).go({ limit: 3 })
      expect(begins.data.map(({ task }) => task)).toEqual(['t0', 't1', 't2'])
      const next = await Task.query
        .task({ team: 'paged' })
        .begins({ task: 't' })
        .go({ limit: 3, cursor: begins.cursor })
      expect(next.data.map(({ task }) => task)).toEqual(['t3', 't4', 't5'])
      const between = await Task.query
        .task({ team: 'paged' })
        .between({ task: 't1' }, { task: 't3' })
        .go({ order: 'desc' })
      expect(between.data.map(({ task }) => task)).toEqual(['t3', 't2', 't1'])
      const filtered = await Task.query
        .task({ team: 'paged' })
        .where(({ points }, { gte }) => gte(points, 5))
        .go({ pages: 'all' })
      expect(filtered.data.map(({ points }) => points)).toEqual([5, 6])
    })

    test('patches, adds, appends, removes and upserts', async () => {
      const key = { team: 'core', task: 'changed' }
      await Task.create({ ...key, owner: 'ada', points: 1, tags: ['x'] }).go()
      const { data } = await Task.patch(key)
        .set({ status: 'closed' })
        .add({ points: 4, tags: ['y'] })
        .append({ comments: [{ by: 'bob', text: 'done' }] })
        .go({ response: 'all_new' })
      expect(data).toMatchObject({
        status: 'closed',
        points: 5,
        comments: [{ by: 'bob', text: 'done' }],
      })
      expect(data.tags?.toSorted()).toEqual(['x', 'y'])
      await Task.update(key)
        .remove(['points'])
        .delete({ tags: ['x'] })
        .go()
      const { data: left } = await Task.get(key).go()
      expect(left?.points).toBeUndefined()
      expect(left?.tags).toEqual(['y'])
      expect(
        (await failure(Task.patch({ team: 'core', task: 'missing' }).set({ points: 1 }).go()))
          .message,
      ).toMatch(/conditional request failed/)
      await Task.upsert({ ...key, owner: 'cy', points: 9 }).go()
      expect((await Task.get(key).go()).data).toMatchObject({ owner: 'cy', points: 9 })
    })

    test('reads a collection of both entities through the index', async () => {
      await Member.create({ owner: 'dee', name: 'Dee', since: 2020 }).go()
      await Task.create({ team: 'core', task: 'of dee', owner: 'dee' }).go()
      const { data } = await Work.collections.workload({ owner: 'dee' }).go()
      expect(data.task.map(({ task }) => task)).toEqual(['of dee'])
      expect(data.member.map(({ name }) => name)).toEqual(['Dee'])
    })

    test('gets and deletes in batches, and scans', async () => {
      const keys = [0, 1, 2].map((n) => ({ team: 'batch', task: `b${n}` }))
      await Task.put(keys.map((key) => ({ ...key, owner: 'eve' }))).go()
      const { data, unprocessed } = await Task.get(keys).go()
      expect(data).toHaveLength(3)
      expect(unprocessed).toEqual([])
      await Task.delete(keys).go()
      expect((await Task.get(keys).go()).data).toEqual([])
      const scanned = await Task.scan
        .where(({ owner }, { eq }) => eq(owner, 'bob'))
        .go({ pages: 'all' })
      expect(scanned.data).toHaveLength(7)
    })

    test('writes and reads in transactions', async () => {
      const { canceled } = await Work.transaction
        .write(({ task, member }) => [
          member.create({ owner: 'flo', name: 'Flo', since: 2021 }).commit(),
          task.create({ team: 'core', task: 'of flo', owner: 'flo' }).commit(),
        ])
        .go()
      expect(canceled).toBe(false)
      const again = await Work.transaction
        .write(({ task, member }) => [
          member.create({ owner: 'flo', name: 'Flo', since: 2022 }).commit(),
          task.create({ team: 'core', task: 'second of flo', owner: 'flo' }).commit(),
        ])
        .go()
      expect(again.canceled).toBe(true)
      expect(again.data.map(({ rejected, code }) => [rejected, code])).toEqual([
        [true, 'ConditionalCheckFailed'],
        [false, 'None'],
      ])
      const { data } = await Work.transaction
        .get(({ task, member }) => [
          member.get({ owner: 'flo' }).commit(),
          task.get({ team: 'core', task: 'second of flo' }).commit(),
        ])
        .go()
      expect(data.map(({ item }) => (item === null ? null : 'item'))).toEqual(['item', null])
    })

    test('of ten simultaneous creators exactly one succeeds', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, () =>
          Task.create({ team: 'core', task: 'contested', owner: 'ada' }).go(),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })
  })
}
