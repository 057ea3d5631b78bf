import { createHmac } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { newSecretList, rotateSecret } from '../../src/signing/secret-list.ts'
import { type Source } from '../../src/sources/item.ts'
import { providers } from '../../src/sources/values.ts'
import { signingAttributes } from '../../src/verification/configuration.ts'
import type { SigningScheme } from '../../src/verification/schemes.ts'
import { type Signer, URL_OF_SOURCE } from '../support/signed-requests.ts'
import { signers } from '../support/signers.ts'
import { type IngestBench, openIngestBench, PUBLIC_URL, type Sent } from '../support/test-ingest.ts'
import { required, times } from '../support/test-stores.ts'

const sealedSecrets = createSealedSecrets(secretBox)
const HOUR = { hours: 1 }

describe.each(serviceStores())('a source with signature verification on $name', (store) => {
  let bench: IngestBench

  beforeAll(async () => {
    bench = await openIngestBench(store)
  })
  afterAll(() => bench.close())

  const signed = (signer: Signer, secret: string, body = signer.body): Sent => {
    const at = bench.clock.now()
    const bytes = Buffer.from(signer.bodyAt?.(at) ?? body)
    return {
      body: bytes,
      query: 'via=1',
      headers: {
        'content-type': signer.contentType ?? 'application/json',
        ...signer.sign({ secret, body: bytes, at }),
      },
    }
  }
  const signerOf = (name: string) => {
    const signer = signers.find((each) => each.name === name)
    if (!signer) throw new Error(`No signer ${name}`)
    return signer
  }

  test('accepts what each provider signs, and nothing signed with another secret', async () => {
    // Some providers sign the URL, so all of them use one source.
    const sourceId = /src_\w{16}/.exec(URL_OF_SOURCE)?.[0] ?? ''
    expect(URL_OF_SOURCE).toBe(`${PUBLIC_URL}/in/${sourceId}?via=1`)
    const source = await bench.source({ sourceId, dedup: '{"by":"none"}' })
    const seen: string[] = []
    for (const signer of signers) {
      const [right, wrong] = signer.secrets
      const list = newSecretList(right, bench.clock.now())
      await bench.stores.sources.update(sourceId, source.userId, {
        provider: providerOf(signer.scheme),
        ...signingAttributes(signer.scheme),
        signingSecret: await sealedSecrets.sealSourceSecrets(source, list),
      })
      bench.ingest.invalidateSource(sourceId)
      const accepted = await bench.send(sourceId, signed(signer, right))
      expect([signer.name, accepted.status]).toEqual([signer.name, 200])
      const refused = await bench.send(sourceId, signed(signer, wrong))
      expect([signer.name, refused.status]).toEqual([signer.name, 401])
      expect(refused.body.error).toEqual({
        code: 'ferryhook.signature_failed',
        message:
          'Signature verification failed. Check the signing secret and algorithm of this source.',
      })
      seen.push(signer.scheme.algorithm)
      bench.clock.advance({ seconds: 1 })
    }
    expect(seen).toEqual(expect.arrayContaining(['stripe', 'github', 'slack', 'hmac-sha256']))
  })

  test('stores rejected events unrouted, with the reason', async () => {
    const stripe = signerOf('stripe')
    const source = await bench.source({ provider: 'stripe', secret: 'whsec_one', plan: 'free' })
    await bench.send(source.sourceId, signed(stripe, 'whsec_other'))
    await bench.send(source.sourceId, { body: 'unsigned' })
    const events = await bench.eventsOf(source)
    expect(events.map(({ status, reason }) => `${status} ${reason}`).toSorted()).toEqual([
      'signature_failed missing_header',
      'signature_failed no_match',
    ])
    const due = await bench.toBeRouted()
    expect(events.filter(({ eventId }) => due.includes(eventId))).toEqual([])
    expect(bench.hinted).not.toContain(source.sourceId)
    // It uses neither the event id nor the quota of the month.
    const genuine = await bench.send(source.sourceId, signed(stripe, 'whsec_one'))
    expect(genuine.body).toEqual({ id: expect.any(String) as string, status: 'received' })
    const quota = { PK: `QUOTA#${source.userId}`, SK: '2100-01-01' }
    expect(await bench.stored('ferryhook-events', quota)).toMatchObject({ events: 1 })
  })

  test('verifies the bytes as received', async () => {
    const source = await bench.source({ provider: 'github', secret: 'first' })
    const body = Buffer.of(0xff, 0x00, 0x0d, 0x0a, 0xed, 0xa0)
    const signature = createHmac('sha256', 'first').update(body).digest('hex')
    const headers = { 'x-hub-signature-256': `sha256=${signature}` }
    expect((await bench.send(source.sourceId, { body, headers })).status).toBe(200)
    const altered = Buffer.concat([body, Buffer.of(0x20)])
    expect((await bench.send(source.sourceId, { body: altered, headers })).status).toBe(401)
  })

  test('stores sixty rejected events per hour and counts the rest', async () => {
    const source = await bench.source({ provider: 'github', secret: 'first' })
    const other = await bench.source({ provider: 'github', secret: 'first' })
    for (let sent = 0; sent < 65; sent += 13) {
      const answers = await Promise.all(times(13, () => bench.send(source.sourceId)))
      expect(answers.map(({ status }) => status)).toEqual(times(13, () => 401))
    }
    expect((await bench.send(other.sourceId)).status).toBe(401)
    const page = await bench.stores.events.listBySource(source.sourceId, { limit: 100 })
    expect(page.items).toHaveLength(60)
    expect(await bench.eventsOf(other)).toHaveLength(1)
    await bench.ingest.flush()
    const tallies = await bench.stores.ingestCounters.listBySource(source.sourceId, 0)
    expect(tallies).toMatchObject([{ unverified: 5 }])
    bench.clock.advance(HOUR)
    await bench.send(source.sourceId)
    expect((await bench.eventsOf(source))[0]).toMatchObject({ receivedAt: bench.clock.now() })
  })

  test('stores two megabytes of rejected events per hour', async () => {
    const source = await bench.source({ provider: 'github', secret: 'first' })
    for (let sent = 0; sent < 9; sent++) {
      await bench.send(source.sourceId, { body: Buffer.alloc(262_144, sent) })
    }
    expect(await bench.eventsOf(source)).toHaveLength(8)
  })

  test('accepts the old and the new secret during a rotation, and only the new one after it', async () => {
    const github = signerOf('github')
    const source = await bench.source({ provider: 'github', secret: 'old' })
    const now = bench.clock.now()
    const list = required(
      rotateSecret(newSecretList('old', now), 'new', { now, overlapSeconds: 30 }),
    )
    const signingSecret = await sealedSecrets.sealSourceSecrets(source, list)
    await bench.stores.sources.update(source.sourceId, source.userId, { signingSecret })
    bench.ingest.invalidateSource(source.sourceId)
    const send = async (secret: string) =>
      (await bench.send(source.sourceId, signed(github, secret))).status
    expect([await send('old'), await send('new')]).toEqual([200, 200])
    bench.clock.advance({ seconds: 30 })
    // The cached source is not that old.
    expect([await send('old'), await send('new')]).toEqual([401, 200])
  })

  test('answers a signed Slack handshake, and does not store it as an event', async () => {
    const slack = signerOf('slack')
    const source = await bench.source({ provider: 'slack', secret: 'right' })
    const body = JSON.stringify({ type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV' })
    const { status, body: answer } = await bench.send(source.sourceId, signed(slack, 'right', body))
    expect([status, answer]).toEqual([200, { challenge: '3eZbrw1aBm2rZgRNFdxV' }])
    expect(await bench.eventsOf(source)).toEqual([])
    expect((await bench.send(source.sourceId, signed(slack, 'wrong', body))).status).toBe(401)
    const message = await bench.send(source.sourceId, signed(slack, 'right', '{"event_id":"Ev1"}'))
    expect(message.body.status).toBe('received')
  })

  test('answers a Discord ping without a body where none is expected', async () => {
    const discord = signerOf('discord')
    const [secret] = discord.secrets
    const source = await bench.source({
      provider: 'discord',
      secret,
      ...signingAttributes(discord.scheme),
    })
    const ping = await bench.send(source.sourceId, signed(discord, secret, '{"type":0}'))
    expect([ping.status, ping.body]).toEqual([204, { text: '' }])
  })

  test('stores a GitHub ping as an event', async () => {
    const source = await bench.source({ provider: 'github', secret: 'first' })
    const sent = signed(signerOf('github'), 'first', '{"zen":"Keep it logically awesome."}')
    const { body } = await bench.send(source.sourceId, {
      ...sent,
      headers: { ...sent.headers, 'x-github-event': 'ping' },
    })
    expect(body.status).toBe('received')
  })

  test('asks the sender to retry if a certificate cannot be fetched', async () => {
    const receiver = await bench.another({
      payPalCertificates: () => async () => 'certificate_unavailable',
    })
    const source = await bench.source({ provider: 'paypal', secret: '1JE4291016473214C' })
    const { status, headers } = await receiver.send(source.sourceId, {
      body: '{}',
      headers: {
        'paypal-transmission-id': 'b2384410-f8d2-11e4-8bf3-77339302725b',
        'paypal-transmission-time': new Date(bench.clock.now()).toISOString().replace('.000Z', 'Z'),
        'paypal-transmission-sig': 'AAAA',
        'paypal-auth-algo': 'SHA256withRSA',
        'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594',
      },
    })
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect(await bench.eventsOf(source)).toEqual([])
  })

  test('does not skip verification if its stored configuration is invalid', async () => {
    const source = await bench.source({ secret: 'x', signingAlgorithm: 'rot13' })
    expect((await bench.send(source.sourceId, { body: 'x' })).status).toBe(503)
    const moved = await bench.source({ secret: 'x' })
    const { signingSecret } = await bench.source({ secret: 'another place' })
    await bench.stores.sources.update(moved.sourceId, moved.userId, { signingSecret })
    expect((await bench.send(moved.sourceId, { body: 'x' })).status).toBe(503)
    expect([await bench.eventsOf(source), await bench.eventsOf(moved)]).toEqual([[], []])
  })
})

function providerOf({ algorithm }: SigningScheme): Source['provider'] {
  return providers.find((provider) => provider === algorithm) ?? 'custom'
}
