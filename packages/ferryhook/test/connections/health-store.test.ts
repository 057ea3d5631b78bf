import { ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OutcomeCounts } from '../../src/connections/health-store.ts'
import {
  connectionInput,
  openWorkbench,
  required,
  testWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(testWorlds())('the health of connections on $name', (world) => {
  let bench: Workbench
  let stores: Workbench['stores']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  const outcomes = (given: Partial<OutcomeCounts> = {}): OutcomeCounts => ({
    succeeded: false,
    failedAttempts: 0,
    ...given,
  })
  const iso = (ms: number) => new Date(ms).toISOString()
  const made = () => stores.connections.create(connectionInput())

  test('failures of many workers are added, and do not change the revision', async () => {
    const connection = await made()
    const some = outcomes({ failedAttempts: 3, firstFailureAt: bench.clock.now() })
    await Promise.all(times(5, () => stores.connectionHealth.add(connection, some)))
    expect(await stores.connections.getById(connection.connectionId)).toEqual({
      ...connection,
      failingSince: iso(bench.clock.now()),
      failedAttempts: 15,
      countedEnds: { delivered: 0, failed: 0 },
    })
  })

  test('it has been failing since the first failure after the last success', async () => {
    const connection = await made()
    const first = bench.clock.now()
    const add = (given: Partial<OutcomeCounts>) =>
      stores.connectionHealth.add(connection, outcomes(given))
    await add({ failedAttempts: 2, firstFailureAt: first })
    bench.clock.advance({ hours: 1 })
    expect(await add({ failedAttempts: 3, firstFailureAt: bench.clock.now() })).toMatchObject({
      failingSince: iso(first),
      failedAttempts: 5,
    })
    const again = await add({
      succeeded: true,
      failedAttempts: 1,
      firstFailureAt: bench.clock.now(),
    })
    expect(again).toMatchObject({ failingSince: iso(bench.clock.now()), failedAttempts: 1 })
    expect(await add({ succeeded: true })).toEqual({
      ...connection,
      countedEnds: { delivered: 0, failed: 0 },
    })
  })

  test('one of many concurrent warnings or pauses succeeds', async () => {
    const connection = await made()
    const { connectionHealth: health } = stores
    expect(await health.warn(connection)).toBe(false)
    const failing = required(
      await health.add(
        connection,
        outcomes({ failedAttempts: 9, firstFailureAt: bench.clock.now() }),
      ),
    )
    const warned = await Promise.all(times(8, () => health.warn(failing)))
    expect(warned.filter(Boolean)).toHaveLength(1)
    const paused = await Promise.all(times(8, () => health.pause(failing, 'failing')))
    expect(paused.filter(Boolean)).toHaveLength(1)
    expect(await stores.connections.getById(connection.connectionId)).toMatchObject({
      status: 'paused',
      statusReason: 'failing',
      warnedAt: iso(bench.clock.now()),
      rev: connection.rev + 1,
    })
  })

  test('a success resets the warning, so that the next failure is notified again', async () => {
    const connection = await made()
    const fail = () =>
      stores.connectionHealth.add(
        connection,
        outcomes({ failedAttempts: 1, firstFailureAt: bench.clock.now() }),
      )
    expect(await stores.connectionHealth.warn(required(await fail()))).toBe(true)
    await stores.connectionHealth.add(connection, outcomes({ succeeded: true }))
    expect(await stores.connectionHealth.warn(required(await fail()))).toBe(true)
  })

  test('activating a connection resets its health', async () => {
    const connection = await made()
    const { connectionId, sourceId } = connection
    const failing = required(
      await stores.connectionHealth.add(
        connection,
        outcomes({ failedAttempts: 1, firstFailureAt: bench.clock.now() }),
      ),
    )
    await stores.connectionHealth.warn(failing)
    await stores.connectionHealth.pause(failing, 'failing')
    const active = await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    for (const name of ['statusReason', 'failingSince', 'failedAttempts', 'warnedAt']) {
      expect(active).not.toHaveProperty(name)
    }
  })

  test('nothing is added to an unknown connection, and no invalid number to any', async () => {
    const gone = { connectionId: newId('conn'), sourceId: newId('src') }
    expect(await stores.connectionHealth.add(gone, outcomes({ succeeded: true }))).toBeUndefined()
    const adding = stores.connectionHealth.add(await made(), outcomes({ failedAttempts: -1 }))
    await expect(adding).rejects.toThrow(ItemMismatch)
  })
})
