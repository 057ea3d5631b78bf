/** A fake Slack, a store, and the checkers of one machine or several. */
import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import { afterAll, beforeAll, expect } from 'vitest'
import {
  type CheckerOptions,
  createExistenceChecker,
  type RunningChecker,
} from '../../src/existence/checker.ts'
import { createKnownIdStore } from '../../src/existence/known-id-store.ts'
import { createFakeSlack, type FakeSlack } from '../../src/fake-slack/fake-slack.ts'
import type { FakeTeam } from '../../src/fake-slack/fixtures.ts'
import { createStores } from '../../src/stores.ts'
import { cacheTable, dedupeTable, tokensTable } from '../../src/tables.ts'
import { newIds } from './open-store.ts'

export const APP = 'deploy-bot'

export interface TestCheckers {
  clock: TestClock
  timers: TestTimers
  slack: FakeSlack
  /** A checker with its own caches. */
  machine(options?: Partial<CheckerOptions>): RunningChecker
}

/** Without a store: each machine has only its own caches. */
export function createTestCheckers(
  teams: readonly FakeTeam[],
  options: { limits?: boolean } = {},
): TestCheckers {
  const clock = testClock()
  const timers = testTimers(clock)
  const wait = async (ms: number) => new Promise<void>((resolve) => void timers.start(ms, resolve))
  const slack = createFakeSlack({ teams, clock, wait, ...options })
  const tokens = new Map(
    teams.map(({ id, token, orgWide, enterprise = id }) => [orgWide ? enterprise : id, token]),
  )
  return {
    clock,
    timers,
    slack,
    machine: (given) =>
      createExistenceChecker({
        tokenOf: async (team) => tokens.get(team),
        fetch: slack.fetch,
        clock,
        startTimer: timers.start,
        ...given,
      }),
  }
}

/** The stores of a machine of the first app. */
export function storesOf(db: Db, clock: TestClock) {
  return {
    cache: createStores({ db, clock }).cache,
    knownStore: createKnownIdStore(db, APP),
  }
}

export function openDb(store: TestStore): { db: Db } {
  const opened = {} as Awaited<ReturnType<TestStore['open']>>
  beforeAll(async () => {
    Object.assign(opened, await store.open())
    await createTables(opened.db, [
      cacheTable,
      tokensTable,
      dedupeTable,
      serverTable,
      operationsTable,
    ])
  })
  afterAll(() => opened.close())
  return opened
}

/** A workspace with one user and one channel, with unique ids. */
export function newTeam(given: Partial<FakeTeam> = {}) {
  const ids = newIds()
  const team = {
    id: ids.team,
    token: `xoxb-of-${ids.team}`,
    users: [{ id: ids.user }],
    channels: [{ id: ids.channel }],
    ...given,
  } satisfies FakeTeam
  return { ids, team }
}

export const refused = (reason: string) => ({ ok: false, kind: 'refused', reason })
export const undecidable = (reason: string) =>
  expect.objectContaining({ ok: false, kind: 'undecidable', reason })
