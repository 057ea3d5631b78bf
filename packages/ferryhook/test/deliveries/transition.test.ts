import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '@strongroom/kit/ids'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { DeliveryItem } from '../../src/deliveries/item.ts'
import { deliveryStates, noDeliveries } from '../../src/deliveries/state.ts'
import { createTransitions, newDelivery, type Transition } from '../../src/deliveries/transition.ts'
import type { Event } from '../../src/events/item.ts'

const id = <const Prefix extends string>(prefix: Prefix) =>
  fc.constant(null).map(() => newId(prefix))
const milliseconds = fc.integer({ min: 1_000_000_000_000, max: 9_999_999_999_999 })
const seconds = fc.integer({ min: 1, max: 9_999_999_999 })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const transition: fc.Arbitrary<Transition> = fc.record({
  task: fc.record({
    eventId: id('evt'),
    connectionId: id('conn'),
    sourceId: id('src'),
    userId: id('usr'),
    receivedAt: milliseconds,
    run: fc.integer({ min: 1, max: 1_000 }),
    replayId: optional(id('rpl')),
    attemptNumber: fc.integer({ min: 1, max: 8 }),
    keptUntil: seconds,
  }),
  from: fc.constantFrom(...deliveryStates),
  to: fc.constantFrom(...deliveryStates),
  reason: optional(fc.string({ minLength: 1, maxLength: 200 })),
  claimedAt: optional(milliseconds),
  next: optional(
    fc.record(
      { PK: fc.string(), SK: fc.string(), dueAt: milliseconds },
      { requiredKeys: ['PK', 'SK'] },
    ),
  ),
})

// To save time, the worker does not validate the deliveries that it puts, so these tests do.

test('a transition puts only valid deliveries', async () => {
  const event = { counts: noDeliveries } as Event
  await fc.assert(
    fc.asyncProperty(transition, seconds, async (change, expiresAt) => {
      const { prepare } = createTransitions({
        clock: testClock(),
        events: { updateStatus: () => ({ parts: [], after: { ...event, expiresAt } }) } as never,
        attempts: { extendExpiryParts: async () => [] },
        activity: { countPart: () => ({}) },
      })
      const { parts, delivery } = await prepare(event, change)
      expect(DeliveryItem.strict().parse(parts[0]?.Put?.Item)).toStrictEqual(delivery)
    }),
  )
})

test('a new delivery is valid', () => {
  fc.assert(
    fc.property(transition, milliseconds, ({ task, next }, now) => {
      const delivery = newDelivery(task, now, next)
      expect(DeliveryItem.strict().parse(delivery)).toStrictEqual(delivery)
    }),
  )
})
