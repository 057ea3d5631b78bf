/** A user with a source and its events, on the test API. */
import type { CreateEventInput } from '../../src/events/event-insert.ts'
import type { Event } from '../../src/events/item.ts'
import type { Answer, Call, OpenApi, Person } from './test-api.ts'
import { attemptResult, deliveryTasksOf, eventInput, required, routeTaskOf } from './test-stores.ts'

export interface Owner {
  person: Person
  sourceId: string
  /** Defaults to the user's own token. */
  ask(method: string, path: string, call?: Call): Promise<Answer>
  receive(given?: Partial<CreateEventInput>): Promise<Event>
}

export async function ownerOf(api: OpenApi, given: object = {}): Promise<Owner> {
  const person = await api.person()
  const sourceId = await api.source(person, given)
  return {
    person,
    sourceId,
    ask: (method, path, call = {}) => api.ask(method, path, { token: person.token, ...call }),
    receive: (more = {}) =>
      api.stores.events.create(eventInput({ sourceId, userId: person.id, ...more })),
  }
}

type Outcome = 'delivered' | 'failed' | 'retrying'

/** Routes an event to connections and, by default, delivers it. */
export async function deliver(
  { stores, clock }: Pick<OpenApi, 'stores' | 'clock'>,
  { eventId }: Pick<Event, 'eventId'>,
  connectionIds: readonly string[],
  outcome: Outcome = 'delivered',
): Promise<void> {
  const targets = connectionIds.map((connectionId) => ({ connectionId }))
  await stores.routing.route(await routeTaskOf(stores, eventId), targets)
  await settleDue({ stores, clock }, eventId, outcome)
}

/** Attempts every due delivery of the event. */
export async function settleDue(
  { stores, clock }: Pick<OpenApi, 'stores' | 'clock'>,
  eventId: string,
  outcome: Outcome | ((connectionId: string) => Outcome) = 'delivered',
): Promise<void> {
  for (const task of await deliveryTasksOf(stores, eventId)) {
    const leased = required(await stores.queue.claim(task, clock.now() + 25_000))
    const state = typeof outcome === 'string' ? outcome : outcome(task.connectionId)
    await stores.settlement.settle(leased, outcomeOf(state, { clock }))
  }
}

function outcomeOf(state: Outcome, { clock }: Pick<OpenApi, 'clock'>) {
  if (state === 'delivered') return { state, attempt: attemptResult(clock) }
  const attempt = attemptResult(clock, { statusCode: 500, responseBody: 'no' })
  if (state === 'failed') return { state, attempt, reason: 'exhausted' }
  return { state, attempt, nextAt: clock.now() + 30_000, reason: 'http_500' }
}
