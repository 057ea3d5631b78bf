import { silentLog } from '@strongroom/kit/log'
import { createSafeFetch, type SafeFetch } from '@strongroom/kit/safe-fetch'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Alert } from '../../src/alerts/alert.ts'
import { createChannels } from '../../src/alerts/channels.ts'
import { alertKinds } from '../../src/alerts/kinds.ts'
import { createAlertNotifier, type AlertNotifier } from '../../src/alerts/notifier.ts'
import type { AlertSettingsInput } from '../../src/alerts/store.ts'
import { openMailer } from '../../src/mail/mailer.ts'
import { newSecretList } from '../../src/signing/secret-list.ts'
import { type Mailbox, openMailbox } from '../support/mailbox.ts'
import { answer, openSink, type Sink } from '../support/test-destination.ts'
import { openWorkbench, required, type Workbench } from '../support/test-stores.ts'
import { sealedSecrets, SECRET } from '../support/test-worker.ts'

describe.each(serviceStores())('alerts on $name', (store) => {
  let bench: Workbench
  let sink: Sink
  let mailbox: Mailbox
  let timers: TestTimers
  let safeFetch: SafeFetch
  let notifier: AlertNotifier
  let newNotifier: (allow: string[]) => Promise<AlertNotifier>
  let people = 0

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    const { clock, stores } = bench
    sink = await openSink(clock)
    mailbox = await openMailbox()
    timers = testTimers(clock)
    newNotifier = async (allow) => {
      const startTimer = timers.start
      safeFetch = createSafeFetch({
        allow,
        allowHttp: true,
        ports: 'unprivileged',
        clock,
        startTimer,
      })
      const mailer = await openMailer(mailbox.env as never)
      const publicUrl = 'https://hooks.example'
      const given = { stores, sealedSecrets, safeFetch, mailer, clock, publicUrl }
      return createAlertNotifier({
        ...given,
        channels: createChannels(given),
        startTimer,
        log: silentLog,
      })
    }
    notifier = await newNotifier(['127.0.0.0/8'])
  })
  afterAll(async () => {
    await timers.until(notifier.close())
    await safeFetch.close()
    await mailbox.close()
    await sink.close()
    await bench.close()
  })

  async function someone(path: string | undefined, given: Partial<AlertSettingsInput> = {}) {
    const email = `alert-${++people}@example.com`
    const { userId } = await bench.stores.users.create({ email, name: 'Ada', plan: 'team' })
    const list = newSecretList(SECRET, bench.clock.now())
    const choice = { kinds: [...alertKinds], email: false, ...given }
    const signingSecret = await sealedSecrets.sealAlertSecrets(userId, list)
    const webhook = path === undefined ? {} : { webhookUrl: sink.url(path), signingSecret }
    await bench.stores.alertSettings.put(userId, { ...choice, ...webhook }, { expected: null })
    return { userId, email }
  }

  const failed = (userId: string, number = 1): Alert => ({
    kind: 'delivery.failed',
    userId,
    sourceId: 'src_0000000000000001',
    connectionId: 'conn_000000000000001',
    connectionName: 'Billing',
    eventId: `evt_${String(number).padStart(16, '0')}`,
    reason: 'exhausted',
  })
  const bodies = (path: string) =>
    sink.received(path).map(({ body }) => JSON.parse(body.toString()) as { data: object })
  /** Lets time pass and waits until all messages are sent. */
  const pass = async (ms: number) => {
    await timers.pass({ ms })
    await notifier.settled()
  }

  test('are signed like deliveries, and say what happened', async () => {
    const { userId } = await someone('/signed')
    notifier.raise(failed(userId))
    await notifier.settled()
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
        connectionName: 'Billing',
        eventId: 'evt_0000000000000001',
        reason: 'exhausted',
        count: 1,
        summary: "A delivery to connection 'Billing' failed permanently (all retries failed).",
      },
    })
  })

  test('are sent immediately the first time, and then grouped', async () => {
    const { userId } = await someone('/many')
    for (let n = 1; n <= 500; n++) notifier.raise(failed(userId, n))
    await notifier.settled()
    await pass(299_999)
    expect(bodies('/many').map(({ data }) => data)).toMatchObject([{ count: 1 }])
    await pass(1)
    expect(bodies('/many')[1]?.data).toMatchObject({
      count: 499,
      eventId: 'evt_0000000000000500',
      summary:
        "499 deliveries to connection 'Billing' failed permanently (last: all retries failed).",
    })
    // Nothing more is sent, so the next alert is the first of a group again.
    await pass(600_000)
    notifier.raise(failed(userId, 501))
    await notifier.settled()
    expect(bodies('/many').slice(2)).toMatchObject([{ data: { count: 1 } }])
  })

  test('are only sent for the chosen kinds', async () => {
    const { userId } = await someone('/chosen', { kinds: ['limit.reached'] })
    const sourceId = 'src_0000000000000001'
    notifier.raise(failed(userId))
    notifier.raise({ kind: 'limit.reached', userId, sourceId, limit: 'free minute' })
    await notifier.settled()
    expect(bodies('/chosen')).toMatchObject([
      { type: 'ferryhook.limit.reached', data: { sourceId, limit: 'free minute' } },
    ])
  })

  test('are attempted four times, and a failure is shown until one succeeds', async () => {
    const { userId } = await someone('/broken')
    sink.behave('/broken', answer(500))
    const from = bench.clock.now()
    notifier.raise(failed(userId))
    await notifier.settled()
    for (const pause of [10_000, 60_000, 300_000, 3_600_000]) await pass(pause)
    const at = sink.received('/broken').map((received) => received.at - from)
    expect(at).toEqual([0, 10_000, 70_000, 370_000])
    const noted = async () => (await bench.stores.alertSettings.get(userId))?.failure
    expect(await noted()).toBe('http_500')

    sink.behave('/broken', answer(200))
    notifier.raise(failed(userId))
    await notifier.settled()
    expect(await noted()).toBeUndefined()
  })

  test('are retried at the address that the user has corrected', async () => {
    const { userId } = await someone('/mistyped')
    sink.behave('/mistyped', answer(404))
    notifier.raise(failed(userId))
    await notifier.settled()
    const seen = required(await bench.stores.alertSettings.get(userId))
    const { kinds, email, signingSecret } = seen
    const webhookUrl = sink.url('/corrected')
    const choice = { kinds, email, webhookUrl, signingSecret }
    await bench.stores.alertSettings.put(userId, choice, { expected: seen })
    await pass(10_000)
    expect(sink.received('/mistyped')).toHaveLength(1)
    expect(sink.received('/corrected')).toHaveLength(1)
  })

  test('never reach an address that is not public, and are not retried there', async () => {
    const guarded = await newNotifier([])
    const { userId } = await someone('/inside')
    guarded.raise(failed(userId))
    await guarded.settled()
    expect((await bench.stores.alertSettings.get(userId))?.failure).toBe('blocked_address')
    await timers.pass({ ms: 600_000 })
    await guarded.close()
    expect(sink.received('/inside')).toEqual([])
  })

  test('of open groups are sent before the process ends', async () => {
    const ending = await newNotifier(['127.0.0.0/8'])
    const { userId } = await someone('/ending')
    for (let n = 1; n <= 3; n++) ending.raise(failed(userId, n))
    await ending.close()
    const counts = bodies('/ending').map(({ data }) => (data as { count: number }).count)
    expect(counts.toSorted((a, b) => a - b)).toEqual([1, 2])
  })

  test('of other users are not delayed by a slow webhook', async () => {
    const slow = await someone('/slow')
    const quick = await someone('/quick')
    sink.behave('/slow', () => {})
    notifier.raise(failed(slow.userId))
    notifier.raise(failed(quick.userId))
    await sink.until('/quick', 1)
    await sink.until('/slow', 1)
    sink.behave('/slow', answer(200))
    // The deadline ends it, and then it is retried.
    await pass(10_000)
    await pass(10_000)
    expect(sink.received('/slow')).toHaveLength(2)
  })

  test('are sent by mail if chosen, also after the mail server was unavailable', async () => {
    const before = mailbox.received.length
    const { userId, email } = await someone(undefined, { email: true })
    mailbox.refuse(1)
    notifier.raise(failed(userId))
    await notifier.settled()
    expect(mailbox.received).toHaveLength(before)
    await pass(10_000)
    const { to, text } = required(mailbox.received[before])
    expect(to).toEqual([email])
    expect(text).toContain("Subject: Ferryhook: A delivery to connection 'Billing' failed")
    expect(text).toContain('reason: exhausted')
  })
})
