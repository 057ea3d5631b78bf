/** An account with a day of events, for pages that show figures. */
import { testClock } from '@strongroom/kit/testing/test-clock'
import { deliver } from '../../../ferryhook/test/support/people.ts'
import { eventInput, storesOn } from '../../../ferryhook/test/support/test-stores.ts'
import { type ConsoleServer, PASSWORD } from './console-server.ts'

export interface SeededAccount {
  email: string
  userId: string
  /** An access token of the user. */
  token: string
  sources: { stripe: string; github: string }
  connections: { healthy: string; failing: string; paused: string }
}

type Server = Pick<ConsoleServer, 'api' | 'addUser' | 'db' | 'origin'>

export async function addAccount({ api, addUser }: Server) {
  const { email } = await addUser()
  const { body } = await api<{ accessToken: string; user: { id: string } }>(
    'POST',
    '/ferryhook/v1/auth/login',
    { json: { email, password: PASSWORD } },
  )
  return { email, userId: body.user.id, token: body.accessToken }
}

/** Needs a server that does not deliver by itself (`FERRYHOOK_DELIVER=false`). */
export async function seedAccount(server: Server): Promise<SeededAccount> {
  const account = await addAccount(server)
  const { token, userId } = account
  const make = async (path: string, json: object) => {
    const { status, body } = await server.api<{ id: string }>('POST', `/ferryhook/v1${path}`, {
      token,
      json,
    })
    if (status !== 201) throw new Error(`Cannot create ${path}: ${JSON.stringify(body)}`)
    return body.id
  }
  const clock = testClock(Date.now() - 23 * 3_600_000)
  const stores = storesOn(server.db, clock)
  // As old as its events, because earlier ones are not counted as usage.
  const addSource = async (name: string) =>
    (await stores.sources.create({ userId, name, provider: 'custom' })).sourceId
  const stripe = await addSource('Stripe production')
  const github = await addSource('GitHub acme/shop')
  const connect = (source: string, name: string) =>
    make(`/sources/${source}/connections`, { name, destinationUrl: 'test:200' })
  const healthy = await connect(stripe, 'Billing service')
  const failing = await connect(stripe, 'Data warehouse')
  const paused = await connect(github, 'Ops channel')

  const receive = (sourceId: string, status?: 'signature_failed') =>
    stores.events.create(eventInput({ sourceId, userId, ...(status && { status }) }))
  for (let hour = 0; hour < 23; hour++) {
    for (let n = 0; n < 2 + (hour % 4); n++) {
      const event = await receive(stripe)
      clock.advance({ ms: 60 + 7 * hour + 400 * (n % 2) })
      await deliver({ stores, clock }, event, [healthy])
    }
    if (hour % 6 === 0) await receive(github, 'signature_failed')
    if (hour > 19) {
      const event = await receive(stripe)
      clock.advance({ ms: 900 })
      await deliver({ stores, clock }, event, [failing], hour === 22 ? 'retrying' : 'failed')
    }
    clock.advance({ minutes: 59 })
  }
  await stores.connectionHealth.add(
    { connectionId: failing, sourceId: stripe },
    { succeeded: false, failedAttempts: 12, firstFailureAt: clock.now() - 3_600_000 },
  )
  await server.api('POST', `/ferryhook/v1/connections/${paused}/pause`, { token })
  return { ...account, sources: { stripe, github }, connections: { healthy, failing, paused } }
}
