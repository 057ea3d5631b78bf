import { randomHex, randomToken } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openDb, startApp } from '../support/sealed-app.ts'
import {
  ack,
  burn,
  createSecret,
  issueToken,
  newClaim,
  newKeys,
  post,
  postSecret,
  reveal,
  status,
} from '../support/sealed-client.ts'

describe.each(serviceStores())('during the whole life of secrets', (store) => {
  const opened = openDb(store)

  test('logs and metrics contain no secret, no client and nothing that was sent', async () => {
    const app = await startApp(opened.db, {
      env: { SEALED_BURN_LIMIT: '3', SEALED_DIFFICULTY: '2', SEALED_SWEEP_MINUTES: '10' },
    })
    const client = {
      'x-test-peer': '203.0.113.77',
      'user-agent': 'Telltale/1.0',
      referer: 'https://telltale.example/',
    }
    const known = {
      request: (path: string, init: RequestInit = {}) =>
        app.request(path, {
          ...init,
          headers: { ...(init.headers as Record<string, string>), ...client },
        }),
    }
    const { token: apiToken } = await app.apiTokens.add({ name: `robot-${randomHex(8)}` })
    const issued = await issueToken(known, { authorization: `Bearer ${apiToken}` })
    const salt = Buffer.from(randomToken(16), 'base64url').toString('base64')
    const secret = await createSecret(known, {
      maxViews: 2,
      receipt: true,
      passphraseProtected: true,
      salt,
    })
    const { id, keys, burnToken } = secret
    const [claim, other, wrong] = [newClaim(), newKeys(), newKeys().proof]
    await reveal(known, id, { ...keys, claim, proof: wrong })
    await reveal(known, id, { ...keys, claim })
    await reveal(known, id, other)
    await ack(known, id, claim)
    await status(known, id, burnToken)
    await burn(known, id, other.link)
    await burn(known, id, burnToken)
    await burn(known, id, burnToken)
    await burn(known, id, burnToken)
    await postSecret(known, secret.token, secret.body)
    await postSecret(known, issued.token, { ...secret.body, linkHash: other.link })
    // Paths without a route.
    await known.request(`/v1/secrets/${id}`)
    await known.request(`/v1/secrets/${id}/${keys.link}?claim=${claim}`)
    await known.request(`/v1/secrets/${id}/reveal?link=${keys.link}`, post('x'.repeat(2000)))
    app.clock.advance({ days: 100 })
    await app.settle()

    const written = [...app.lines, await app.metrics.text()].join('\n')
    expect(app.lines.length).toBeGreaterThan(15)
    const { body } = secret
    const sent = { ...keys, burnToken, claim, wrong, apiToken, token: secret.token }
    const ofTheClient = { address: '203.0.113.77', agent: 'Telltale', referer: 'telltale' }
    const ofTheSecret = {
      id,
      salt,
      iv: body.iv,
      linkHash: body.linkHash,
      proofHash: body.proofHash,
    }
    const others = { another: issued.id, otherLink: other.link }
    const ciphertext = secret.ciphertext.slice(0, 40)
    const telling = { ...sent, ...ofTheClient, ...ofTheSecret, ...others, ciphertext }
    for (const [what, text] of Object.entries(telling)) {
      expect(written.includes(text), what).toBe(false)
    }
  })

  test('access lines and metrics name routes by their pattern', async () => {
    const app = await startApp(opened.db)
    const { id } = await createSecret(app)
    await reveal(app, id, newKeys())
    expect(JSON.parse(app.lines.at(-1) ?? '')).toMatchObject({
      service: 'sealed',
      method: 'POST',
      route: '/sealed/v1/secrets/:id/reveal',
    })
    expect(await app.metrics.text()).toContain('route="/sealed/v1/secrets/:id/reveal"')
  })

  test('rate limits store nothing', async () => {
    const app = await startApp(opened.db, { env: { SEALED_TOKEN_LIMIT: '5' } })
    await app.request('/v1/token', { method: 'POST', headers: { 'x-test-peer': '203.0.113.77' } })
    expect(app.operations).toEqual([])
  })
})
