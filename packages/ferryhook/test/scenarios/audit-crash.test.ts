import type { Item } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { AuditAction } from '../../src/accounts/audit/item.ts'
import { endingAfter } from '../support/ending-after.ts'
import { deliver, type Owner, ownerOf } from '../support/people.ts'
import { type Answer, openApi, PASSWORD } from '../support/test-api.ts'
import { required } from '../support/test-stores.ts'

/** An action, and the stored state that shows whether it happened. */
interface Deed {
  run(): Promise<Answer>
  /** Defaults to everything except request counters. */
  state?(): Promise<unknown>
}

describe.each(serviceStores())('a process that crashes at any write, on $name', (store) => {
  const api = openApi(store)
  const asOperator = (method: string, path: string, body?: unknown) =>
    api.ask(method, path, { token: api.operator, ...(body !== undefined && { body }) })

  async function stored(): Promise<Item[]> {
    const items: Item[] = []
    for (const TableName of ['ferryhook-main', 'ferryhook-events']) {
      let from: Item | undefined
      do {
        const page = await api.db.scan({
          TableName,
          ConsistentRead: true,
          ...(from && { ExclusiveStartKey: from }),
        })
        items.push(...(page.Items ?? []))
        from = page.LastEvaluatedKey
      } while (from)
    }
    return items
  }

  const isEntry = ({ SK }: Item) => String(SK).startsWith('AUDIT#')
  const isCounter = ({ PK }: Item) => String(PK).startsWith('RATE#')
  /** Whether the action happened, and how often it is in the audit log. */
  async function seen(action: AuditAction, state: Deed['state']) {
    const items = await stored()
    const entries = items.filter(isEntry).filter((item) => item['action'] === action).length
    const rest = items.filter((item) => !isEntry(item) && !isCounter(item))
    return { entries, state: JSON.stringify(state ? await state() : rest) }
  }

  const user = (userId: string) => api.stores.users.getById(userId)
  const asked = (owner: Owner, method: string, path: string, body?: unknown): Deed => ({
    run: () => owner.ask(method, path, { ...(body !== undefined && { body }) }),
  })

  async function withConnections(count: number) {
    const owner = await ownerOf(api)
    const connectionIds: string[] = []
    for (let made = 0; made < count; made++) {
      connectionIds.push((await api.connection(owner.person, owner.sourceId)).body.id)
    }
    return { owner, connectionIds }
  }

  async function replaying(path: (eventId: string) => string, body: (eventId: string) => object) {
    const { owner, connectionIds } = await withConnections(2)
    const event = await owner.receive()
    await deliver(api, event, connectionIds)
    return replayDeed(owner, event.eventId, path(event.eventId), body(event.eventId))
  }

  function replayDeed(owner: Owner, eventId: string, path: string, body: object): Deed {
    return {
      ...asked(owner, 'POST', path, body),
      state: async () => {
        const deliveries = await api.stores.deliveries.listByEvent(eventId)
        return deliveries.some(({ replayId }) => replayId !== undefined)
      },
    }
  }

  async function waiting(verb: string, ...before: string[]): Promise<Deed> {
    const { owner, connectionIds } = await withConnections(1)
    const event = await owner.receive()
    await deliver(api, event, connectionIds, 'retrying')
    const path = `/events/${event.eventId}/deliveries/${connectionIds[0]}`
    for (const each of before) await owner.ask('POST', `${path}/${each}`)
    return asked(owner, 'POST', `${path}/${verb}`)
  }

  const alerts = { webhookUrl: 'https://alerts.example/' }
  const range = ({ sourceId }: Owner) => ({ sourceId, from: '2020-01-01T00:00:00Z' })

  let people = 0
  const deeds: [AuditAction, () => Promise<Deed>][] = [
    [
      'account.created',
      async () => {
        const email = `new-${++people}@example.com`
        const body = { email, name: 'Ada', password: PASSWORD }
        const run = () => api.ask('POST', '/auth/signup', { body })
        return { run, state: () => api.stores.users.getByEmail(email) }
      },
    ],
    [
      'account.signed_in',
      async () => {
        const { email } = await api.person()
        const body = { email, password: PASSWORD }
        return { run: () => api.ask('POST', '/auth/login', { body }) }
      },
    ],
    [
      'account.signed_out',
      async () => {
        const { cookies } = await api.person()
        return { run: () => api.ask('POST', '/auth/logout', { cookies }) }
      },
    ],
    [
      'account.session_reused',
      async () => {
        const { cookies } = await api.person()
        await api.ask('POST', '/auth/refresh', { cookies })
        api.clock.advance({ seconds: 11 })
        return { run: () => api.ask('POST', '/auth/refresh', { cookies }) }
      },
    ],
    [
      'account.changed',
      async () => asked(await ownerOf(api), 'PATCH', '/account', { name: 'Grace' }),
    ],
    [
      'account.password_changed',
      async () => {
        const owner = await ownerOf(api)
        const body = { currentPassword: PASSWORD, newPassword: 'another horse battery' }
        const state = async () => required(await user(owner.person.id)).passwordHash
        return { ...asked(owner, 'PUT', '/account/password', body), state }
      },
    ],
    [
      'account.password_reset_offered',
      async () => {
        const { id } = await api.person()
        return { run: () => asOperator('POST', `/users/${id}/password-resets`) }
      },
    ],
    [
      'account.password_reset',
      async () => {
        const { id } = await api.person()
        const { ticket } = (await asOperator('POST', `/users/${id}/password-resets`)).body
        const body = { ticket, password: 'another horse battery' }
        const run = () => api.ask('POST', '/auth/password-reset', { body })
        return { run, state: async () => required(await user(id)).passwordHash }
      },
    ],
    [
      'account.plan_changed',
      async () => {
        const { id } = await api.person()
        return { run: () => asOperator('PUT', `/users/${id}/plan`, { plan: 'free' }) }
      },
    ],
    [
      'account.deleted',
      async () => {
        const { owner } = await withConnections(1)
        const deed = asked(owner, 'POST', '/account/delete', { currentPassword: PASSWORD })
        return { ...deed, state: () => user(owner.person.id) }
      },
    ],
    [
      'identity.unlinked',
      async () => {
        const owner = await ownerOf(api)
        await api.stores.users.update(owner.person.id, { githubId: owner.sourceId })
        return asked(owner, 'DELETE', '/auth/identities/github')
      },
    ],
    [
      'source.created',
      async () =>
        asked(await ownerOf(api), 'POST', '/sources', { name: 'Shop', provider: 'custom' }),
    ],
    [
      'source.deleted',
      async () => {
        const { owner } = await withConnections(2)
        const { person, sourceId } = owner
        const state = async () => (await api.stores.sources.listByUser(person.id)).length
        return { ...asked(owner, 'DELETE', `/sources/${sourceId}`), state }
      },
    ],
    [
      'connection.created',
      async () => {
        const owner = await ownerOf(api)
        const body = { name: 'To the shop', destinationUrl: 'https://shop.example/hooks' }
        return asked(owner, 'POST', `/sources/${owner.sourceId}/connections`, body)
      },
    ],
    [
      'connection.deleted',
      async () => {
        const { owner, connectionIds } = await withConnections(1)
        return asked(owner, 'DELETE', `/connections/${connectionIds[0]}`)
      },
    ],
    [
      'api_key.created',
      async () =>
        asked(await ownerOf(api), 'POST', '/api-keys', { name: 'CI', permissions: 'read' }),
    ],
    [
      'api_key.deleted',
      async () => {
        const owner = await ownerOf(api)
        await api.key(owner.person, 'read')
        const [key] = await api.stores.apiKeys.listByUser(owner.person.id)
        return asked(owner, 'DELETE', `/api-keys/${key?.keyId}`)
      },
    ],
    [
      'event.replayed',
      () =>
        replaying(
          (eventId) => `/events/${eventId}/replay`,
          () => ({}),
        ),
    ],
    [
      'event.replayed',
      () =>
        replaying(
          () => '/events/replay',
          (eventId) => ({ eventIds: [eventId] }),
        ),
    ],
    [
      'event.replayed_unverified',
      async () => {
        const { owner } = await withConnections(2)
        const { eventId } = await owner.receive({ status: 'signature_failed' })
        const body = { acceptUnverified: true }
        return replayDeed(owner, eventId, `/events/${eventId}/replay`, body)
      },
    ],
    [
      'replay.started',
      async () => {
        const { owner } = await withConnections(1)
        return asked(owner, 'POST', '/replays', range(owner))
      },
    ],
    [
      'replay.cancelled',
      async () => {
        const { owner } = await withConnections(1)
        const { body } = await owner.ask('POST', '/replays', { body: range(owner) })
        return asked(owner, 'DELETE', `/replays/${body.id}`)
      },
    ],
    ['delivery.held', () => waiting('hold')],
    ['delivery.released', () => waiting('release', 'hold')],
    ['delivery.retried', () => waiting('retry')],
    ['delivery.cancelled', () => waiting('cancel')],
    ['alerts.changed', async () => asked(await ownerOf(api), 'PUT', '/alerts', alerts)],
    [
      'alerts.secret_rotated',
      async () => {
        const owner = await ownerOf(api)
        await owner.ask('PUT', '/alerts', { body: alerts })
        return asked(owner, 'POST', '/alerts/rotate-secret', {})
      },
    ],
  ]

  test.each(deeds)('leaves %s both done and in the audit log, or neither', async (action, deed) => {
    for (let writes = 0; ; writes++) {
      const { run, state } = await deed()
      const before = await seen(action, state)
      const { answer, isEnded } = await endingAfter(api.db, writes, run)
      const after = await seen(action, state)
      const isDone = after.state !== before.state
      expect(after.entries - before.entries, `after ${writes} writes`).toBe(isDone ? 1 : 0)
      if (isDone) break
      expect(isEnded, answer.text).toBe(true)
    }
  })
})
