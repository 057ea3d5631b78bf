import { silentLog } from '@strongroom/kit/log'
import { createSafeFetch, type SafeFetch } from '@strongroom/kit/safe-fetch'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Alert } from '../../src/alerts/alert.ts'
import { createChannels } from '../../src/alerts/channels.ts'
import { createTeller, type Teller } from '../../src/alerts/teller.ts'
import type { AlertChoice } from '../../src/db/alert-settings.ts'
import { alertKinds } from '../../src/items/alert-settings.ts'
import { openMailer } from '../../src/mail/mailer.ts'
import { firstSecret } from '../../src/signing/secret-list.ts'
import { answer, openSink, type Sink } from '../delivery/sink.ts'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import { keptSecrets, SECRET } from '../delivery/worker-bench.ts'
import { type Mailbox, openMailbox } from '../mail/mailbox.ts'
import { openWorkbench, required, type Workbench } from '../workbench.ts'

describe.each(serviceStores())('alerts told on $name', (store) => {
  let bench: Workbench
  let sink: Sink
  let mailbox: Mailbox
  let timers: TestTimers
  let safeFetch: SafeFetch
  let teller: Teller
  let newTeller: (allow: string[]) => Promise<Teller>
  let people = 0

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    const { clock, layer } = bench
    sink = await openSink(clock)
    mailbox = await openMailbox()
    timers = testTimers(clock)
    newTeller = async (allow) => {
      const startTimer = timers.start
      safeFetch = createSafeFetch({ allow, allowHttp: true, ports: 'unprivileged', startTimer })
      const mailer = await openMailer(mailbox.env as never)
      const publicUrl = 'https://hooks.example'
      const given = { layer, kept: keptSecrets, safeFetch, mailer, clock, publicUrl }
      return createTeller({
        ...given,
        channels: createChannels(given),
        timers: { after: startTimer },
        log: silentLog,
      })
    }
    teller = await newTeller(['127.0.0.0/8'])
  })
  afterAll(async () => {
    await timers.until(teller.close())
    await safeFetch.close()
    await mailbox.close()
    await sink.close()
    await bench.close()
  })

  async function someone(path: string | undefined, given: Partial<AlertChoice> = {}) {
    const email = `alert-${++people}@example.com`
    const { userId } = await bench.layer.users.create({ email, name: 'Ada', plan: 'team' })
    const list = firstSecret(SECRET, bench.clock.now())
    const choice = { kinds: [...alertKinds], email: false, ...given }
    const signingSecret = await keptSecrets.sealAlertSecrets(userId, list)
    const webhook = path === undefined ? {} : { webhookUrl: sink.url(path), signingSecret }
    await bench.layer.alertSettings.put(userId, { ...choice, ...webhook }, { seen: null })
    return { userId, email }
  }

  const failed = (userId: string, number = 1): Alert => ({
    kind: 'delivery.failed',
    userId,
    sourceId: 'src_0000000000000001',
    connectionId: 'conn_000000000000001',
    eventId: `evt_${String(number).padStart(16, '0')}`,
    reason: 'exhausted',
  })
  const bodies = (path: string) =>
    sink.received(path).map(({ body }) => JSON.parse(body.toString()) as { data: object })
  /** Lets time pass and what happens then come to its end. */
  const pass = async (ms: number) => {
    await timers.pass({ ms })
    await teller.settled()
  }

  test('are signed as deliveries are, and say what happened', async () => {
    const { userId } = await someone('/signed')
    teller.raise(failed(userId))
    await teller.settled()
    const { headers, body } = required(sink.received('/signed')[0])
    const at = Number(headers['webhook-timestamp']) * 1000
    expect(at).toBe(Math.floor(bench.clock.now() / 1000) * 1000)
    const verifier = new Webhook(SECRET)
    const signature = verifier.sign(String(headers['webhook-id']), new Date(at), body.toString())
    expect(headers['webhook-signature']).toBe(signature)
    expect(JSON.parse(body.toString())).toEqual({
      type: 'ferryhook.delivery.failed',
      timestamp: new Date(bench.clock.now()).toISOString(),
      data: {
        sourceId: 'src_0000000000000001',
        connectionId: 'conn_000000000000001',
        eventId: 'evt_0000000000000001',
        reason: 'exhausted',
        count: 1,
        summary: 'a delivery has failed for good',
      },
    })
  })

  test('that are many come at once, and then together', async () => {
    const { userId } = await someone('/many')
    for (let n = 1; n <= 500; n++) teller.raise(failed(userId, n))
    await teller.settled()
    await pass(299_999)
    expect(bodies('/many').map(({ data }) => data)).toMatchObject([{ count: 1 }])
    await pass(1)
    expect(bodies('/many')[1]?.data).toMatchObject({
      count: 499,
      eventId: 'evt_0000000000000500',
      summary: '499 deliveries have failed for good',
    })
    // Nothing more: the next one is a first one again.
    await pass(600_000)
    teller.raise(failed(userId, 501))
    await teller.settled()
    expect(bodies('/many').slice(2)).toMatchObject([{ data: { count: 1 } }])
  })

  test('are only of the kinds that were chosen', async () => {
    const { userId } = await someone('/chosen', { kinds: ['limit.reached'] })
    const sourceId = 'src_0000000000000001'
    teller.raise(failed(userId))
    teller.raise({ kind: 'limit.reached', userId, sourceId, limit: 'free minute' })
    await teller.settled()
    expect(bodies('/chosen')).toMatchObject([
      { type: 'ferryhook.limit.reached', data: { sourceId, limit: 'free minute' } },
    ])
  })

  test('are tried four times, and that they failed is shown until one gets through', async () => {
    const { userId } = await someone('/broken')
    sink.behave('/broken', answer(500))
    const from = bench.clock.now()
    teller.raise(failed(userId))
    await teller.settled()
    for (const pause of [10_000, 60_000, 300_000, 3_600_000]) await pass(pause)
    const at = sink.received('/broken').map((received) => received.at - from)
    expect(at).toEqual([0, 10_000, 70_000, 370_000])
    const noted = async () => (await bench.layer.alertSettings.get(userId))?.failure
    expect(await noted()).toBe('http_500')

    sink.behave('/broken', answer(200))
    teller.raise(failed(userId))
    await teller.settled()
    expect(await noted()).toBeUndefined()
  })

  test('go to the address that the user has meanwhile corrected', async () => {
    const { userId } = await someone('/mistyped')
    sink.behave('/mistyped', answer(404))
    teller.raise(failed(userId))
    await teller.settled()
    const seen = required(await bench.layer.alertSettings.get(userId))
    const { kinds, email, signingSecret } = seen
    const webhookUrl = sink.url('/corrected')
    const choice = { kinds, email, webhookUrl, signingSecret }
    await bench.layer.alertSettings.put(userId, choice, { seen })
    await pass(10_000)
    expect(sink.received('/mistyped')).toHaveLength(1)
    expect(sink.received('/corrected')).toHaveLength(1)
  })

  test('never reach an address that is not public, and are not tried there again', async () => {
    const guarded = await newTeller([])
    const { userId } = await someone('/inside')
    guarded.raise(failed(userId))
    await guarded.settled()
    expect((await bench.layer.alertSettings.get(userId))?.failure).toBe('blocked_address')
    await timers.pass({ ms: 600_000 })
    await guarded.close()
    expect(sink.received('/inside')).toEqual([])
  })

  test('that were collected are told before the process ends', async () => {
    const ending = await newTeller(['127.0.0.0/8'])
    const { userId } = await someone('/ending')
    for (let n = 1; n <= 3; n++) ending.raise(failed(userId, n))
    await ending.close()
    const counts = bodies('/ending').map(({ data }) => (data as { count: number }).count)
    expect(counts.toSorted((a, b) => a - b)).toEqual([1, 2])
  })

  test('one slow webhook holds up nobody else’s', async () => {
    const slow = await someone('/slow')
    const quick = await someone('/quick')
    sink.behave('/slow', () => {})
    teller.raise(failed(slow.userId))
    teller.raise(failed(quick.userId))
    await sink.until('/quick', 1)
    await sink.until('/slow', 1)
    sink.behave('/slow', answer(200))
    // The deadline ends it, and then it is tried again.
    await pass(10_000)
    await pass(10_000)
    expect(sink.received('/slow')).toHaveLength(2)
  })

  test('come by mail to who wants that, also after the mail server was away', async () => {
    const before = mailbox.received.length
    const { userId, email } = await someone(undefined, { email: true })
    mailbox.refuse(1)
    teller.raise(failed(userId))
    await teller.settled()
    expect(mailbox.received).toHaveLength(before)
    await pass(10_000)
    const { to, text } = required(mailbox.received[before])
    expect(to).toEqual([email])
    expect(text).toContain('Subject: Ferryhook: a delivery has failed for good')
    expect(text).toContain('reason: exhausted')
  })
})
