import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { createSealedSecrets } from '../../../src/signing/sealed-secrets.ts'
import { newSecretList, newSigningSecret } from '../../../src/signing/secret-list.ts'
import { connectionInput, required, times } from '../../support/test-stores.ts'
import { type Destinations, hashOf, openDestinations } from './destinations.ts'
import { inspect, countRequests } from './findings.ts'
import { laterClock, openRelay } from './relay.ts'

const ROUNDS = process.env['SLOW'] === '1' ? 50 : 2
const SENDERS = 8
/** Leases and the first retry delay have passed in the next round. */
const ROUND_MS = 60_000

/** Bundled inside this package, so that it finds the one library that is not bundled. */
async function bundled(): Promise<string> {
  const directory = mkdtempSync(join(import.meta.dirname, 'program/.bundle-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const outfile = join(directory, 'process.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'program/process.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['lmdb'],
    banner: {
      js: `import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url)`,
    },
    logLevel: 'error',
  })
  return outfile
}

async function setUp(directory: string, destinations: Destinations) {
  const relay = await openRelay(directory, laterClock(0))
  const { stores } = relay
  const user = { email: 'ada@example.com', name: 'Ada', plan: 'team' } as const
  const { userId } = await stores.users.create(user)
  const { sourceId } = await stores.sources.create({ userId, name: 'Crash', provider: 'custom' })
  const sealedSecrets = createSealedSecrets(secretBox)
  const pathOf = new Map<string, string>()
  for (const path of ['/willing', '/grumpy']) {
    const destinationUrl = destinations.url(path)
    const made = await stores.connections.create(
      connectionInput({ userId, sourceId, destinationUrl }),
    )
    const secrets = newSecretList(newSigningSecret(), Date.now())
    const signingSecret = await sealedSecrets.sealConnectionSecrets(made, secrets)
    await stores.connections.update(made.connectionId, { signingSecret }, { sourceId })
    pathOf.set(made.connectionId, path)
  }
  await relay.close()
  return { sourceId, pathOf }
}

function anyBody(): Buffer {
  const kind = randomInt(0, 40)
  if (kind === 0) return Buffer.alloc(0)
  if (kind === 1) return randomBytes(262_144)
  if (kind < 10)
    return Buffer.concat([Buffer.of(0xff, 0xc3, 0x28), randomBytes(randomInt(0, 3_000))])
  return Buffer.from(`{"n":"${'ä'.repeat(randomInt(0, 3_000))}"}`)
}

/** Sends until the process is killed after this many responses, with other requests in flight. */
async function sendUntilKilled(server: ChildProcess, url: string, answers: number) {
  const acknowledged = new Map<string, string>()
  const sender = async () => {
    while (!server.killed) {
      const body = anyBody()
      // The last request of each sender is cut off.
      const answer = await fetch(url, { method: 'POST', body }).catch(() => undefined)
      const told = (await answer?.json().catch(() => undefined)) as { id: string } | undefined
      if (answer?.status === 200 && told) acknowledged.set(told.id, hashOf(body))
      if (acknowledged.size >= answers) server.kill('SIGKILL')
    }
  }
  await Promise.all(times(SENDERS, sender))
  return acknowledged
}

test(
  'killing servers and workers at any moment loses no acknowledged event, and repeats only the attempts that a kill interrupted',
  { timeout: ROUNDS * 60_000 },
  async () => {
    const program = await bundled()
    const directory = mkdtempSync(join(tmpdir(), 'strongroom-test-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const destinations = await openDestinations()
    onTestFinished(() => destinations.close())
    const { got, watch } = destinations
    const { sourceId, pathOf } = await setUp(directory, destinations)
    const connectionIds = [...pathOf.keys()]
    const acknowledged = new Map<string, string>()
    /** Events that are not delivered to every destination. */
    const open = new Set<string>()
    /** By event and path: requests that no process lived long enough to record. */
    const cutOff = new Map<string, number>()
    let counted = 0
    /** A request may arrive after its process was killed; it belongs to the next count. */
    const countCutOff = async () => {
      const touched = new Set(got.slice(counted).map(({ eventId }) => eventId))
      const ofTouched = got.filter(({ eventId }) => touched.has(eventId))
      counted = got.length
      const relay = await openRelay(directory, laterClock(0))
      for (const [key, { requests, recorded }] of await countRequests(relay, ofTouched, pathOf)) {
        cutOff.set(key, requests - recorded.length)
      }
      await relay.close()
    }

    for (let round = 0; round < ROUNDS; round++) {
      const start = (role: string) =>
        fork(program, [role, directory, String(round * ROUND_MS)], { execArgv: [] })
      // Every second server delivers what it receives itself, beside the worker.
      const [server, worker] = [start(round % 2 === 0 ? 'server' : 'both'), start('worker')]
      const ended = [once(server, 'exit'), once(worker, 'exit')]
      const [[{ url }]] = (await Promise.all([
        once(server, 'message'),
        once(worker, 'message'),
      ])) as [[{ url: string }], unknown]
      // Random in the progress of the process, not in time.
      const last = got.length + randomInt(1, 150)
      const kill = () => void (got.length >= last && worker.kill('SIGKILL'))
      Object.assign(watch, { before: () => {}, after: () => {} })
      watch[randomInt(2) === 0 ? 'before' : 'after'] = kill
      const answered = await sendUntilKilled(server, `${url}/in/${sourceId}`, randomInt(1, 150))
      for (const [id, hash] of answered) {
        acknowledged.set(id, hash)
        open.add(id)
      }
      expect(answered.size).toBeGreaterThan(0)
      // Unless it was killed before.
      worker.kill('SIGKILL')
      await Promise.all(ended)
      expect([server.signalCode, worker.signalCode]).toEqual(['SIGKILL', 'SIGKILL'])

      const { faults, ended: done } = await inspect(directory, open, connectionIds)
      expect(faults).toEqual([])
      for (const eventId of done) open.delete(eventId)
      await countCutOff()
    }
    await countCutOff()

    // A worker that is not killed does the rest.
    Object.assign(watch, { before: () => {}, after: () => {} })
    let laterMs = ROUNDS * ROUND_MS
    const relay = await openRelay(directory, { now: () => Date.now() + laterMs })
    onTestFinished(() => relay.close())
    const worker = relay.newWorker()
    /** Deliveries that have ended, of all events that reached a destination. */
    const endedOf = async (connectionId: string) => {
      const eventIds = [...new Set(got.map(({ eventId }) => eventId))]
      const all = await Promise.all(
        eventIds.map((eventId) => relay.stores.deliveries.get(eventId, connectionId)),
      )
      return all.filter((delivery) => delivery?.state === 'delivered').length
    }
    const isOver = async (id: string) =>
      (await relay.stores.events.getById(id))?.status === 'delivered'
    for (let minutes = 0; open.size > 0 && minutes < 60 * 24; minutes++) {
      await worker.runOnce()
      laterMs += ROUND_MS
      for (const id of open) if (await isOver(id)) open.delete(id)
    }
    await worker.close()
    expect(open).toEqual(new Set())
    // Killed processes neither lost a count nor counted anything twice.
    for (const connectionId of connectionIds) {
      const connection = required(await relay.stores.connections.getById(connectionId))
      const expected = { deliveryCount: await endedOf(connectionId), failureCount: 0 }
      expect(await relay.stores.connectionActivity.current(connection)).toMatchObject(expected)
    }
    const counts = await countRequests(relay, got, pathOf)
    for (const { eventId, bodyHash } of got) {
      // The body of an event that was stored without a response is unknown.
      expect(bodyHash).toBe(acknowledged.get(eventId) ?? bodyHash)
    }
    for (const eventId of acknowledged.keys()) {
      for (const [path, attempts] of [
        ['/willing', [1]],
        ['/grumpy', [1, 2]],
      ] as const) {
        const key = `${eventId} ${path}`
        const count = counts.get(key)
        const surplus = (count?.requests ?? 0) - (count?.recorded.length ?? 0)
        expect(surplus, path).toBe(cutOff.get(key) ?? 0)
        // If the first rejection was cut off, the next request is accepted.
        const isShort = path === '/grumpy' && surplus > 0 && count?.recorded.length === 1
        expect(count?.recorded, path).toEqual(isShort ? [1] : attempts)
      }
    }
  },
)
