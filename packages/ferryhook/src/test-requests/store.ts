import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { transact } from '@strongroom/kit/transact'
import { epochSeconds } from '@strongroom/platform/clock'
import { absent, startsWith } from '../storage/conditions.ts'
import { isUnexpired, unlessExpired } from '../storage/time.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import {
  MAX_TEST_REQUESTS,
  TEST_REQUEST_SECONDS,
  TestContentItem,
  testContentKey,
  TestCounterItem,
  testCounterKey,
  type TestRequest,
  TestRequestItem,
  testRequestKey,
} from './item.ts'

export type TestRequestInput = Omit<TestRequest, 'PK' | 'SK' | 'receivedAt' | 'expiresAt'>

export function createTestRequestStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const requests = entity(db, eventsTable, TestRequestItem)
  const contents = entity(db, eventsTable, TestContentItem)
  const counters = entity(db, eventsTable, TestCounterItem)

  return {
    /** Numbers may be skipped, but none is given out twice while its request is stored. */
    async nextNumber(connectionId: string): Promise<number> {
      // Longer than any request, so that numbers start again only when there is none.
      const expiresAt = epochSeconds(clock) + 2 * TEST_REQUEST_SECONDS
      const [number, expiry] = [counters.attr('number'), counters.attr('expiresAt')]
      const counter = await counters.update(
        testCounterKey.of({ connectionId }),
        expr`SET ${expiry} = ${expiresAt} ADD ${number} ${1}`,
      )
      return counter.number
    },

    /** Replaces the request in its slot, unless that is a newer one of another worker. */
    async put(input: TestRequestInput, content: Uint8Array): Promise<void> {
      const now = epochSeconds(clock)
      const expiresAt = now + TEST_REQUEST_SECONDS
      const { connectionId, number } = input
      const place = { connectionId, slot: slotOf(number) }
      const older = expr`${requests.attr('number')} < ${number}`
      const expired = expr`${requests.attr('expiresAt')} <= ${now}`
      await conditionHeld(
        transact(db, [
          requests.part.put(
            { ...testRequestKey.of(place), ...input, receivedAt: clock.now(), expiresAt },
            expr`${absent} OR ${older} OR ${expired}`,
          ),
          contents.part.put({ ...testContentKey.of(place), number, content, expiresAt }),
        ]),
      )
    },

    /** Newest first. */
    async listByConnection(connectionId: string): Promise<TestRequest[]> {
      const key = startsWith(testRequestKey.of({ connectionId, slot: '' }))
      const { items } = await requests.query({ key })
      return items
        .filter((request) => isUnexpired(clock, request))
        .toSorted((a, b) => b.number - a.number)
    },

    /** The request and its sealed content; undefined if it expired or was replaced. */
    async get(
      connectionId: string,
      number: number,
    ): Promise<{ request: TestRequest; content: Uint8Array } | undefined> {
      const place = { connectionId, slot: slotOf(number) }
      const request = unlessExpired(clock, await requests.get(testRequestKey.of(place)))
      if (request?.number !== number) return undefined
      const stored = await contents.get(testContentKey.of(place))
      return stored?.number === number ? { request, content: stored.content } : undefined
    },
  }
}

function slotOf(number: number): number {
  return number % MAX_TEST_REQUESTS
}
