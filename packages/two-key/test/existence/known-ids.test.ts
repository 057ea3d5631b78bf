import { serverTable } from '@strongroom/kit/server-table'
import { everyStore } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createKnownIds } from '../../src/existence/known-ids.ts'
import { createKnownIdStore } from '../../src/existence/known-id-store.ts'
import { newIds } from '../support/open-store.ts'
import { APP, openDb } from '../support/test-checkers.ts'

describe.each(everyStore())('ids verified in the last day, on $name', (store) => {
  const opened = openDb(store)

  function oneTeam() {
    const clock = testClock()
    const { team } = newIds()
    const machine = () =>
      createKnownIds({
        clock,
        store: createKnownIdStore(opened.db, APP),
        onFailed(error) {
          throw error
        },
      })
    const chunks = async () => {
      const { Items = [] } = await opened.db.query({
        TableName: serverTable.name,
        KeyConditionExpression: 'PK = :pk',
        ExpressionAttributeValues: { ':pk': `KNOWN#${APP}#${team}` },
        ConsistentRead: true,
      })
      return Items
    }
    return { clock, team, machine, chunks }
  }

  test('are known on another machine once they are saved', async () => {
    const { clock, team, machine, chunks } = oneTeam()
    const here = machine()
    await here.load(team)
    here.add(team, 'user:U1')
    await here.sync()
    expect(await chunks()).toEqual([
      {
        PK: `KNOWN#${APP}#${team}`,
        SK: expect.stringMatching(/^CHUNK#\d\d$/),
        ids: { 'user:U1': Math.floor(clock.now() / 1000) },
        revision: 1,
      },
    ])
    const there = machine()
    expect(there.has(team, 'user:U1')).toBe(false)
    await there.load(team)
    expect(there.has(team, 'user:U1')).toBe(true)
    expect(there.load(team)).toBeUndefined()
    expect(there.has(newIds().team, 'user:U1')).toBe(false)
  })

  test('are saved again only after an hour, and expire a day after the last time', async () => {
    const { clock, team, machine, chunks } = oneTeam()
    const known = machine()
    await known.load(team)
    known.add(team, 'user:U1')
    await known.sync()
    clock.advance({ minutes: 59 })
    known.add(team, 'user:U1')
    await known.sync()
    expect(await chunks()).toMatchObject([{ revision: 1 }])
    clock.advance({ minutes: 1 })
    known.add(team, 'user:U1')
    await known.sync()
    expect(await chunks()).toMatchObject([{ revision: 2 }])
    clock.advance({ hours: 23, minutes: 59 })
    expect(known.has(team, 'user:U1')).toBe(true)
    clock.advance({ minutes: 1 })
    expect(known.has(team, 'user:U1')).toBe(false)
    const restarted = machine()
    await restarted.load(team)
    expect(restarted.has(team, 'user:U1')).toBe(false)
  })

  test('of machines that save at the same time are all stored, in chunks', async () => {
    const { team, machine, chunks } = oneTeam()
    const names = Array.from({ length: 200 }, (_, at) => `user:U${at}`)
    const machines = await Promise.all(
      [0, 1].map(async (part) => {
        const known = machine()
        await known.load(team)
        for (const [at, name] of names.entries()) if (at % 2 === part) known.add(team, name)
        return known
      }),
    )
    await Promise.all(machines.map(async (known) => known.sync()))
    expect((await chunks()).length).toBeGreaterThan(8)
    const later = machine()
    await later.load(team)
    expect(names.every((name) => later.has(team, name))).toBe(true)
    await machines[0]?.sync()
    expect(machines[0]?.has(team, 'user:U1')).toBe(true)
  })

  test('older than a day are deleted with the next save of their chunk', async () => {
    const { clock, team, machine, chunks } = oneTeam()
    const known = machine()
    await known.load(team)
    known.add(team, 'user:U1')
    await known.sync()
    clock.advance({ hours: 25 })
    for (let at = 2; at < 60; at++) known.add(team, `user:U${at}`)
    await known.sync()
    const stored = (await chunks()).flatMap(({ ids }) => Object.keys(ids as object))
    expect(stored).toHaveLength(58)
    expect(stored).not.toContain('user:U1')
  })
})

test('when the store fails, ids of this process stay known, and the store is read again later', async () => {
  const clock = testClock()
  const failures: unknown[] = []
  let isDown = true
  const known = createKnownIds({
    clock,
    store: {
      load: async () =>
        isDown ? Promise.reject(new Error('down')) : new Map([['user:U2', clock.now() / 1000]]),
      save: async () => {},
    },
    onFailed: (error) => failures.push(error),
  })
  await known.load('T1')
  expect(failures).toHaveLength(1)
  known.add('T1', 'user:U1')
  expect(known.has('T1', 'user:U1')).toBe(true)
  await expect(known.sync()).rejects.toThrow('down')
  isDown = false
  await known.load('T1')
  expect(known.has('T1', 'user:U2')).toBe(true)
})

test('without a store, the known ids of a team are limited in number', () => {
  const known = createKnownIds({ clock: testClock(), store: undefined, onFailed() {} })
  for (let at = 0; at < 50_000; at++) known.add('T1', `user:U${at}`)
  known.add('T1', 'user:U0')
  known.add('T1', 'user:UNEW')
  const isKnown = (id: string) => known.has('T1', `user:${id}`)
  expect(['U0', 'U1', 'U2', 'UNEW'].map(isKnown)).toEqual([true, false, true, true])
})
