import { randomToken } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openDb, type SealedApp, startApp } from '../support/sealed-app.ts'
import {
  ack,
  burn,
  createSecret,
  newClaim,
  newKeys,
  post,
  reveal,
  status,
} from '../support/sealed-client.ts'

/** A response without the parts that identify its request. */
async function bytesOf(answer: Response): Promise<string> {
  const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  return JSON.stringify([answer.status, headers, await answer.text()])
}

/** The response to each request, and the operations on the store before it. */
async function seen(app: SealedApp, requests: Record<string, () => Promise<Response>>) {
  const answers = new Map<string, string[]>()
  const operations = new Map<string, string[]>()
  for (const [what, request] of Object.entries(requests)) {
    await app.settle()
    const before = app.operations.length
    const answer = await request()
    const asked = app.operations.slice(before).join(', ')
    for (const [map, key] of [
      [answers, await bytesOf(answer)],
      [operations, asked],
    ] as const) {
      map.set(key, [...(map.get(key) ?? []), what])
    }
  }
  return { answers, operations: [...operations.keys()] }
}

const malformedIds = [
  'x',
  'short',
  'x'.repeat(23),
  'x'.repeat(5000),
  '%00',
  '%E0%A4%A',
  '💥',
  `${randomToken(15)}=`,
]

describe.each(serviceStores())(
  'without the link nothing can be distinguished on $name',
  (store) => {
    const opened = openDb(store)

    /** Secrets in every state, each with everything that its reader and its creator have. */
    async function everyState(app: SealedApp) {
      const expired = await createSecret(app, { ttlSeconds: 900, receipt: false })
      app.clock.advance({ seconds: 900 })
      const [live, consumed, burned, acknowledged, guessed] = (await Promise.all(
        [1, 2, 3, 4, 5].map(() => createSecret(app)),
      )) as [Secret, Secret, Secret, Secret, Secret]
      await reveal(app, consumed.id, consumed.keys)
      await burn(app, burned.id, burned.burnToken)
      const claim = newClaim()
      await reveal(app, acknowledged.id, { ...acknowledged.keys, claim })
      await ack(app, acknowledged.id, claim)
      for (let guess = 0; guess < 10; guess++) {
        await reveal(app, guessed.id, { ...guessed.keys, proof: newKeys().proof })
      }
      return { live, expired, consumed, burned, acknowledged, guessed }
    }
    type Secret = Awaited<ReturnType<typeof createSecret>>

    test('by revealing', async () => {
      const app = await startApp(opened.db)
      const { live, ...ended } = await everyState(app)
      const raw = (id: string, body: unknown) => () =>
        app.request(`/v1/secrets/${id}/reveal`, post(body))
      const right = { ...live.keys, claim: newClaim() }
      const { answers, operations } = await seen(app, {
        missing: () => reveal(app, randomToken(16), newKeys()),
        'another link': () => reveal(app, live.id, newKeys()),
        'another link, the right proof': () =>
          reveal(app, live.id, { ...live.keys, link: newKeys().link }),
        'no body': () => app.request(`/v1/secrets/${live.id}/reveal`, { method: 'POST' }),
        'no JSON': raw(live.id, '{'),
        'no JSON for a missing secret': raw(randomToken(16), '{'),
        'no object': raw(live.id, 'null'),
        'no claim': raw(live.id, { ...right, claim: undefined }),
        'a malformed claim': raw(live.id, { ...right, claim: 'x' }),
        'a malformed link': raw(live.id, { ...right, link: 5 }),
        'a malformed proof': raw(live.id, { ...right, proof: `${right.proof}=` }),
        'a field too many': raw(live.id, { ...right, more: 1 }),
        ...Object.fromEntries(
          malformedIds.map((id) => [`the id ${id.slice(0, 30)}`, () => reveal(app, id, newKeys())]),
        ),
        ...Object.fromEntries(
          Object.entries(ended).map(([state, { id, keys }]) => [
            state,
            () => reveal(app, id, keys),
          ]),
        ),
      })
      expect([...answers.values()]).toHaveLength(1)
      expect(operations).toEqual(['getItem'])
      expect([...answers.keys()][0]).toContain('sealed.not_available')
      expect((await reveal(app, live.id, live.keys)).status).toBe(200)
    })

    test('by getting a receipt', async () => {
      const app = await startApp(opened.db)
      const { live, ...ended } = await everyState(app)
      const receipted = await createSecret(app, { receipt: true })
      const { answers, operations } = await seen(app, {
        missing: () => status(app, randomToken(16), newClaim()),
        'without a receipt': () => status(app, live.id, live.burnToken),
        'another token': () => status(app, receipted.id, newClaim()),
        'a malformed token': () => status(app, receipted.id, 'x'),
        'no token': () => app.request(`/v1/secrets/${receipted.id}/status`, { method: 'POST' }),
        'a body that is no JSON': () =>
          app.request(`/v1/secrets/${receipted.id}/status`, post('{')),
        ...Object.fromEntries(
          malformedIds.map((id) => [
            `the id ${id.slice(0, 30)}`,
            () => status(app, id, newClaim()),
          ]),
        ),
        ...Object.fromEntries(
          Object.entries(ended).map(([state, { id, burnToken }]) => [
            state,
            () => status(app, id, burnToken),
          ]),
        ),
      })
      expect([...answers.values()]).toHaveLength(1)
      expect(operations).toEqual(['getItem'])
    })

    test('by burning', async () => {
      const app = await startApp(opened.db)
      const { live, ...ended } = await everyState(app)
      const { answers } = await seen(app, {
        missing: () => burn(app, randomToken(16), newClaim()),
        'another token': () => burn(app, live.id, newClaim()),
        'a malformed token': () => burn(app, live.id, 'x'),
        'no token': () => app.request(`/v1/secrets/${live.id}`, { method: 'DELETE' }),
        ...Object.fromEntries(
          malformedIds.map((id) => [`the id ${id.slice(0, 30)}`, () => burn(app, id, newClaim())]),
        ),
        ...Object.fromEntries(
          Object.entries(ended).map(([state, { id, burnToken }]) => [
            state,
            () => burn(app, id, burnToken),
          ]),
        ),
        live: () => burn(app, live.id, live.burnToken),
      })
      expect([...answers.keys()]).toEqual([expect.stringContaining('[204,')])
    })

    test('by acknowledging', async () => {
      const app = await startApp(opened.db)
      const { live, ...ended } = await everyState(app)
      const claim = newClaim()
      await reveal(app, live.id, { ...live.keys, claim })
      const { answers } = await seen(app, {
        missing: () => ack(app, randomToken(16), newClaim()),
        'another claim': () => ack(app, live.id, newClaim()),
        'a malformed claim': () => ack(app, live.id, 5),
        'no JSON': () => app.request(`/v1/secrets/${live.id}/ack`, post('{')),
        'no body': () => app.request(`/v1/secrets/${live.id}/ack`, { method: 'POST' }),
        ...Object.fromEntries(
          malformedIds.map((id) => [`the id ${id.slice(0, 30)}`, () => ack(app, id, newClaim())]),
        ),
        ...Object.fromEntries(
          Object.entries(ended).map(([state, { id }]) => [state, () => ack(app, id, newClaim())]),
        ),
        right: () => ack(app, live.id, claim),
      })
      expect([...answers.keys()]).toEqual([expect.stringContaining('[204,')])
    })

    test('by the response time, which is fixed and does not depend on the work', async () => {
      const app = await startApp(opened.db, { minResponseMs: 20 })
      const { id, keys } = await createSecret(app)
      const missing = randomToken(16)
      const refusals: (() => Promise<Response>)[] = [
        () => reveal(app, missing, newKeys()),
        () => reveal(app, id, newKeys()),
        () => reveal(app, id, { ...keys, proof: newKeys().proof }),
        () => status(app, missing, newClaim()),
        () => ack(app, missing, newClaim()),
        () => ack(app, id, newClaim()),
        () => burn(app, id, newClaim()),
      ]
      for (const refusal of refusals) {
        let isAnswered = false
        const answer = refusal().then(() => (isAnswered = true))
        await app.settle()
        expect(isAnswered).toBe(false)
        app.clock.advance({ ms: 20 })
        await app.settle()
        await answer
      }
      const claim = newClaim()
      expect((await reveal(app, id, { ...keys, claim })).status).toBe(200)
      // Its claim shows that it has the link, and reading again would show it too.
      expect((await ack(app, id, claim)).status).toBe(204)
    })
  },
)
